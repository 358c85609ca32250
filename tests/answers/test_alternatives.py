"""Each rule is needed: without any one alternative of its pattern, some case of the corpus is read otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import ModuleType

import corpus
import pytest

from figlang_tasks.answers import entailment, option, text, verdict, words, yes_no
from figlang_tasks.benchmarks.admire import parse as admire
from figlang_tasks.benchmarks.metaclue import boxes, captions

MODULES = (text, words, verdict, yes_no, option, entailment, captions, boxes, admire)


def alternatives(pattern: str) -> Iterator[tuple[str, str]]:
    """Each alternative of a pattern, at any depth, and the pattern in which it never matches."""
    groups: list[list[int]] = [[0]]  # starts of the alternatives of the open groups
    at = 0
    while at <= len(pattern):
        sign = pattern[at : at + 1]
        if sign == "\\":
            at += 2
            continue
        if sign == "[":
            at += 2 if pattern[at + 1] in "]^" else 1
            while pattern[at] != "]":
                at += 2 if pattern[at] == "\\" else 1
        elif sign == "(":
            head = re.compile(r"\((?:\?(?:P<\w+>|[:=!]|<[=!]|[a-z-]+:))?").match(pattern, at)
            assert head is not None
            groups.append([head.end()])
            at = head.end()
            continue
        elif sign == "|":
            groups[-1].append(at + 1)
        if sign in (")", ""):
            starts = groups.pop()
            if len(starts) > 1:
                for start, end in zip(starts, [*starts[1:], at + 1], strict=True):
                    yield pattern[start : end - 1], f"{pattern[:start]}(?!){pattern[start:]}"
        at += 1


def mutants() -> Iterator[tuple[ModuleType, str, str, re.Pattern[str]]]:
    """Module, name, removed alternative, and the pattern without it."""
    for module in MODULES:
        for name, value in vars(module).items():
            imported = any(value is vars(other).get(name) for other in MODULES[: MODULES.index(module)])
            if isinstance(value, re.Pattern) and not imported:
                for gone, rest in alternatives(value.pattern):
                    yield module, name, gone, re.compile(rest, value.flags)


def words_first(gone: str, flags: int, outputs: list[str]) -> list[int]:
    """The order in which outputs are read: those that hold what the alternative matches are likely to need it."""
    try:
        alternative = re.compile(gone, flags)
    except re.error:  # it names a group outside of itself
        return list(range(len(outputs)))
    return sorted(range(len(outputs)), key=lambda number: alternative.search(outputs[number]) is None)


@pytest.mark.slow
def test_every_alternative_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [(name, case) for name in corpus.READERS for case in corpus.cases(name)]
    outputs = [case["output"] or "" for _, case in cases]
    before = [corpus.read(*case) for case in cases]
    idle = []
    for module, name, gone, mutant in mutants():
        original = vars(module)[name]
        with monkeypatch.context() as patch:
            for each in MODULES:
                if vars(each).get(name) is original:
                    patch.setattr(each, name, mutant)
            if all(corpus.read(*cases[at]) == before[at] for at in words_first(gone, mutant.flags, outputs)):
                idle.append(f"{module.__name__}.{name}: {gone}")
    assert not idle, "\n".join(idle)
