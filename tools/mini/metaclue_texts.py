"""The words of `figlang_mini_metaclue`: what each advertisement compares with what, written by hand.

An entry has three wordings of each part; its annotations are all 27 combinations, so that forty pictures have enough
statements for 1,000 candidates. The first combination is the best one.
"""

from __future__ import annotations

from dataclasses import dataclass

# Far from the seeds of the other mini sets and of the demo model's training.
FIRST_SEED = 970_000


@dataclass(frozen=True)
class Metaphor:
    """One advertisement with a metaphor.

    Attributes:
        split: ``train`` or ``test``.
        topic: what is advertised.
        primary, relationship, secondary: three wordings each.
        shown: how each concept is there: ``explicit`` (drawn), ``contextual`` (hinted at by a faint drawing), ``logo``
            or ``text``; of the primary, then of the secondary concept, several joined by "+".
        drawn: concepts of `draw` for the two roles; empty where none is drawn.
        headline: the words of a text box; also printed where no concept is a text, then as decoration.
    """

    split: str
    topic: str
    primary: tuple[str, str, str]
    relationship: tuple[str, str, str]
    secondary: tuple[str, str, str]
    shown: tuple[str, str]
    drawn: tuple[str, str]
    headline: str


@dataclass(frozen=True)
class Negative:
    """An advertisement without a metaphor: its split, set, topic, what is drawn, and what is printed."""

    split: str
    set: str
    topic: str
    drawn: str
    headline: str


def _metaphor(split: str, topic: str, words: str, shown: str, drawn: str, headline: str) -> Metaphor:
    """`words`: the three parts divided by ";", their wordings by "|"; `shown` and `drawn`: two divided by ";"."""
    primary, relationship, secondary = (tuple(part.strip().split("|")) for part in words.split(";"))
    pair = tuple(part.strip() for part in drawn.split(";"))
    ways = tuple(part.strip() for part in shown.split(";"))
    return Metaphor(split, topic, primary, relationship, secondary, ways, pair, headline)  # type: ignore[arg-type]


_TEST = (
    # topic, words, how shown, what is drawn, headline
    ("home", "this lamp|our new lamp|the desk lamp; bright|radiant|dazzling; the sun|a summer sun|the midday sun",
     "explicit; explicit", "light bulb; sun", "LUMEN"),
    ("home", "the night light|this little lamp|a bedside lamp; comforting|warm|kind; a heart|a loving heart|a mother",
     "explicit; explicit", "light bulb; heart", "SLEEP TIGHT"),
    ("home", "this alarm clock|the old alarm clock|our clock; stubborn|obstinate|unyielding; a mule|an old mule|"
     "a donkey",
     "explicit+text; explicit", "broken clock; mule", "RING"),
    ("home", "the attic ladder|this folding ladder|our ladder; steady|firm|solid; an oak|a tree|an old oak tree",
     "explicit; explicit", "ladder; tree", "STEADFAST"),
    ("home", "fire insurance|this house policy|our home cover; reassuring|dependable|secure; an anchor|a ship's anchor|"
     "a good anchor", "contextual; explicit", "burning house; anchor", "COVERED"),
    ("travel", "this express train|the night train|our railway; fast|quick|swift; a rocket|a space rocket|"
     "a rocket at launch", "logo+text; explicit", "; rocket", "EXPRESS"),
    ("travel", "the island ferry|this ferry|our ferry; calm|peaceful|restful; a balloon ride|a balloon|"
     "a drifting balloon",
     "text; explicit", "; balloon", "FERRY"),
    ("travel", "this mountain hotel|the alpine hotel|our lodge; grand|majestic|royal; a crown|a king's crown|"
     "a golden crown", "explicit; explicit", "mountain; crown", "SUMMIT"),
    ("travel", "a detour through town|the way through town|the city route; confusing|puzzling|bewildering; a maze|"
     "a hedge maze|a labyrinth", "text; explicit", "; maze", "TAKE THE RING"),
    ("travel", "our flight|this airline|the morning flight; punctual|exact|precise; an hourglass|"
     "the sand in an hourglass|"
     "falling sand", "logo; explicit", "; hourglass", "ON TIME"),
    ("food", "this chilli sauce|the red sauce|our hot sauce; hot|fiery|burning; a house on fire|a blaze|"
     "a burning house",
     "logo; explicit", "; burning house", "SCORCH"),
    ("food", "this ice cream|the vanilla ice cream|our sorbet; cold|icy|frosty; an iceberg|a drifting iceberg|"
     "a glacier", "text+logo; explicit", "; iceberg", "SORBET"),
    ("food", "orange juice|this juice|our fresh juice; sunny|cheerful|golden; the sunrise|the morning sun|"
     "a bright morning",
     "text; contextual", "; sun", "JUICE"),
    ("food", "this coffee|the first coffee|our espresso; brave|bold|fearless; a lion|a proud lion|the king of beasts",
     "logo; explicit", "; lion", "ESPRESSO"),
    ("food", "slow cooking|this stew|our stew; unhurried|slow|patient; a snail|a garden snail|a snail on a leaf",
     "text; explicit", "; snail", "SLOW FOOD"),
    ("food", "the pastry chef|this baker|our confectioner; clever|sly|cunning; a fox|an old fox|a red fox",
     "text; explicit", "; fox", "PATISSERIE"),
    ("health", "smoking|a cigarette|every cigarette; deadly|harmful|destructive; a burning house|a house fire|"
     "setting your home on fire", "text; explicit", "; burning house", "QUIT"),
    ("health", "stress|constant stress|stress at work; violent|dark|threatening; a storm|a thunderstorm|a black cloud",
     "text; explicit", "; storm", "BREATHE"),
    ("health", "this heart pill|our heart medicine|the daily pill; supportive|protective|strong; a bridge|"
     "a stone bridge|"
     "a wide bridge", "explicit; explicit", "heart; bridge", "CARDIO"),
    ("health", "addiction|a drug habit|the habit; confining|hopeless|cruel; a cage|a locked cage|a prison",
     "text; explicit", "; cage", "GET OUT"),
    ("health", "a broken night|bad sleep|lack of sleep; painful|sad|hurtful; a broken heart|heartbreak|a torn heart",
     "contextual; explicit", "hourglass; broken heart", "SLEEP"),
    ("health", "physiotherapy|this exercise|daily exercise; gradual|upward|steady; a ladder|climbing a ladder|"
     "one rung after another", "logo; explicit", "; ladder", "STEP BY STEP"),
    ("nature", "melting ice|the melting Arctic|the polar ice; urgent|pressing|fleeting; running sand|"
     "an hourglass running out|"
     "the last grains of sand", "explicit; explicit", "iceberg; hourglass", "NOW"),
    ("nature", "felling a tree|cutting down a tree|a felled tree; heartbreaking|sad|cruel; a broken heart|"
     "losing a love|"
     "a heart in two", "explicit; explicit", "tree; broken heart", "KEEP IT"),
    ("nature", "a zoo cage|life in a cage|captivity; humiliating|helpless|lifeless; a puppet|being a puppet|"
     "a puppet on strings", "explicit; explicit", "cage; puppet", "SET FREE"),
    ("nature", "the old forest|this forest|our forest; proud|noble|kingly; a lion|an old lion|a lion with its mane",
     "explicit; contextual", "tree; lion", "OUR FOREST"),
    ("nature", "clean power|wind power|green power; promising|hopeful|new; a new idea|a light bulb|"
     "an idea that lights up",
     "text; explicit", "; light bulb", "WIND"),
    ("nature", "the climate crisis|global warming|the warming planet; hidden|deep|underestimated; "
     "an iceberg under water|"
     "what lies under an iceberg|the foot of an iceberg", "contextual; explicit", "storm; iceberg", "LOOK BELOW"),
    ("money", "this savings plan|our pension plan|the pension; lasting|rooted|long-lived; an old tree|"
     "a tree with deep roots|"
     "a great tree", "logo+text; explicit", "; tree", "PENSION"),
    ("money", "cheap credit|easy credit|a quick loan; tempting|tricky|treacherous; a fox at the door|a hungry fox|"
     "a fox with a smile", "text; explicit", "; fox", "READ THE SMALL PRINT"),
    ("money", "debt|growing debt|a pile of debt; crushing|steep|insurmountable; a mountain|a steep mountain|"
     "a wall of rock",
     "text; explicit", "; mountain", "DEBT"),
    ("money", "this bank|our bank|the village bank; connecting|helpful|reliable; a bridge over a river|"
     "a bridge to the other "
     "side|an old bridge", "logo; explicit", "; bridge", "BANK"),
    ("money", "gold card service|this gold card|our card; exclusive|regal|precious; wearing a crown|a jewelled crown|"
     "the crown jewels", "logo; contextual", "; crown", "GOLD"),
    ("media", "the evening paper|this newspaper|our paper; illuminating|enlightening|clear; a lit bulb|"
     "a lamp in the dark|"
     "a bulb switched on", "text; explicit", "; light bulb", "READ"),
    ("media", "fake news|a false report|propaganda; controlling|manipulative|scheming; a hand on strings|a puppeteer|"
     "a puppet master", "text; explicit", "; puppet", "WHO PULLS?"),
    ("media", "this video game|the new game|our adventure game; intricate|tangled|winding; a giant maze|"
     "a stone labyrinth|"
     "a maze with no exit", "logo; explicit", "; maze", "LEVEL 9"),
    ("media", "slow internet|your old router|dial-up; sluggish|tedious|dull; a snail's pace|a crawling snail|"
     "a snail race", "contextual; explicit", "broken clock; snail", "UPGRADE"),
    ("safety", "a seat belt|this seat belt|the belt; vital|essential|life-saving; a beating heart|your own heart|"
     "a heartbeat",
     "text; explicit", "; heart", "BUCKLE UP"),
    ("safety", "texting at the wheel|a phone at the wheel|texting while driving; fatal|final|irreversible; "
     "stopping the clock|"
     "a stopped clock|a broken clock", "contextual+text; explicit", "storm; broken clock", "PUT IT DOWN"),
    ("safety", "our life raft|this life jacket|the life vest; light|buoyant|uplifting; a hot-air balloon|"
     "a balloon in the sky|"
     "floating in the air", "logo; explicit", "; balloon", "AFLOAT"),
)  # fmt: skip
_TRAIN = (
    ("home", "this heater|our heater|the old stove; cosy|warming|snug; a bear hug|a warm heart|a hug", "text; explicit",
     "; heart", "WARM"),
    ("travel", "this sports car|the roadster|our coupe; fierce|wild|untamed; a roaring lion|a lion on the hunt|"
     "a wild lion", "logo; explicit", "; lion", "ROADSTER"),
    ("food", "black tea|this tea|our strong tea; anchoring|grounding|settling; dropping anchor|an anchor at sea|"
     "a safe harbour", "text; explicit", "; anchor", "TEA"),
    ("nature", "a dripping tap|wasted water|a leaking pipe; relentless|ceaseless|endless; sand running out|"
     "the sands of time|"
     "trickling sand", "contextual; explicit", "storm; hourglass", "SAVE"),
)  # fmt: skip
METAPHORS: tuple[Metaphor, ...] = (
    *(_metaphor("test", *entry) for entry in _TEST),
    *(_metaphor("train", *entry) for entry in _TRAIN),
)
_NEGATIVES = (
    ("test", "symbolic_negative", "home", "crown", "QUALITY"),
    ("test", "symbolic_negative", "travel", "balloon", "ADVENTURE"),
    ("test", "symbolic_negative", "food", "sun", "SUMMER"),
    ("test", "symbolic_negative", "health", "heart", "LOVE"),
    ("test", "symbolic_negative", "nature", "mountain", "FREEDOM"),
    ("test", "symbolic_negative", "money", "light bulb", "IDEAS"),
    ("test", "symbolic_negative", "media", "lion", "COURAGE"),
    ("test", "symbolic_negative", "safety", "anchor", "HOPE"),
    ("test", "symbolic_negative", "home", "bridge", "TRUST"),
    ("test", "symbolic_negative", "travel", "rocket", "FUTURE"),
    ("train", "symbolic_negative", "food", "tree", "ORIGIN"),
    ("train", "symbolic_negative", "media", "storm", "DRAMA"),
    ("train", "symbolic_negative", "money", "crown", "LUXURY"),
    ("test", "literal_negative", "home", "ladder", "LADDERS 20% OFF"),
    ("test", "literal_negative", "home", "light bulb", "4 BULBS 9.90"),
    ("test", "literal_negative", "travel", "balloon", "BALLOON RIDES"),
    ("test", "literal_negative", "travel", "bridge", "BRIDGE TOURS"),
    ("test", "literal_negative", "nature", "tree", "TREES FOR SALE"),
    ("test", "literal_negative", "home", "broken clock", "CLOCK REPAIR"),
    ("test", "literal_negative", "nature", "lion", "VISIT THE ZOO"),
    ("test", "literal_negative", "media", "puppet", "PUPPET SHOW"),
    ("train", "literal_negative", "home", "cage", "BIRD CAGES"),
    ("train", "literal_negative", "travel", "mountain", "SKI PASS 49"),
    ("train", "literal_negative", "safety", "anchor", "BOAT SUPPLIES"),
)
NEGATIVES: tuple[Negative, ...] = tuple(Negative(*entry) for entry in _NEGATIVES)
