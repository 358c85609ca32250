"""COCO's tokens of a text, without Java.

`tokenize` stands in for Stanford's PTBTokenizer, which COCO's code calls.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

TOKENIZER = "ptb-1"
"""The name of `tokenize` in signatures; bump it when the tokens change."""

# Characters that PTBTokenizer writes in another way.
_ASCII_FORMS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201b", "'"),
        **dict.fromkeys("\u201c\u201d", '"'),
        **dict.fromkeys("\u2013\u2014", "--"),
        "\u2026": "...",
        "\u00a0": " ",
        "\u00ad": "",
        "\u00bd": "1/2",
        "\u00bc": "1/4",
        "\u00be": "3/4",
        "\u20ac": "$",
        "\u00a3": "#",
        "\u00a2": "cents",
    }
)
# Words that are one token with the point behind them.
_ABBREVIATIONS = (
    "mr|mrs|ms|dr|prof|st|ave|blvd|rd|jr|sr|vs|etc|inc|ltd|co|corp|bros|dept|gen|gov|sen|rep|sgt"
    "|capt|lt|col|maj|rev|hon"
    "|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|mon|tue|tues|wed|thu|thurs|fri"
    "|cf|ft|mt|al|est|ext"
    r"|ph\.d|e\.g|i\.e|a\.m|p\.m"
)
_TOKEN = re.compile(
    rf"""
    (?:https?://|www\.)[^\s"<>|(){{}}]{{0,500}}[^\s"<>|.!?(){{}},;:'-]  # addresses
  | [a-z0-9][\w.%+-]{{0,80}}@[\w-]{{1,80}}(?:\.[\w-]+)+
  | </?[a-z][^<>\n]{{0,80}}>                        # tags
  | [\#@][a-z]\w*                                   # hashtags and names
  | (?:{_ABBREVIATIONS})\.(?!\w)
  | no\.(?=\s\d)
  | (?<![\w.])[^\W\d_](?=\.[\s"')\]]{{0,8}}\Z)     # plan b. (but u.s.)
  | (?:[^\W\d_]\.)+(?![^\W\d_]{{2}})(?:[^\W\d_](?!\w))?   # u.s., j.k.
  | '?(?:tis|twas)\b | 'n'(?!\w)
  | (?<!\w)'(?:ll|s|d|ve|re|m|til|cause|em)\b
  | \d+(?:[,:]\d+)+(?:\.\d+)?(?:-[^\W\d_]+)*        # 20,000.50 and 20,000-seat
  | (?<!\w)\.\d+
  | [^\W_](?:\w|[.'&/@-](?=\w))*                    # words, with what holds their parts together
  | \.{{2,}} | \*{{2,}} | [!?]{{2,}} | --+ | ''?
  | \S
    """,
    re.VERBOSE,
)
_DROPPED = frozenset(("''", "'", "``", "`", '"', ".", "?", "!", ",", ":", ";"))
_RENAMED = {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}
_SPLIT = {
    "cannot": ("can", "not"),
    "gonna": ("gon", "na"),
    "gotta": ("got", "ta"),
    "wanna": ("wan", "na"),
    "lemme": ("lem", "me"),
    "gimme": ("gim", "me"),
    "dunno": ("du", "n", "no"),
    "rock'n'roll": ("rock", "'n'", "roll"),
    "y'all": ("y'", "all"),
    "'tis": ("'t", "is"),
    "'twas": ("'t", "was"),
}
_CLITIC = re.compile(r"(?:n't|'(?:s|re|ve|ll|d|m))\Z")


def tokenize(text: str) -> tuple[str, ...]:
    """The tokens of a text that COCO's metrics compare, e.g. ``('the', 'smoker', "'s", 'habit')``.

    COCO's code uses Stanford's PTBTokenizer in lower case and drops punctuation. This follows it:

    1. Curly quotes become straight, dashes and ellipses ASCII, and the text lower case.
    2. Tokens are separated at white space and around punctuation, currency, ``%`` and the like. One
       token each are words with their inner hyphens, slashes, ampersands and points
       (``life-shortening``, ``and/or``, ``at&t``), numbers (``20,000.50``, ``3/4``), addresses,
       hashtags, and abbreviations and initials with their point (``mr.``, ``u.s.``).
    3. Clitics are split off (``smoker 's``, ``do n't``, ``they 've``), as are ``can not``, ``gon
       na`` and their kind.
    4. Dropped are ``. ? ! , : ; - -- ...`` and quotes. Brackets become ``-lrb-`` and ``-rrb-``
       (square: ``-lsb-``, curly: ``-lcb-``) and stay: COCO's list of what to drop has them in
       capitals. So do ``!!`` and ``?!``.

    Of 19,235 texts of FLUTE and V-FLUTE 99.9 % get the very same tokens as from PTBTokenizer. It
    differs for smileys, ``mac&cheese``, the point of a single letter at the end of a sentence in
    the middle, and rarer things.

    Args:
        text: any text.

    Returns:
        The tokens, in order; none if the text has only white space and punctuation.

    Examples:
        >>> tokenize("The smoker's life-shortening habit.")
        ('the', 'smoker', "'s", 'life-shortening', 'habit')

    Source: COCO's evaluation code, ``tokenizer/ptbtokenizer.py``.
    """
    tokens: list[str] = []
    for match in _TOKEN.finditer(text.translate(_ASCII_FORMS).lower()):
        token = match[0]
        is_dots_or_dashes = set(token) <= {".", "-"}
        if token in _DROPPED or is_dots_or_dashes:
            continue
        if token in _RENAMED:
            tokens.append(_RENAMED[token])
        elif token in _SPLIT:
            tokens.extend(_SPLIT[token])
        else:
            tokens.extend(_without_clitic(token))
    return tuple(tokens)


def _without_clitic(token: str) -> tuple[str, ...]:
    """The token, or its word and its clitic: ``("do", "n't")``."""
    clitic = _CLITIC.search(token)
    if clitic is None or clitic.start() == 0:
        return (token,)
    return token[: clitic.start()], clitic[0]


def tokenize_pairs(
    candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]]]:
    """Candidates and references, each text as its tokens with single blanks between them.

    Args:
        candidates: n texts, at least one; a text without tokens becomes "".
        references: for each candidate at least one text, each with at least one token.

    Returns:
        The n candidates, and for each the list of its references.

    Raises:
        ValueError: no candidates, unequal numbers, or a candidate without references or with one
            that has no token (names its index).
    """
    if not candidates or len(candidates) != len(references):
        raise ValueError(
            f"{len(candidates)} candidates and {len(references)} lists of references: give one for"
            " each"
        )
    tokenized_references: list[list[str]] = []
    for index, texts in enumerate(references):
        tokenized = [" ".join(tokenize(text)) for text in texts]
        if not tokenized or "" in tokenized:
            raise ValueError(
                f"references[{index}] is {texts!r}, must be texts with words to compare"
            )
        tokenized_references.append(tokenized)
    tokenized_candidates = [" ".join(tokenize(text)) for text in candidates]
    return tokenized_candidates, tokenized_references
