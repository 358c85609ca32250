"""The words of `figlang_mini_flute`: every sentence and explanation, written by hand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One row, in the columns of FLUTE on the hub; `split` is "train" in all."""

    id: int
    premise: str
    hypothesis: str
    label: str
    explanation: str
    type: str
    idiom: str = ""


@dataclass(frozen=True)
class _Literal:
    """A literal premise with the sentences that are set against it: E(ntailed) or C(ontradicted), and why."""

    premise: str
    against: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class _Figure:
    """A figurative hypothesis with one literal premise that entails it, and one that contradicts it."""

    type: str
    hypothesis: str
    entails: tuple[str, str]
    contradicts: tuple[str, str]
    idiom: str = ""


_SARCASM = (
    _Literal(
        "The printer jammed three times while I was printing my thesis.",
        (
            (
                "E",
                "I was at my wits' end when the printer kept jamming in the middle of my thesis.",
                "A printer that jams again and again holds up an important job, and that makes people despair.",
            ),
            (
                "C",
                "I could not have been happier that the printer kept jamming in the middle of my thesis.",
                "A jammed printer delays the thesis and costs nerves, so nobody would be happy about it.",
            ),
        ),
    ),
    _Literal(
        "My flatmate left the dirty dishes in the sink for a week.",
        (
            (
                "E",
                "It disgusts me that my flatmate lets the dishes rot in the sink for days on end.",
                "Dishes that stand in a sink for a week smell and gather mould, which most people find disgusting.",
            ),
            (
                "C",
                "How thoughtful of my flatmate to decorate the sink with a week's worth of dishes.",
                "Dirty dishes are a nuisance and no decoration, so leaving them there is the opposite of thoughtful.",
            ),
            (
                "C",
                "I adore coming home to a sink that my flatmate has filled with a week of dirty dishes.",
                "A sink full of old dishes is unpleasant to come home to, so one would hardly adore it.",
            ),
        ),
    ),
    _Literal(
        "The train was cancelled and I missed my sister's wedding.",
        (
            (
                "E",
                "I was heartbroken because the cancelled train made me miss the wedding of my sister.",
                "A sister's wedding happens once, and missing it through no fault of one's own is very sad.",
            ),
            (
                "C",
                "What a stroke of luck that the train was cancelled and spared me my sister's wedding.",
                "People want to be at the wedding of a sister, so missing it is a misfortune and no luck.",
            ),
        ),
    ),
    _Literal(
        "Our neighbour plays the drums after midnight.",
        (
            (
                "E",
                "I lie awake and fume whenever the neighbour starts drumming in the middle of the night.",
                "Drums are loud and keep people from sleeping, so it is natural to be angry about them at night.",
            ),
            (
                "C",
                "Nothing sends me to sleep as gently as our neighbour's drums after midnight.",
                "Drums are loud and wake people up, so they cannot send anybody gently to sleep.",
            ),
            (
                "C",
                "I am ever so grateful for the free drum concert at one in the morning.",
                "Noise in the night robs people of their sleep, which is a reason to complain and not to be grateful.",
            ),
        ),
    ),
    _Literal(
        "The waiter spilled soup on my new jacket.",
        (
            (
                "E",
                "I was annoyed when the waiter poured soup over the jacket that I had just bought.",
                "Soup stains clothes, and a stain on a new jacket annoys its owner.",
            ),
            (
                "C",
                "My new jacket was only waiting for a splash of soup, so I thanked the waiter warmly.",
                "A stain spoils a new jacket, so there is nothing to thank the waiter for.",
            ),
        ),
    ),
    _Literal(
        'My boss called my report "useless" in front of everybody.',
        (
            (
                "E",
                "I felt humiliated when the boss dismissed my report before the whole team.",
                "Being criticised harshly in public is embarrassing and hurts a person's pride.",
            ),
            (
                "C",
                "It did wonders for my confidence when the boss dismissed my report before the whole team.",
                "Harsh criticism in public makes people doubt themselves, so it cannot lift their confidence.",
            ),
        ),
    ),
)

_FIGURES = (
    _Figure(
        "Simile", "His apology was like a plaster on a broken leg.",
        ("His apology did not nearly make up for what he had done.",
         "A plaster is far too little for a broken leg, so the apology was far too little for the harm done."),
        ("His apology made up for everything that he had done.",
         "A plaster does not help a broken leg, so the apology cannot have made up for everything."),
    ),
    _Figure(
        "Simile", "The old lift moved like a sleepy tortoise.",
        ("The old lift moved very slowly.",
         "Tortoises are slow, and sleepy ones slower still, so the lift took a long time."),
        ("The old lift shot up to the top floor in a moment.",
         "A sleepy tortoise hardly moves, whereas a lift that shoots up is fast."),
    ),
    _Figure(
        "Simile", "Her memory is like a sieve.",
        ("She forgets most of what she is told.",
         "A sieve lets through what is poured into it, just as her memory does not hold what she hears."),
        ("She remembers every word that she is told.",
         "A sieve holds nothing back, so a memory like a sieve cannot keep every word."),
    ),
    _Figure(
        "Metaphor", "The committee buried the proposal.",
        ("The committee made sure that the proposal was never heard of again.",
         "What is buried is out of sight for good, so the proposal was put away for ever."),
        ("The committee put the proposal at the top of its agenda.",
         "To bury something is to hide it, while the top of an agenda is where everybody sees it."),
    ),
    _Figure(
        "Metaphor", "His voice was sandpaper.",
        ("His voice sounded rough and hoarse.",
         "Sandpaper has a rough surface, so a voice that is sandpaper sounds rough."),
        ("His voice sounded smooth and soft.",
         "Sandpaper is rough to the touch, which is the opposite of smooth and soft."),
    ),
    _Figure(
        "Metaphor", "The exam was a walk along the beach.",
        ("The exam was easy and I did not feel any pressure.",
         "A walk along the beach is relaxing and takes no effort, so the exam was easy."),
        ("The exam was so hard that I left it trembling.",
         "A walk along the beach is relaxing, while an exam that leaves one trembling is anything but that."),
    ),
    _Figure(
        "Idiom", "When the bill came, Tom had cold feet about the investment.",
        ("When the bill came, Tom became too nervous to go on with the investment.",
         "To have cold feet means to lose one's courage about a plan, which is what happened to Tom."),
        ("When the bill came, Tom was surer than ever of the investment.",
         "To have cold feet means to lose one's courage, so Tom cannot have been surer than ever."),
        "have cold feet",
    ),
    _Figure(
        "Idiom", "The twins are like two peas in a pod, and they let the cat out of the bag about the party.",
        ("The twins are very much alike, and they gave away the secret of the party.",
         "To let the cat out of the bag means to reveal a secret, here that there is to be a party."),
        ("The twins are very much alike, and they told nobody about the party.",
         "To let the cat out of the bag means to reveal a secret, so they did tell somebody."),
        "let the cat out of the bag",
    ),
    _Figure(
        "Idiom", "After the merger the small bakery was hanging by a thread.",
        ("After the merger the small bakery was close to going out of business.",
         "To hang by a thread means to be in great danger of coming to an end, as the bakery was."),
        ("After the merger the small bakery had nothing to fear for years to come.",
         "To hang by a thread means to be in great danger, so the bakery had much to fear."),
        "hang by a thread",
    ),
)  # fmt: skip


def rows() -> list[Row]:
    """All rows in order. Rows of one premise, or of one figure, share an id, as in FLUTE; ids start anew in each
    portion."""
    found = []
    for number, literal in enumerate(_SARCASM):
        for mark, hypothesis, explanation in literal.against:
            label, kind = ("Entailment", "CreativeParaphrase") if mark == "E" else ("Contradiction", "Sarcasm")
            found.append(Row(number, literal.premise, hypothesis, label, explanation, kind))
    for number, figure in enumerate(_FIGURES):
        for label, (premise, explanation) in (("Entailment", figure.entails), ("Contradiction", figure.contradicts)):
            found.append(Row(number % 3, premise, figure.hypothesis, label, explanation, figure.type, figure.idiom))
    return found
