"""What the IRFL task files name: documents, prompts, scoring, aggregation.

IRFL: Yosef et al. 2023, "IRFL: Image Recognition of Figurative Language", arXiv 2303.15445.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from loguru import logger
from PIL import Image

from figlang_tasks import failures, hub, part_of_data, score_requests
from figlang_tasks.aggregate import aggregators, estimate_mean, estimate_ratio, with_ends
from figlang_tasks.irfl import rows
from figlang_tasks.irfl.parse import parse_official, parse_yes_no
from figlang_tasks.irfl.pictures import grid, pictures
from figlang_tasks.metrics import ranking
from figlang_tasks.metrics.intervals import Estimated
from figlang_tasks.prompting import render

if TYPE_CHECKING:
    import datasets

Document = Mapping[str, Any]
Kwargs = Mapping[str, Any] | None

PROMPTS = ("choose", "ordinal", "grid", "match", "text")
LITERAL_ROLES = ("literal", "source", "target")
SCORES, NO_SCORES = "scores", "no_scores"
GIVE_SCORES = "figlang_clip, figlang_vlm, figlang_openai"
# An output that is neither yes nor no is ranked against the model: a positive image last, a negative one first.
UNREADABLE = {True: -1.0, False: 2.0}


@dataclass(frozen=True)
class Options:
    """Options of an IRFL task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file, by model.

    Attributes:
        prompt: ``choose`` (all candidates, each behind its letter), ``ordinal`` (all before the text, which says what
            letter the first has, the second ...), ``grid`` (the four in one picture), ``match`` (a question to answer
            Yes or No) or ``text`` (nothing but the text, as dual encoders take it).
        phrase_only: leave out the definitions of an idiom.
    """

    prompt: str
    phrase_only: bool = False

    @classmethod
    def of(cls, kwargs: Kwargs) -> Options:
        """Read the options from what the harness hands over.

        Raises:
            ValueError: unknown option, or a value that is not valid; the message lists the valid ones.
        """
        known = {field.name for field in fields(cls)}
        # The harness leaves the blocks for other models ("default", "figlang_clip", ...) in the dict: they are dicts.
        given = {key: value for key, value in (kwargs or {}).items() if not isinstance(value, Mapping)}
        if unknown := sorted(set(given) - known):
            raise ValueError(f"unknown IRFL task option(s) {', '.join(unknown)}; valid: {', '.join(sorted(known))}")
        if given.get("prompt") not in PROMPTS:
            raise ValueError(f"IRFL task option prompt={given.get('prompt')!r}; valid: {', '.join(PROMPTS)}")
        if not isinstance(given.get("phrase_only", False), bool):
            raise ValueError(f"IRFL task option phrase_only={given['phrase_only']!r}; valid: true or false")
        return cls(**given)


@dataclass(frozen=True)
class ChoiceRecord:
    """What was judged for one document of detection.

    Attributes:
        id: ``{table}-{row}``, for a rotated row with ``-rotation{n}``.
        data: dataset, table, revision and digest.
        row: id of the row.
        unit: the phrase; rows of one phrase are not independent.
        type: ``figurative`` or ``figurative_literal``.
        candidates: uuids in the order shown.
        roles: of each: ``answer``, ``literal``, ``source``, ``target`` or ``random``.
        answer: place of the right one.
        chosen: place of the chosen one; None if there is none, as where several images have the highest score.
        status, rule: outcome of parsing (``figlang_tasks.irfl.parse``), or ``scores`` and ``argmax``.
        scores: matching scores in the order shown; None for an answer in words.
    """

    id: str
    data: str
    row: str
    unit: str
    type: str
    candidates: list[str]
    roles: list[str]
    answer: int
    chosen: int | None
    status: str
    rule: str
    scores: list[float] | None

    @property
    def parsed(self) -> bool:
        """Whether the output names an image, or holds scores: a tie is read, though it chose nothing."""
        return self.chosen is not None or self.scores is not None


@dataclass(frozen=True)
class RankedRecord:
    """What was judged for one image of a row of retrieval.

    Attributes:
        id, data, row, unit, type: as in :class:`ChoiceRecord`.
        uuid: the image.
        role: ``answer`` or the kind of negative.
        positive: whether it is to be ranked high.
        images: images of the row.
        value: what the ranking goes by; a matching score, or of an answer in words 1 for yes and 0 for no.
        status, rule: as in :class:`ChoiceRecord`.
    """

    id: str
    data: str
    row: str
    unit: str
    type: str
    uuid: str
    role: str
    positive: bool
    images: int
    value: float
    status: str
    rule: str


# --- data ------------------------------------------------------------------------------------------------------------


def process_docs(stub: datasets.Dataset) -> datasets.Dataset:
    """Return the documents of the table that the task file names (``figlang_tasks.irfl.rows.named``).

    Raises:
        SystemExit: the data is missing or wrong. Not an Exception, because the harness would try those five times
            and then exit with status 0.
    """
    try:
        return rows.load(*rows.named(stub.config_name))
    except hub.DataError as error:
        raise SystemExit(f"figlang_tasks: {error}") from error


def preflight(config: Mapping[str, Any]) -> None:
    """Check the options and the data of a task before a model is loaded.

    Args:
        config: the task's YAML as a dict.

    Raises:
        SystemExit: as :func:`process_docs`; also for an invalid option.
    """
    try:
        kwargs = config.get("lmms_eval_specific_kwargs") or {}
        for block in [each for each in kwargs.values() if isinstance(each, Mapping)] or [kwargs]:
            Options.of(block)
        _check_scores(config, kwargs)
        _check_rows(rows.load(*rows.named(config.get("dataset_name"))), config)
    except (hub.DataError, ValueError) as error:
        raise SystemExit(f"figlang_tasks: task {config.get('task')}: {error}") from error


def _check_rows(docs: datasets.Dataset, config: Mapping[str, Any]) -> None:
    """A run of a part of the data must hold a whole row, whose documents (pictures, rotations) are judged together.

    Raises:
        ValueError: it holds none.
    """
    places = part_of_data.chosen(docs, config)
    of_docs = list(docs["row"])
    sizes, here = Counter(of_docs), Counter(of_docs[place] for place in places)
    if all(found < sizes[row] for row, found in here.items()):
        first = of_docs[places[0]]
        offset = of_docs.index(first)
        raise ValueError(
            f"--limit and --offset leave no whole row: {first} has {sizes[first]} documents, which are judged "
            f"together. Take --limit {sizes[first]}{f' --offset {offset}' if offset else ''}, or a larger limit"
        )


def _check_scores(config: Mapping[str, Any], kwargs: Mapping[str, Any]) -> None:
    """A task of matching scores needs a model that gives some, with a prompt about one picture, not about all."""
    model = config.get("model")
    if not score_requests.is_asked(config):
        if config.get("process_results") is match_process_results and model != score_requests.REPLAY:
            raise ValueError(
                f"it compares matching scores, and {model or 'this model'} answers in words. Take a class that gives "
                f"scores ({GIVE_SCORES}; figlang_random for chance), or irfl_detect with this one. A class of your own "
                f"that gives scores declares it: answers_score_requests = ('match',) (docs/adding_a_vlm.md)"
            )
        return
    prompt = Options.of(kwargs.get(str(model)) or kwargs.get("default") or kwargs).prompt
    if prompt not in ("match", "text"):
        raise ValueError(
            f"{model} is asked for matching scores, with the prompt {prompt!r} for an answer in words; give the file a "
            f"block for models that are: lmms_eval_specific_kwargs: {{scores: {{prompt: match}}}}, for dual encoders "
            f"only_scores: {{prompt: text}}"
        )


# --- prompts ---------------------------------------------------------------------------------------------------------


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """Return the prompt as one text; where letters name the pictures, ``<image>`` marks the place of each."""
    options = Options.of(lmms_eval_specific_kwargs)
    return render(
        f"irfl/{options.prompt}.jinja",
        figurative_type=doc["figurative_type"],
        text=rows.text(doc, options.phrase_only),
        letters=rows.LETTERS[: len(doc["candidates"])],
    )


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """Return the pictures of the candidates in the order shown, each RGB; for a grid, one."""
    store = pictures(doc["dataset"])
    shown = [store.read(uuid, f"{doc['dataset']} {doc['id']}") for uuid in doc["candidates"]]
    return [grid(shown, rows.LETTERS)] if Options.of(lmms_eval_specific_kwargs).prompt == "grid" else shown


def doc_to_messages(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[dict[str, Any]]:
    """Return the prompt as one user turn, the pictures at their places in the text, or before it."""
    shown = doc_to_visual(doc, lmms_eval_specific_kwargs)
    parts = doc_to_text(doc, lmms_eval_specific_kwargs).split("<image>")
    if len(parts) == 1:
        parts = [""] * len(shown) + parts
    content: list[dict[str, Any]] = []
    for text, image in zip(parts, [*shown, None], strict=True):
        content += [{"type": "text", "text": text}] if text.strip() else []
        content += [{"type": "image", "url": image}] if image is not None else []
    return [{"role": "user", "content": content}]


def doc_to_target(doc: Document) -> str:
    """Return the right answer: a letter; of one image alone, Yes or No."""
    if "positive" in doc:
        return "Yes" if doc["positive"] else "No"
    return rows.LETTERS[doc["answer"]]


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """Return the possible answers to `doc` by label, and its label (for ``figlang_tasks.models.baselines``)."""
    labels = ["No", "Yes"] if "positive" in doc else rows.LETTERS[: len(doc["candidates"])]
    return {label: label for label in labels}, doc_to_target(doc)


# --- scoring of one document -----------------------------------------------------------------------------------------


def process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Judge a choice: by the highest matching score where the backend gives scores, else by an answer in words.

    Returns:
        ``sample``: the :class:`ChoiceRecord` as a dict (in no metric list: only logged); ``acc`` (1 if the answer alone
        has the highest score, or is named) and ``acc_{type}`` of an idiom; ``parse_rate``; of a failure with a choice
        (a tie at the top is none) ``literal_preference`` (1 if a partial-literal image was chosen); with scores
        ``tie_rate`` (1 for a tie at the top), and of similes
        ``figurative_over_source`` and ``source_over_target``. Each also with ``_ci_low`` and ``_ci_high``.
    """
    return _judged(doc, _choice(doc, results[0]))


def grid_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Judge a choice among the four parts of one picture, which an answer may also name by their place."""
    return _judged(doc, _choice(doc, results[0], in_grid=True))


def match_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Judge matching scores, as :func:`process_results`.

    A request that got no answer counts as wrong. An answer in words has no score and no accuracy: the run has failed.
    """
    record = _choice(doc, results[0])
    if record.scores is None:
        record = replace(record, chosen=None, status=NO_SCORES, rule="")
        if results[0]:
            _report_no_scores()
            failures.note("irfl_match: answers without matching scores have no accuracy, see the log")
            return {"sample": asdict(record), **with_ends({"parse_rate": 0.0}, record.unit)}
    return _judged(doc, record)


def circular_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Judge one rotation of a row.

    Returns:
        ``sample`` as in :func:`process_results`; ``parse_rate``; ``acc``, ``all_rotations_acc`` and ``share_A`` to
        ``share_D``: a :class:`Turn` each, as their aggregators take it.
    """
    record = _choice(doc, results[0])
    turn = Turn(record.row, record.unit, record.chosen == record.answer, -1 if record.chosen is None else record.chosen)
    names = ("acc", "all_rotations_acc", *(f"share_{letter}" for letter in rows.LETTERS))
    values = dict.fromkeys(names, turn) | {"parse_rate": float(record.parsed)}
    return {"sample": asdict(record), **with_ends(values, record.unit)}


def retrieve_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Judge one image of a row by its matching score, or by Yes or No in words.

    An output that is neither is ranked against the model: a positive image last, a negative one first.

    Returns:
        ``sample``: the :class:`RankedRecord` as a dict; ``p@k`` (of an idiom also ``p@k_{type}``), ``expected_p@k``,
        ``pooled_p@k`` and ``tie_rate``: a :class:`Ranked` each, as their aggregators take it; ``parse_rate``.
    """
    scores = score_requests.read_answer(results[0])
    if scores is not None and len(scores) == 1:
        value, status, rule, read = scores[0], SCORES, SCORES, True
    else:
        found = parse_yes_no(results[0])
        status, rule, read = found.status, found.rule, found.value is not None
        value = UNREADABLE[doc["positive"]] if found.value is None else float(found.value)
    shared = {name: doc[name] for name in ("id", "data", "row", "type", "role", "positive", "images")}
    record = RankedRecord(
        **shared, unit=doc["phrase"], uuid=doc["candidates"][0], value=value, status=status, rule=rule
    )
    ranked = Ranked(record.row, record.unit, record.images, record.positive, record.value)
    values: dict[str, Any] = dict.fromkeys(("p@k", "expected_p@k", "pooled_p@k", "tie_rate"), ranked) | {
        "parse_rate": float(read)
    }
    if doc["figurative_type"] == "idiom":
        values[f"p@k_{record.type}"] = ranked
    return {"sample": asdict(record), **with_ends(values, record.unit)}


def _choice(doc: Document, output: str, in_grid: bool = False) -> ChoiceRecord:
    count = len(doc["candidates"])
    scores = score_requests.read_answer(output)
    if scores is not None and len(scores) == count:
        status, rule = SCORES, "argmax"
        # A tie chose nothing: of the images that share the highest score none is the model's choice.
        chosen = None if ranking.tied_at_top(scores) else scores.index(max(scores))
    else:
        scores = None
        found = parse_official(output, count, grid=in_grid)
        chosen, status, rule = found.value, found.status, found.rule
    shared = {name: doc[name] for name in ("id", "data", "row", "type", "candidates", "roles", "answer")}
    return ChoiceRecord(**shared, unit=doc["phrase"], chosen=chosen, status=status, rule=rule, scores=scores)


def _judged(doc: Document, record: ChoiceRecord) -> dict[str, Any]:
    correct = float(record.chosen == record.answer)
    values = {"acc": correct, "parse_rate": float(record.parsed)}
    if doc["figurative_type"] == "idiom":
        values[f"acc_{record.type}"] = correct
    if record.chosen is not None and not correct:
        values["literal_preference"] = float(record.roles[record.chosen] in LITERAL_ROLES)
    if record.scores is not None:
        values["tie_rate"] = float(ranking.tied_at_top(record.scores))
        values |= _simile_order(record.roles, record.scores)
    return {"sample": asdict(record), **with_ends(values, record.unit)}


def _simile_order(roles: Sequence[str], scores: Sequence[float]) -> dict[str, float]:
    """The two pairwise orders of section 4.1.2: whether each pair of a simile stands as the paper expects."""
    by_role = dict(zip(roles, scores, strict=True))
    if not {"answer", "source", "target"} <= set(by_role):
        return {}
    return {
        "figurative_over_source": float(by_role["answer"] > by_role["source"]),
        "source_over_target": float(by_role["source"] > by_role["target"]),
    }


@lru_cache(maxsize=1)  # once a process
def _report_no_scores() -> None:
    logger.error(
        "figlang_tasks: irfl_match compares matching scores, and this model answers in words: those rows have no "
        f"accuracy. Use a backend that gives scores ({GIVE_SCORES}), or irfl_detect with this one."
    )


# --- aggregation -----------------------------------------------------------------------------------------------------


class Turn(NamedTuple):
    """One rotation of a row: the row's id and phrase, whether the answer was chosen, the chosen place (-1: none)."""

    row: str
    unit: str
    correct: bool
    chosen: int


class Ranked(NamedTuple):
    """One image of a row: the row's id and phrase, how many images it has, whether this is positive, its value."""

    row: str
    unit: str
    images: int
    positive: bool
    value: float


@lru_cache(maxsize=4)
def _by_row(turns: tuple[tuple, ...]) -> dict[str, list[Turn]]:
    found: dict[str, list[Turn]] = {}
    for turn in turns:
        found.setdefault(turn[0], []).append(Turn(*turn))
    return found


@lru_cache(maxsize=4)
def _circular_acc(turns: tuple[tuple, ...]) -> Estimated | None:
    """Accuracy over all rotations."""
    return _share_of_turns([Turn(*turn) for turn in turns], lambda turn: turn.correct)


def _share_of_turns(turns: Sequence[Turn], hit: Callable[[Turn], bool]) -> Estimated | None:
    hits = [float(hit(turn)) for turn in turns]
    return estimate_mean(hits, [turn.unit for turn in turns], is_share=True) if turns else None


@lru_cache(maxsize=4)
def _all_rotations_acc(turns: tuple[tuple, ...]) -> Estimated | None:
    """Share of rows whose answer was chosen in every rotation; rows that a limit has cut are left out."""
    whole = [row for row in _by_row(turns).values() if len(row) == len(rows.LETTERS)]
    if len(whole) < len(_by_row(turns)):
        _report_cut(len(_by_row(turns)) - len(whole), len(_by_row(turns)), "all_rotations_acc")
    return (
        estimate_mean([float(all(turn.correct for turn in row)) for row in whole], _units(whole), True)
        if whole
        else None
    )


def _letter_share(letter: str) -> Callable[[tuple[tuple, ...]], Estimated | None]:
    @lru_cache(maxsize=4)
    def share(turns: tuple[tuple, ...]) -> Estimated | None:
        """Share of a letter among the answers that name one: 25 % without position bias."""
        place = rows.LETTERS.index(letter)
        named = [turn for turn in (Turn(*each) for each in turns) if turn.chosen >= 0]
        return _share_of_turns(named, lambda turn: turn.chosen == place)

    share.__name__ = f"share_{letter}"
    return share


def _units(rows: Iterable[Sequence[Turn] | Sequence[Ranked]]) -> list[str]:
    return [row[0].unit for row in rows]


@lru_cache(maxsize=8)
def _rankings(images: tuple[tuple, ...]) -> tuple[list[tuple[list[float], list[bool]]], list[str]]:
    """Values and positives of each row, and the rows' phrases; rows that a limit has cut are left out."""
    by_row: dict[str, list[Ranked]] = {}
    for image in images:
        by_row.setdefault(image[0], []).append(Ranked(*image))
    whole = [row for row in by_row.values() if len(row) == row[0].images]
    if len(whole) < len(by_row):
        _report_cut(len(by_row) - len(whole), len(by_row), "p@k")
    return [([image.value for image in row], [image.positive for image in row]) for row in whole], _units(whole)


@lru_cache(maxsize=8)
def _precision_at_k(images: tuple[tuple, ...]) -> Estimated | None:
    """Mean over rows of precision@k, k being the number of positives of the row."""
    return _mean_of_rows(images, ranking.precision_at_k)


@lru_cache(maxsize=8)
def _expected_precision_at_k(images: tuple[tuple, ...]) -> Estimated | None:
    """The same with ties broken at random, on average."""
    return _mean_of_rows(images, ranking.random_tie_precision_at_k)


@lru_cache(maxsize=8)
def _pooled_precision_at_k(images: tuple[tuple, ...]) -> Estimated | None:
    """Precision@k with the positives of all rows counted together."""
    rankings, units = _rankings(images)
    counts = [sum(positives) for _, positives in rankings]
    hits = [round(ranking.precision_at_k(*row) * count) for row, count in zip(rankings, counts, strict=True)]
    return estimate_ratio(hits, counts, units) if counts else None


@lru_cache(maxsize=8)
def _ties(images: tuple[tuple, ...]) -> Estimated | None:
    """Share of rows whose precision@k depends on how ties are broken."""
    return _mean_of_rows(images, ranking.depends_on_ties, is_share=True)


def _mean_of_rows(
    images: tuple[tuple, ...], of_row: Callable[[list[float], list[bool]], float], is_share: bool = False
) -> Estimated | None:
    rankings, units = _rankings(images)
    return estimate_mean([float(of_row(*row)) for row in rankings], units, is_share) if rankings else None


def _report_cut(cut: int, total: int, metric: str) -> None:
    logger.warning(f"figlang_tasks: {cut} of {total} rows are not complete (--limit?) and left out of {metric}")
    if cut == total:
        failures.note(f"{metric} could not be computed: no row is complete (--limit?)")


circular_acc, circular_acc_ci_low, circular_acc_ci_high = aggregators(_circular_acc)
all_rotations_acc, all_rotations_acc_ci_low, all_rotations_acc_ci_high = aggregators(_all_rotations_acc)
share_a, share_a_ci_low, share_a_ci_high = aggregators(_letter_share("A"))
share_b, share_b_ci_low, share_b_ci_high = aggregators(_letter_share("B"))
share_c, share_c_ci_low, share_c_ci_high = aggregators(_letter_share("C"))
share_d, share_d_ci_low, share_d_ci_high = aggregators(_letter_share("D"))
p_at_k, p_at_k_ci_low, p_at_k_ci_high = aggregators(_precision_at_k)
expected_p_at_k, expected_p_at_k_ci_low, expected_p_at_k_ci_high = aggregators(_expected_precision_at_k)
pooled_p_at_k, pooled_p_at_k_ci_low, pooled_p_at_k_ci_high = aggregators(_pooled_precision_at_k)
tie_rate, tie_rate_ci_low, tie_rate_ci_high = aggregators(_ties)
