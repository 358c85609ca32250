"""Names for runs: by what differs between those of one model, or by their folders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from figlang_tasks.core.text import LONGEST_NAME, shortened, without_paths
from figlang_tasks.results.provenance import OPTIONS, option_text
from figlang_tasks.results.task_run import Run

_SHORTEST_NAME = 50
"""Characters that stay of a long name where a long text follows."""


def paths_by_name(folder: Path, paths: Sequence[Path]) -> dict[str, Path]:
    """Each run by a name: its folder below `folder`; with the file if several are in it.

    Args:
        folder: the folder that all runs are below.
        paths: as `find_runs` gives them.
    """
    runs_per_folder = Counter(path.parent for path in paths)
    path_by_name: dict[str, Path] = {}
    for path in paths:
        relative = path.relative_to(folder)
        is_alone = runs_per_folder[path.parent] == 1 and path.parent != folder
        name = relative.parent if is_alone else relative
        path_by_name[name.as_posix()] = path
    return path_by_name


def with_distinct_names(runs: Sequence[Run], repeats: bool = False) -> list[Run]:
    """The runs in the same order, those that share a name named by what differs between them.

    The class of the model comes first: two runs ``demo_model`` become ``figlang_vlm`` and
    ``figlang_blind``, or ``demo_model (figlang_vlm)`` if other models have that class too. Runs of
    one class keep the name, with what differs behind it: arguments of the model, ``demo_model
    (revision=v2)``, else another option, ``demo_model (temperature=0.7)``, else the part of the
    path.

    Args:
        repeats: whether runs to which the user gave one name are repeats, and keep it.
    """
    count_by_name = Counter(run.name for run in runs)
    positions_by_name: dict[str, list[int]] = {}
    kept_names: set[str] = set()
    for position, run in enumerate(runs):
        is_repeat = repeats and run.given_name is not None
        if count_by_name[run.name] > 1 and not is_repeat:
            positions_by_name.setdefault(run.name, []).append(position)
        else:
            kept_names.add(run.name)

    renamed_runs = list(runs)
    for shared_name, positions in positions_by_name.items():
        runs_of_name = [runs[position] for position in positions]
        classes_of_others = {_class_of(run) for run in runs if run.name != shared_name}
        names = _distinct_names(runs_of_name, kept_names | classes_of_others)
        kept_names.update(names)
        for position, name in zip(positions, names, strict=True):
            renamed_runs[position] = replace(runs[position], name=name)
    return renamed_runs


def _distinct_names(runs: Sequence[Run], taken_names: set[str]) -> list[str]:
    """A new name for each of some runs that share one.

    Args:
        taken_names: those that no run may get: the names of other runs, and their classes.
    """
    for long_names in _candidate_names(runs):
        names = [shortened(name, LONGEST_NAME) for name in long_names]
        if len(set(names)) == len(names) and not taken_names.intersection(names):
            return names
    short_names = [shortened(run.name, _SHORTEST_NAME) for run in runs]
    names = [f"{name} ({run.path})" for name, run in zip(short_names, runs, strict=True)]
    if len(set(names)) == len(names):
        return names
    # Results that a harness returned have no path.
    return [f"{name} ({number})" for number, name in enumerate(short_names, start=1)]


def _candidate_names(runs: Sequence[Run]) -> Iterator[list[str]]:
    """Yield lists of names for runs that share one, the best list first; they may be equal."""
    classes = [_class_of(run) for run in runs]
    if all(classes) and not any(run.given_name for run in runs):
        yield classes
    details_by_subject: list[list[str]] = [
        classes,
        _differing_settings(runs, _model_arguments),
        _differing_settings(runs, _generation_settings),
        _differing_settings(runs, _options),
        _differing_paths([run.path for run in runs]),
    ]
    for details in details_by_subject:
        if any(details):
            yield _names_with_details(runs, details)
    # One subject is not enough where, say, two classes were evaluated with two revisions each.
    joined_details = []
    for details_of_run in zip(*details_by_subject, strict=True):
        distinct_details = dict.fromkeys(detail for detail in details_of_run if detail)
        joined_details.append(", ".join(distinct_details))
    yield _names_with_details(runs, joined_details)


def _names_with_details(runs: Sequence[Run], details: Sequence[str]) -> list[str]:
    """The name of each run with a detail in brackets; without a detail the name alone."""
    names = []
    for run, detail in zip(runs, details, strict=True):
        ending = f" ({detail})" if detail else ""
        # A long name is shortened itself, since what follows it tells the runs apart.
        most_characters = max(LONGEST_NAME - len(ending), _SHORTEST_NAME)
        names.append(shortened(run.name, most_characters) + ending)
    return names


# --- what differs ---


def _class_of(run: Run) -> str:
    """The name of the model class; "" if unknown."""
    return option_text(run, "model")


def _differing_settings(
    runs: Sequence[Run], settings_of: Callable[[Run], dict[str, str]]
) -> list[str]:
    """The settings of each run that are not equal in all: ``revision=v2``; "" for one without."""
    settings_of_runs = [settings_of(run) for run in runs]
    values_by_name: dict[str, set[str | None]] = {}
    for name in {name for settings in settings_of_runs for name in settings}:
        values_by_name[name] = {settings.get(name) for settings in settings_of_runs}
    texts = []
    for settings in settings_of_runs:
        differing = []
        for name, value in settings.items():
            if len(values_by_name[name]) > 1:
                differing.append(f"{name}={value}")
        texts.append(", ".join(differing))
    return texts


def _model_arguments(run: Run) -> dict[str, str]:
    """The arguments of the model by name, paths reduced to their last part."""
    return _split_settings(option_text(run, "model_args"))


def _generation_settings(run: Run) -> dict[str, str]:
    """The settings of generation that the user gave, by name."""
    return _split_settings(option_text(run, "gen_kwargs"))


def _options(run: Run) -> dict[str, str]:
    """The other options that can change results, by name; not which tasks were evaluated."""
    settings = {}
    for option in OPTIONS:
        value = option_text(run, option)
        if value and option not in ("model", "model_args", "gen_kwargs", "tasks", "batch_size"):
            settings[option] = without_paths(value)
    return settings


def _split_settings(text: str) -> dict[str, str]:
    """Settings by name, from a text ``a=1,b=2``."""
    settings = {}
    for setting in text.split(","):
        name, sign, value = setting.partition("=")
        if sign:
            settings[name.strip()] = without_paths(value.strip()).removeprefix("[local]/")
    return settings


def _differing_paths(paths: Sequence[Path]) -> list[str]:
    """The part of each path that differs from the others, without what all begin or end with."""
    parts_of_paths = [list(path.parts) for path in paths]
    for index in (0, -1):  # what all begin with, then what all end with
        while all(parts_of_paths) and len({parts[index] for parts in parts_of_paths}) == 1:
            for parts in parts_of_paths:
                parts.pop(index)
    return ["/".join(parts) for parts in parts_of_paths]
