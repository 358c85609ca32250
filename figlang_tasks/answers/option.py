"""Which of several options an answer chooses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from figlang_tasks.answers.choices import OFFERED_FORMS, Choices, Mention, plain_text
from figlang_tasks.answers.page import BLANK_LINE, COLON, WORD, Page, Run, is_denied_behind
from figlang_tasks.answers.text import Answer
from figlang_tasks.answers.verdict import Evidence, Read, by_marks, decide
from figlang_tasks.answers.words import ANNOUNCED, ANNOUNCED_NONE


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
    - ``announced``: "the answer is B", "Answer: B", "I would select B", "it corresponds to B", "B is the best choice",
      "Therefore, B.", LaTeX's ``\\boxed{B}``. The last announcement counts, whatever stands before it.
    - ``head``: the answer begins with the option: "B. The man ...", "(A) 50°"; or a line that has nothing else.
    - ``judged``: of a list in which each option is judged, the one that is affirmed: "A - no, B - yes".
    - ``last_paragraph``: the only option that the last paragraph names.
    - ``named``: an option that is said to be it: "Box B fits closely", "Point B is closer".
    - ``only``: the only option that the whole answer names.
    - ``text``: the text of one option, in the first or the last sentence.

    What is denied, compared ("rather than B") or conditional is no evidence, nor are the items of a list. Two different
    options are ambiguous (rule ``conflict``): several behind one announcement, two boxes, a letter with another option's
    text behind it; two in any other tier too, unless the later corrects the earlier (``correction``).

    Args:
        output: the model's output; None if there is none.
        options: how many there are, called A, B, C ...; or `Choices`, which say all that follows too.
        texts: the text of each option, where the prompt shows them.
        letters: False: the options are called 1, 2, 3 ...
        pictures: whether the options are pictures, so that "the second image" names one.
        places: regular expressions, without groups of their own, of the places of the options in one picture.

    Returns:
        The 0-based option; with one of these rules, or ``refusal``, ``nothing``, ``thought``, ``empty``, ``missing``. An
        option that was not offered has the status ``out_of_range``.

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
    return by_marks(output, partial(_read, choices=choices), boxes=False)


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

    named = [mention for mention in mentions if mention.form in OFFERED_FORMS]
    if named:
        named += [mention for mention in mentions if mention.form == "place"]
    elif page.choices.texts is not None and not page.choices.are_pictures:
        return None  # A number beside texts is one of them, or none.
    else:
        named = mentions
    return decide(page.answer, [Evidence(each.value, each.start, each.end, "alone") for each in named])


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
    whole = plain_text(page.text[:1000])
    values = [value for value, text in enumerate(page.choices.texts) if plain_text(text) == whole]
    return Read(values[0], "read", "alone") if len(values) == 1 else None


# --- announced ---

_CHOOSE = (
    r"(?:i(?:'d| would|'ll| will)? (?:\w+ly )?(?:choose|chose|pick|select|go with|say|opt for|vote for|go for"
    r"|settle on|guess|think|believe"
    r"|answer|prefer|lean(?:ing)? towards?)"
    r"|(?:choose|pick|select|going (?:with|for)|go (?:with|for)|lean(?:ing)? towards?))"
)
_IT_IS = (
    r"(?:(?:it )?looks like|in my opinion is|it (?:has to|must|can only|should|would) be|it(?:'s| is)|which is)"
    r"(?: \w+ly)?"
)
_BEST_IS = (
    r"(?:best|funniest|wittiest|closest|strongest|correct|most|(?:image|picture|option|statement|caption|one)\s(?:that|which|whose)|metaphor)\b"
    r"[^.?!\n]{0,100}?\b(?:is|are|be)|\bbest\s\w{3,12}(?:ed|n)\s(?:by|in)"
)
_CHOSEN = re.compile(
    rf"(?:\b(?:{_CHOOSE}|{_IT_IS}|{_BEST_IS})\b|\b(?:actually|wait|by elimination),|\bmost likely"
    r"|\b(?:correct|right|final|best)\s?:"
    r"|(?:\A|(?<=[.\n]))\W*(?:image|picture|option|number|statement|caption)\s?:)(?:[\s:\"'(\[]|\b(?:that|the|option|only|one|labell?ed|therefore|first|second|third|fourth|fifth|last)\b){0,8}\Z",
    re.I,
)
_CONCLUDES = re.compile(
    r"(?:\A|(?<=[.\n]))\W*(?:therefore|thus|hence|so|consequently|in conclusion|ultimately)\b[,:]?\s?"
    r"(?:[^.?!\n,]{0,40}\b(?:is|be|are)\b\s?|i would say\s|the\s)?\W{0,3}\Z",
    re.I,
)
_NOT_THIS_BUT = re.compile(r"\bnot\s[^.;\n]{1,100}\bbut\s(?:rather\s)?\W{0,3}\Z", re.I)
_ONLY_THIS = re.compile(r"\bonly\s(?:\w+\s)?\Z|只有\Z", re.I)
_SURELY = re.compile(
    r"(?:\A|(?<=[.!\n]))\W*(?:clearly|definitely|obviously|certainly|probably|surely)\b[,\s]{0,2}\W{0,3}\Z", re.I
)
_NO_ANNOUNCEMENT = re.compile(
    r"\b(?:not|never|cannot|can't|couldn't|won't|wouldn't|don't|unable to)\s(?:\w+\s){0,2}"
    r"(?:choose|pick|select|go with|say|opt for|believe|think|be|answer)\b[^.,;\n]{0,40}\Z"
    r"|\b(?:worst|wrong|incorrect|least \w+|poor|second[- ]best|other|tempting)\s(?:\w+\s)?"
    r"(?:answer|choice|option|image|one|picture)\b[^.,;\n]{0,40}\Z"
    r"|\b(?:mistake|error|second (?:choice|guess))\b[^.,;\n]{0,60}\Z"
    r"|\b(?:não|no es|nicht|n'est pas)\s[^.,;\n]{0,20}\Z|不是\W?\Z"
    r"|\b(?:that|which|who)\s(?:(?:does|do|did|is|are|was|would)(?:n't|\snot)|cannot|fails)\b[^.,;\n]{0,60}\Z"
    r"|\bif\b(?!\si\b)[^;.\n]{0,60}\b(?:were|had)\b[^;.\n]{0,60}\bwould\b[^,;.\n]{0,40}\Z"
    r"|\b(?:if(?!\si\s(?:had to|must|have to)\b)|unless|whether|suppose|assuming)\b[^,;.\n]{0,100}\Z",
    re.I,
)
_IS_IT = re.compile(
    r"""[)\]"'\s]{0,3}(?:\s?\([^()\n]{1,60}\)\s|"[^"\n]{1,60}"\s)?(?:(?:is|are|was|would be|must be)\s)?"""
    r"(?:(?:the|clearly|likely|most likely|definitely|therefore|my)\s){0,3}"
    r"(?:(?:best|funniest|correct|right|closest|final|most (?:suitable|fitting|appropriate|accurate|likely)"
    r"|only correct|answer|choice|one that best)\b|是?正确)",
    re.I,
)
_LEADS_ON = (":", "is", "be", "=")
_LEAD_LINE = re.compile(r"\b(?:is|be|that|towards?)\s?:\s*\Z", re.I)
_CORRESPONDS = re.compile(
    r"\b(?:corresponds? to|correspond(?:ing|s)?\b[^.?!\n]{0,80}?\b(?:is|be))(?:[\s:\"'(\[]|\bthe\b){0,8}\Z", re.I
)


def _announced(page: Page) -> Read[int] | None:
    """The option behind the last announcement, or that is said to be the answer."""
    boxes = list(_boxes(page))
    said = _last_run(page, _is_announced)
    if said is None and not boxes:
        said = _corresponding_run(page)
    announcements = [[box] for box in boxes[-1:]]
    if said is not None:
        announcements.append(said.evidence("announced"))
    if not announcements:
        return None

    last = max(announcements, key=lambda announcement: announcement[0].start)
    if any(none.start() > last[-1].end for none in ANNOUNCED_NONE.finditer(page.text)):
        return Read(None, "refused", "refusal")
    values = {evidence.value for evidence in last}
    if last[0] in boxes:
        values.update(box.value for box in boxes)
    mention = Mention(last[0].value, last[0].start, last[0].end, "bare")
    if len(values) > 1 or page.contradicts_its_text(mention) or _goes_on_as_list(page, mention):
        return Read(None, "ambiguous", "conflict")
    if _is_of_other_text(page, mention):
        return Read(None, "ambiguous", "conflict")
    return Read(last[0].value, "read", "announced")


def _is_of_other_text(page: Page, mention: Mention) -> bool:
    """Whether the answer says the text of another option before a letter, and never that of the letter."""
    if mention.value in {run.first.value for run in page.text_runs}:
        return False
    before = [
        run for run in page.text_runs if run.end <= mention.start and _LETTERS.search(page.text, run.start, run.end)
    ]
    return any(_is_text_said(page, run) for run in before)


def _last_run(page: Page, is_announced: Callable[[Page, Run], bool]) -> Run | None:
    """The last run of mentions that is announced; one of all options is the echo of the question."""
    for run in reversed(page.runs):
        if not run.is_echo and is_announced(page, run):
            return run
    return None


def _is_announced(page: Page, run: Run) -> bool:
    around = page.around(run)
    if around.asked or is_denied_behind(around.behind):
        return False
    before = around.before
    if page.opens_line(run.first) and around.back.rstrip().endswith(_LEADS_ON):
        before = around.back  # "The answer is:\n\n(B)"
        if _LEAD_LINE.search(before) and not _NO_ANNOUNCEMENT.search(before.rstrip(": \n")):
            return True
    if _NO_ANNOUNCEMENT.search(before):
        return False
    if ANNOUNCED.search(before) or _CHOSEN.search(before) or _CONCLUDES.search(before) or _NOT_THIS_BUT.search(before):
        return True
    if not page.is_evidence(run):
        return False
    if _SURELY.search(before) and _ENDS_A_HEAD.match(page.text, run.end):
        return True
    return bool(_IS_IT.match(around.behind) or _ONLY_THIS.search(before))


def _corresponding_run(page: Page) -> Run | None:
    """The one option that something is said to correspond to: less than the announcement of an answer."""
    corresponding = [run for run in page.runs if _corresponds(page, run)]
    if len({run.first.value for run in corresponding}) > 1:
        return None
    return corresponding[-1] if corresponding else None


def _corresponds(page: Page, run: Run) -> bool:
    is_offered = 0 <= run.first.value < page.choices.count and not run.is_echo
    return is_offered and page.is_evidence(run) and _CORRESPONDS.search(page.around(run).before) is not None


def _goes_on_as_list(page: Page, mention: Mention) -> bool:
    """Whether the option opens its line, and another the next: "I would say:\\n(B) ...\\n(C) ..."."""
    if not page.opens_line(mention):
        return False
    line_end = page.text.find("\n", mention.end)
    for other in page.list_items:
        if other.value != mention.value and page.text.find("\n", mention.end, other.start) == line_end:
            between = page.text[line_end : other.start]
            if other.start > line_end >= 0 and between.count("\n") == 1 and page.opens_line(other):
                return True
    return False


# --- LaTeX's boxes ---

_BOX = re.compile(r"\\(?:boxed|fbox|framebox)\s?(?:(?P<brace>\{)|(?P<name>[A-Z])(?!\w))", re.I)
_IN_BOX = re.compile(
    r"(?:\s|\\(?:text|math|bf|rm|large)\w{0,8}|[{(\[\"'])*(?:answer:\s|(?:option|image|picture|caption|choice|statement)\s)?(?P<name>[A-Z]|\d{1,4})"
    r"(?:[)\]}\"'\s]*\Z|[)}\]]|\s?[:.,;-]|\s(?:and|or)\b|\\)",
    re.I,
)
_NEXT_IN_BOX = re.compile(r"[)\]}\"'\s]{0,4}(?:,|;|\band\b|\bor\b)[({\[\"'\s]{0,4}(?P<name>[A-Z]|\d{1,4})(?!\w)")
_LONGEST_BOX = 200


def _boxes(page: Page) -> Iterator[Evidence]:
    """The options in LaTeX's boxes: a name, perhaps with its text behind it; nothing of a formula."""
    for box in _BOX.finditer(page.text):
        if box["name"]:
            names = [box["name"]]
        else:
            names = _names_in_box(_up_to_closing_brace(page.text[box.end() : box.end() + _LONGEST_BOX]))
        for name in names:
            if name.isdigit() == (page.choices.names == "numbers"):
                value = int(name) - 1 if name.isdigit() else ord(name.upper()) - ord("A")
                yield Evidence(value, box.start(), box.end(), "announced")


def _names_in_box(content: str) -> list[str]:
    """The name of the option in a box; two names where it holds "A, B"."""
    first = _IN_BOX.match(content)
    if first is None:
        return []
    following = _NEXT_IN_BOX.match(content, first.end("name"))
    names = [first["name"]]
    if following:
        names.append(following["name"])
    return names


def _up_to_closing_brace(text: str) -> str:
    """A text up to the brace that closes one which was opened before it."""
    depth = 1
    for place, sign in enumerate(text):
        if sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
        if depth == 0:
            return text[:place]
    return text


# --- a text that is announced ---

_LETTERS = re.compile(r"[^\W\d]{2}")
_BESIDE_TEXT = re.compile(r"""[.,]?["']?\s?[,(]{0,2}\s?""")
_IS = re.compile(r"\b(?:is|be|says?|conveys?)[\s:\"'(]*\Z")
_ENDS_A_TEXT = re.compile(r"""[.!]?["')\s]{0,3}(?:[.,;:!()\n]|\Z|\b(?:because|since|as|which|from|and)\b)""", re.I)


def _announced_text(page: Page) -> Read[int] | None:
    """The option whose text is announced as letters are, or stands behind "is"; the last such one."""
    for run in reversed(page.text_runs):
        if not _is_text_said(page, run):
            continue
        beside = [mention for mention in page.mentions if _BESIDE_TEXT.fullmatch(page.text, run.end, mention.start)]
        if any(mention.value != run.first.value for mention in beside):
            return Read(None, "ambiguous", "conflict")
        return Read(run.first.value, "read", "announced")
    return None


def _is_text_said(page: Page, run: Run) -> bool:
    before = page.around(run).before
    if _NOT_THIS_BUT.search(before):
        return True
    if _NO_ANNOUNCEMENT.search(before) or _HEDGED.search(before) or not page.is_evidence(run):
        return False
    is_announced = ANNOUNCED.search(before) or _CHOSEN.search(before) or _IS.search(before)
    return bool(is_announced and _ENDS_A_TEXT.match(page.text, run.end))


# --- head ---

_ENDS_A_HEAD = re.compile(
    r"""[)\]"'}]{0,2}\s{0,3}(?:[.,;)\n-]|\((?!\w\))|\Z|(?:rather than|instead of|and not|not|because|since)\b)""", re.I
)
_GOES_ON_AS_SENTENCE = re.compile(
    r"""[)\]"'}]{0,2}\s{0,3}(?:,\s?(?:which|who|where|with|while|showing|the|on)\b"""
    r"|(?:is|isn't|was|shows?|depicts|has|does|doesn't|seems|appears|represents|illustrates|conveys|and|or|while)\b)",
    re.I,
)


def _head(page: Page) -> Read[int] | None:
    """The option with which the answer begins, or that has the first or the last line for itself."""
    if not page.runs:
        return None
    line = _line_alone(page)
    if line is not None:
        return Read(line.value, "read", "head")

    first_run = page.runs[0]
    first = first_run.first
    if _is_verdict_above_list(page, first_run):
        return Read(first.value, "read", "head")
    if len(first_run.mentions) > 1 or WORD.search(page.text, 0, first.start) or page.around(first_run).asked:
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
        if page.opens_line(mention) and page.closes_line(mention) and not COLON.match(page.text, mention.end):
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
        return page.choices.names == "numbers" or (first.form in ("bare", "bracketed") and text[-1] in ".!")
    return first.form == "bracketed" or text[first.end - 1] == ")" or _ENDS_A_HEAD.match(text, first.end) is not None


def _is_verdict_above_list(page: Page, run: Run) -> bool:
    """Whether the first paragraph names one option in its own sentence, and all are explained in a list below it."""
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
    others_above = [mention for mention in page.mentions if run.end <= mention.start < blank_line.start()]
    return not others_above and page.is_evidence(run)


def _is_repeated_below(page: Page, first: Mention) -> bool:
    """Whether a verdict stands above a list of all options: its option is an item of that list too."""
    for mention in page.mentions:
        if mention.start > first.end and mention.value == first.value and page.opens_line(mention):
            return True
    return False


# --- judged ---

_CHECKED_BEFORE = re.compile(r"\[\s?[xX]\s?\][ \t]{0,3}\Z|[\u2713\u2714\u2705\u2611][ \t]{0,3}\Z")
_UNCHECKED_BEFORE = re.compile(r"\[\s{0,2}\][ \t]{0,3}\Z|[\u2717\u2718\u274c\u2610][ \t]{0,3}\Z")
_AFFIRMED_BEHIND = re.compile(
    r"\W{0,6}(?:yes|correct|true|right|best|match(?:es)?|fits?|suitable|appropriate)\b|\W{0,6}[\u2713\u2714\u2705]",
    re.I,
)
_REFUTED_BEHIND = re.compile(
    r"\W{0,6}(?:no|incorrect|false|wrong|not|does not|doesn't|unsuitable)\b|\W{0,6}[\u2717\u2718\u274c]", re.I
)


def _judged(page: Page) -> Read[int] | None:
    """The one option that a list affirms which judges each of its items."""
    affirmed: list[Evidence] = []
    for item in page.list_items:
        before = page.text[max(0, item.start - 8) : item.start]
        behind = page.text[item.end : item.end + 40]
        if _CHECKED_BEFORE.search(before) or _AFFIRMED_BEHIND.match(behind):
            affirmed.append(Evidence(item.value, item.start, item.end, "judged"))
        elif not (_UNCHECKED_BEFORE.search(before) or _REFUTED_BEHIND.match(behind)):
            return None
    return decide(page.answer, affirmed)


# --- last paragraph, and the whole answer ---


_LEADS_A_LIST = re.compile(
    r"(?:\b(?:options|choices|images|pictures|points|captions|statements|others?|each|each (?:one|option|image))\b"
    r"[^.:\n]{0,40}:|\b(?:let me|let's|look at|looking at|i'll|i will)\b[^.:\n]{0,60}"
    r"\b(?:each|one by one)\b[^.:\n]{0,30}[.:])\W{1,8}\Z",
    re.I,
)
_LONGEST_TEXT_WITHOUT_END = 40
_ENDS_WITHIN_A_SENTENCE = re.compile(r"\b(?:is|are|was|has|the|an?|of|at|on|in|to|and|that|for|with|which)\s?\Z", re.I)
_COURTESY = re.compile(
    r"\n\s{0,3}(?:i hope|hope (?:this|that)|(?:please )?let me know|did i|feel free|is there anything)\b[^\n]{0,200}\Z",
    re.I,
)


def _last_paragraph(page: Page) -> Read[int] | None:
    """The only option that the last paragraph names."""
    breaks = list(BLANK_LINE.finditer(_COURTESY.sub("", page.text).rstrip()))
    start = breaks[-1].end() if breaks else 0
    runs = [run for run in page.runs if run.start >= start]
    bracketed = [run for run in runs if any(mention.form == "bracketed" for mention in run.mentions)]
    if bracketed and (_opens_a_list(page, bracketed[0].first) or _is_cut_off_behind(page, bracketed[-1])):
        return None
    if bracketed:
        return _only_of(page, bracketed, "last_paragraph")
    if not breaks or page.declines or not page.is_finished:
        return None
    return _only_of(page, runs, "last_paragraph")


def _opens_a_list(page: Page, mention: Mention) -> bool:
    """Whether a mention is the first item of a list, of which no more may be written: "The options:\n\n(A) ..."."""
    return (
        page.opens_line(mention)
        and _LEADS_A_LIST.search(page.text, max(0, mention.start - 120), mention.start) is not None
    )


def _is_cut_off_behind(page: Page, run: Run) -> bool:
    """Whether an answer breaks off in a sentence about an option; "(C) About the same" needs no full stop."""
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
    """The one option of some runs that is neither denied nor in a list; ambiguous if there are two, none of more."""
    evidence: list[Evidence] = []
    for run in runs:
        if page.is_in_list(run.first) or not page.is_evidence(run):
            continue
        if run.is_echo:
            if run.is_range or len({mention.value for mention in run.mentions}) >= page.choices.count:
                continue
            return Read(None, "ambiguous", "conflict")  # "either (A), (B) or (D)"
        if not _is_name_of_option(page, run) or not 0 <= run.first.value < page.choices.count:
            continue
        if run.first.form != "bracketed" and COLON.match(page.text, run.end):
            continue  # "Image A: a man" describes it.
        if page.contradicts_its_text(run.first):
            return Read(None, "ambiguous", "conflict")
        evidence += run.evidence(rule)
    if len({each.value for each in evidence}) > 2:
        return None  # So many are described.
    return decide(page.answer, evidence)


_BEHIND_A_NOUN = re.compile(r"\w[\s(]{0,2}\Z")
_IN_A_PICTURE = re.compile(r"\W*in\s", re.I)  # "In the first image, the man smiles."
_BEHIND_A_CONJUNCTION = re.compile(r"\b(?:that|only|because|and|but|so|while|whereas)\s\Z", re.I)


def _is_name_of_option(page: Page, run: Run) -> bool:
    """Whether a bare letter may be an option and not part of another name: "vitamin C", "3 years old"."""
    if page.text.startswith(("letter", "Letter"), run.start):
        return False  # "The letter A stands in a circle."
    before = page.around(run).before
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
        is_said_to_fit = _FITS.match(page.around(run).behind) is not None
        if is_said_to_fit and page.is_evidence(run) and _is_name_of_option(page, run):
            evidence += run.evidence("named")
    return decide(page.answer, evidence)


# --- text ---

_HEDGED = re.compile(r"\b(?:may|might|could)\b", re.I)
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n")


def _text(page: Page) -> Read[int] | None:
    """The option whose text, and no other's, the last sentence says, or else the first."""
    if page.declines:
        return None
    for start, end in _conclusions(page.text):
        evidence: list[Evidence] = []
        for run in page.text_runs:
            is_hedged = _HEDGED.search(page.around(run).before)
            if start <= run.start < end and page.is_evidence(run) and not is_hedged:
                evidence += run.evidence("text")
        reading = decide(page.answer, evidence)
        if reading is not None:
            return reading
    return None


def _conclusions(text: str) -> Iterator[tuple[int, int]]:
    """Where the last sentence stands, which concludes; then the first, which may answer before it gives reasons."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text.rstrip())]
    if not ends:
        yield 0, len(text)
        return
    yield ends[-1], len(text)
    yield 0, ends[0]


_TIERS: tuple[Callable[[Page], Read[int] | None], ...] = (
    _alone,
    _announced,
    _announced_text,
    _head,
    _judged,
    _last_paragraph,
    _named,
    _only,
    _text,
)
