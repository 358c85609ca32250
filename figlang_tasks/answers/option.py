"""Which of several options an answer chooses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from figlang_tasks.answers.announced import announced_option, announced_text, best_option
from figlang_tasks.answers.checkboxes import mark_beside
from figlang_tasks.answers.choices import OFFERED_FORMS, Choices, Mention, plain_text
from figlang_tasks.answers.page import COLON, ENDS_A_HEAD, HEDGED, WORD, Page, Run
from figlang_tasks.answers.text import BLANK_LINE, Answer
from figlang_tasks.answers.verdict import Evidence, Read, decide, read_marked_parts


def option(
    output: str | None,
    options: int | Choices,
    *,
    texts: Sequence[str] | None = None,
    letters: bool = True,
    pictures: bool | None = None,
    places: Sequence[str] = (),
) -> Read[int]:
    """The option that an answer chooses; never a guess.

    The first of these tiers that has evidence decides; its name is the `rule`:

    - ``alone``: nothing but the option: "B", "(B)", "Image B", "(A) the second image".
    - ``announced``: "the answer is B", "Answer: B", "I would select B", "it corresponds to B", "B
      is the best choice", "Therefore, B.", LaTeX's ``\\boxed{B}``. The last announcement counts,
      whatever stands before it.
    - ``head``: the answer begins with the option: "B. The man ...", "(A) 50°"; or a line that has
      nothing else.
    - ``judged``: of a list in which each option is judged, the one that is affirmed: "A - no, B -
      yes".
    - ``last_paragraph``: the only option that the last paragraph names.
    - ``named``: an option that is said to be it: "Box B fits closely", "Point B is closer".
    - ``only``: the only option that the whole answer names.
    - ``text``: the text of one option, in the first or the last sentence.

    What is denied, compared ("rather than B") or conditional is no evidence, nor are the items of a
    list. Two different options are ambiguous (rule ``conflict``): several behind one announcement,
    two boxes, a letter with another option's text behind it; two in any other tier too, unless the
    later corrects the earlier (``correction``).

    Args:
        output: the model's output; None if there is none.
        options: how many there are, called A, B, C ...; or `Choices`, which say all that follows
            too.
        texts: the text of each option, where the prompt shows them.
        letters: False: the options are called 1, 2, 3 ...
        pictures: whether the options are pictures, so that "the second image" names one.
        places: regular expressions, without groups of their own, of the places of the options in
            one picture.

    Returns:
        The 0-based option; with one of these rules, or ``refusal``, ``nothing``, ``thought``,
        ``empty``, ``missing``. An option that was not offered has the status ``out_of_range``.

    Raises:
        TypeError: `output` is neither str nor None.
        ValueError: there are not as many texts as options.
    """
    if isinstance(options, Choices):
        choices = options
    else:
        choices = Choices(
            count=options,
            names="letters" if letters else "numbers",
            texts=None if texts is None else tuple(texts),
            are_pictures=pictures,
            places=tuple(places),
        )
    return read_marked_parts(output, partial(_read, choices=choices), boxes=False)


def _read(answer: Answer, choices: Choices) -> Read[int]:
    page = Page(answer, choices)
    for tier in _TIERS:
        reading = tier(page)
        if reading is None:
            continue
        if reading.value is not None and not 0 <= reading.value < choices.count:
            return Read(None, "out_of_range", reading.rule)
        return reading
    if page.declines:
        return Read(None, "refused", "refusal")
    return Read(None, "unreadable", "nothing")


# --- alone ---


def _alone(page: Page) -> Read[int] | None:
    """Nothing but the option, in any form; a letter outranks a number or an ordinal beside it."""
    by_text = _by_text_alone(page)
    if by_text is not None:
        return by_text
    mentions = page.all_mentions
    if not mentions or page.text.rstrip().endswith("?") or _judged(page):
        return None
    if not (_has_nothing_else(page.text, mentions) or _is_one_run(page)):
        return None

    offered = [mention for mention in mentions if mention.form in OFFERED_FORMS]
    if not offered and page.choices.texts is not None and not page.choices.are_pictures:
        return None  # A number beside texts is one of them, or none.
    if offered:
        mentions = [*offered, *(mention for mention in mentions if mention.form == "place")]
    return decide(page.answer, Run(tuple(mentions)).evidence("alone"))


def _has_nothing_else(text: str, mentions: Sequence[Mention]) -> bool:
    end_of_last = 0
    for mention in mentions:
        if WORD.search(text, end_of_last, mention.start):
            return False
        end_of_last = mention.end
    return not WORD.search(text, end_of_last)


def _is_one_run(page: Page) -> bool:
    """Whether an answer is one enumeration: "A and B", "1/2"."""
    if len(page.runs) != 1:
        return False
    run = page.runs[0]
    return not (WORD.search(page.text, 0, run.start) or WORD.search(page.text, run.end))


def _by_text_alone(page: Page) -> Read[int] | None:
    """The option whose text is the whole answer."""
    if page.choices.texts is None:
        return None
    answer_text = plain_text(page.text[:1000])
    values = [
        value for value, text in enumerate(page.choices.texts) if plain_text(text) == answer_text
    ]
    return Read(values[0], "read", "alone") if len(values) == 1 else None


# --- head ---

_GOES_ON_AS_SENTENCE = re.compile(
    r"""[)\]"'}]{0,2}\s{0,3}(?:,\s?(?:which|who|where|with|while|showing|the|on)\b"""
    r"|(?:is|isn't|was|shows?|depicts|has|does|doesn't|seems|appears|represents|illustrates|conveys|and|or|while)\b)",
    re.I,
)


def _head(page: Page) -> Read[int] | None:
    """The option with which the answer begins, or that has the first or the last line for
    itself.
    """
    if not page.runs:
        return None
    line = _line_alone(page)
    if line is not None:
        return Read(line.value, "read", "head")

    first_run = page.runs[0]
    first = first_run.first
    if _is_verdict_above_list(page, first_run):
        return Read(first.value, "read", "head")
    if (
        len(first_run.mentions) > 1
        or WORD.search(page.text, 0, first.start)
        or page.around(first_run).is_in_question
    ):
        return None
    if page.list_items and not _is_repeated_below(page, first):
        return None
    if page.contradicts_its_text(first):
        return Read(None, "ambiguous", "conflict")
    if not _is_set_off(page, first) or not page.is_evidence(first_run):
        return None
    return Read(first.value, "read", "head")


def _line_alone(page: Page) -> Mention | None:
    """The one option that has the first or the last line of the answer for itself."""
    lines = []
    for mention in page.mentions:
        if (
            page.opens_line(mention)
            and page.closes_line(mention)
            and not COLON.match(page.text, mention.end)
        ):
            lines.append(mention)
    if len({line.value for line in lines}) != 1:
        return None
    first, last = lines[0], lines[-1]
    if not WORD.search(page.text, 0, first.start):
        return first
    if _opens_a_list(page, last):
        return None
    # Without a blank line before it, the last may be an item of a list that is cut off.
    is_apart = BLANK_LINE.search(page.text, max(0, last.start - 12), last.start) is not None
    if not WORD.search(page.text, last.end) and (is_apart or not page.list_items):
        return last
    return None


def _is_set_off(page: Page, first: Mention) -> bool:
    """Whether the first mention is set off from what follows it, and is not denied there."""
    text = page.text
    if _GOES_ON_AS_SENTENCE.match(text, first.end):
        return False
    if COLON.match(text, first.end):
        # "A: The image shows" may go on with B, and "Image A: ..." describes it.
        return page.choices.names == "numbers" or (
            first.form in ("bare", "bracketed") and text[-1] in ".!"
        )
    return (
        first.form == "bracketed"
        or text[first.end - 1] == ")"
        or ENDS_A_HEAD.match(text, first.end) is not None
    )


def _is_verdict_above_list(page: Page, run: Run) -> bool:
    """Whether the first paragraph names one option in its own sentence, and all are explained in a
    list below it.
    """
    items = page.list_items
    if (
        not items
        or len(run.mentions) > 1
        or run.first.form not in ("bracketed", "labelled")
        or page.is_in_list(run.first)
    ):
        return False
    blank_line = BLANK_LINE.search(page.text, run.end)
    if blank_line is None or blank_line.start() > min(item.start for item in items):
        return False
    others_above = [
        mention for mention in page.mentions if run.end <= mention.start < blank_line.start()
    ]
    return not others_above and page.is_evidence(run)


def _is_repeated_below(page: Page, first: Mention) -> bool:
    """Whether a verdict stands above a list of all options: its option is an item of that list
    too.
    """
    below = [
        mention
        for mention in page.mentions
        if mention.start > first.end and mention.value == first.value
    ]
    return any(page.opens_line(mention) for mention in below)


# --- judged ---

_AFFIRMED = re.compile(
    r"\W{0,6}(?:yes|correct|true|right|best|match(?:es)?|fits?|suitable|appropriate)\b", re.I
)
_IN_PART = re.compile(r"\b(?:literal\w*|but|only|partly|except)\b", re.I)
_REFUTED = re.compile(
    r"\W{0,6}(?:no|incorrect|false|wrong|not|does not|doesn't|unsuitable)\b", re.I
)


def _judged(page: Page) -> Read[int] | None:
    """The one option that a list affirms which judges each of its items, also in one line: "A (no),
    B (yes)".
    """
    affirmed: list[Evidence] = []
    items = page.list_items or page.mentions
    if len({item.value for item in items}) < 2:
        return None
    for item in items:
        behind = page.text[item.end : item.end + 60].partition("\n")[0]
        mark = mark_beside(page.text[max(0, item.start - 8) : item.start], behind)
        if mark in ("tick", "x") or (_AFFIRMED.match(behind) and not _IN_PART.search(behind)):
            affirmed.append(Evidence(item.value, item.start, item.end, "judged"))
        elif mark is None and not _REFUTED.match(behind):
            return None
    return decide(page.answer, affirmed)


# --- last paragraph, and the whole answer ---


_LEADS_A_LIST = re.compile(
    r"(?:\b(?:options|choices|images|pictures|points|captions|statements|others?|each|each"
    r" (?:one|option|image))\b"
    r"[^.:\n]{0,40}:|\b(?:let me|let's|look at|looking at|i'll|i will)\b[^.:\n]{0,60}"
    r"\b(?:each|one by one)\b[^.:\n]{0,30}[.:])\W{1,8}\Z",
    re.I,
)
_LONGEST_TEXT_WITHOUT_END = 40
_ENDS_WITHIN_A_SENTENCE = re.compile(
    r"\b(?:is|are|was|has|the|an?|of|at|on|in|to|and|that|for|with|which)\s?\Z", re.I
)
_COURTESY = re.compile(
    r"\n\s{0,3}(?:i hope|hope (?:this|that)|(?:please )?let me know|did i|feel free|is there"
    r" anything)\b[^\n]{0,200}\Z",
    re.I,
)


def _last_paragraph(page: Page) -> Read[int] | None:
    """The only option that the last paragraph names."""
    breaks = list(BLANK_LINE.finditer(_COURTESY.sub("", page.text).rstrip()))
    start = breaks[-1].end() if breaks else 0
    runs = [run for run in page.runs if run.start >= start]
    bracketed = [
        run for run in runs if any(mention.form == "bracketed" for mention in run.mentions)
    ]
    if bracketed and (
        _opens_a_list(page, bracketed[0].first) or _is_cut_off_behind(page, bracketed[-1])
    ):
        return None
    if bracketed:
        return _only_of(page, bracketed, "last_paragraph")
    if not breaks or page.declines or not page.is_finished:
        return None
    return _only_of(page, runs, "last_paragraph")


def _opens_a_list(page: Page, mention: Mention) -> bool:
    """Whether a mention is the first item of a list, of which no more may be written: "The
    options:\n\n(A) ...".
    """
    return (
        page.opens_line(mention)
        and _LEADS_A_LIST.search(page.text, max(0, mention.start - 120), mention.start) is not None
    )


def _is_cut_off_behind(page: Page, run: Run) -> bool:
    """Whether an answer breaks off in a sentence about an option; "(C) About the same" needs no
    full stop.
    """
    if page.is_finished or not WORD.search(page.text, run.end):
        return False
    if _ENDS_WITHIN_A_SENTENCE.search(page.text, len(page.text) - 12):
        return True
    return not page.opens_line(run.first) or len(page.text) - run.end > _LONGEST_TEXT_WITHOUT_END


def _only(page: Page) -> Read[int] | None:
    """The only option of a finished answer that names no other, but to deny it."""
    if not page.is_finished or page.declines or page.list_items:
        return None
    return _only_of(page, page.runs, "only")


def _only_of(page: Page, runs: Sequence[Run], rule: str) -> Read[int] | None:
    """The one option of some runs that is neither denied nor in a list; ambiguous if there are two,
    none of more.
    """
    evidence: list[Evidence] = []
    for run in runs:
        if page.is_in_list(run.first) or not page.is_evidence(run):
            continue
        if run.is_echo:
            if (
                run.is_range
                or len({mention.value for mention in run.mentions}) >= page.choices.count
            ):
                continue
            return Read(None, "ambiguous", "conflict")  # "either (A), (B) or (D)"
        if not _is_name_of_option(page, run) or not 0 <= run.first.value < page.choices.count:
            continue
        if run.first.form != "bracketed" and COLON.match(page.text, run.end):
            continue  # "Image A: a man" describes it.
        if page.contradicts_its_text(run.first):
            return Read(None, "ambiguous", "conflict")
        evidence += run.evidence(rule)
    if len({place.value for place in evidence}) > 2:
        return None  # So many are described.
    return decide(page.answer, evidence)


_BEHIND_A_NOUN = re.compile(r"\w[\s(]{0,2}\Z")
_IN_A_PICTURE = re.compile(r"\W*in\s", re.I)  # "In the first image, the man smiles."
_BEHIND_A_CONJUNCTION = re.compile(r"\b(?:that|only|because|and|but|so|while|whereas)\s\Z", re.I)


def _is_name_of_option(page: Page, run: Run) -> bool:
    """Whether a bare letter may be an option and not part of another name: "vitamin C", "3 years
    old".
    """
    if page.text.startswith(("letter", "Letter"), run.start):
        return False  # "The letter A stands in a circle."
    before = page.around(run).sentence_before
    if _IN_A_PICTURE.fullmatch(before):
        return False
    if run.first.form != "bare":
        return True
    return not _BEHIND_A_NOUN.search(before) or _BEHIND_A_CONJUNCTION.search(before) is not None


# --- named ---

_FITS = re.compile(
    r"""[)\]"'\s]{0,3}(?:\([^()\n]{1,60}\)\s)?(?:(?:clearly|also|\w+ly|most|more|best|better)\s){0,3}"""
    r"(?:(?:is|seems|appears|looks)(?: to be)?\s(?:(?:the|a|slightly|much|clearly|\w+ly)\s){0,3}"
    r"(?:closer|closest|darker|darkest|best|more|most|similar|nearest|nearer|\w{3,12}est)\b"
    r"|fits?\b|match(?:es)?\b|corresponds?\b|(?:best|better|more \w+ly|most \w+ly)\s\w+s\b)",
    re.I,
)


def _named(page: Page) -> Read[int] | None:
    """The option that is said to fit, to match, or to be more so than others."""
    evidence: list[Evidence] = []
    for run in page.runs:
        is_said_to_fit = _FITS.match(page.around(run).sentence_after) is not None
        if is_said_to_fit and page.is_evidence(run) and _is_name_of_option(page, run):
            evidence += run.evidence("named")
    return decide(page.answer, evidence)


# --- text ---

_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n")


def _text(page: Page) -> Read[int] | None:
    """The option whose text, and no other's, the last sentence says, or else the first."""
    if page.declines:
        return None
    for start, end in _conclusions(page.text):
        evidence: list[Evidence] = []
        for run in page.text_runs:
            is_hedged = HEDGED.search(page.around(run).sentence_before)
            if start <= run.start < end and page.is_evidence(run) and not is_hedged:
                evidence += run.evidence("text")
        reading = decide(page.answer, evidence)
        if reading is not None:
            return reading
    return None


def _conclusions(text: str) -> Iterator[tuple[int, int]]:
    """Where the last sentence stands, which concludes; then the first, which may answer before it
    gives reasons.
    """
    ends = [match.end() for match in _SENTENCE_END.finditer(text.rstrip())]
    yield max(ends, default=0), len(text)
    if ends:
        yield 0, ends[0]


_TIERS: tuple[Callable[[Page], Read[int] | None], ...] = (
    _alone,
    announced_option,
    announced_text,
    _judged,
    _head,
    best_option,
    _last_paragraph,
    _named,
    _only,
    _text,
)
