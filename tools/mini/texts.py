"""The words of `figlang_mini`: every claim and explanation, written by hand for the picture named beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Split = Literal["train", "test"]
Label = Literal["entailment", "contradiction"]

# Far from the small seeds that the demo model trains on, and from each other.
TRAIN_SEED = 800_000
TEST_SEED = 900_000


@dataclass(frozen=True)
class Row:
    """One benchmark row before its picture is drawn.

    `concept` and `seed` are the arguments of `draw`; the other fields go into the data set as they are.
    """

    split: Split
    concept: str
    seed: int
    claim: str
    label: Label
    explanation: str
    phenomenon: str
    source_dataset: str


# source_dataset, phenomenon, pictured concept, E(ntailment) or C(ontradiction), claim, explanation
_Entry = tuple[str, str, str, str, str, str]

_TEST: tuple[_Entry, ...] = (
    # ---- vismet: visual metaphors and similes
    (
        "vismet", "simile", "mule", "E",
        "My grandfather is as stubborn as a mule about selling the farm.",
        "The image shows a mule, the animal we name when somebody refuses to budge. That suits a grandfather who "
        "will not hear of selling his farm.",
    ),
    (
        "vismet", "metaphor", "snail", "E",
        "The planning office is a snail.",
        "The image shows a snail creeping over the ground. Calling the planning office a snail says that it works "
        "very slowly, which is what the picture stands for.",
    ),
    (
        "vismet", "metaphor", "cage", "E",
        "Her well-paid job had become a cage.",
        "The image shows a bird behind the bars of a cage. It stands for being shut in, just as the job shuts in the "
        "woman of the claim however well it pays.",
    ),
    (
        "vismet", "simile", "iceberg", "E",
        "His grief was like an iceberg, with most of it out of sight.",
        "The image shows an iceberg whose small white tip hides a huge mass under the water. The claim says the same "
        "of a grief that is mostly hidden.",
    ),
    (
        "vismet", "simile", "rocket", "E",
        "Sales of the little game took off like a rocket.",
        "The image shows a rocket blasting upwards, which is how sales behave when they rise very fast and very high.",
    ),
    (
        "vismet", "metaphor", "anchor", "E",
        "In the worst year of my life, my sister was my anchor.",
        "The image shows an anchor, the weight that keeps a ship from drifting. The sister kept the speaker steady "
        "in the same way.",
    ),
    (
        "vismet", "simile", "snail", "C",
        "The new courier is as fast as a rocket.",
        "The image shows a snail, which is a picture of slowness. A courier who is as fast as a rocket is the very "
        "opposite.",
    ),
    (
        "vismet", "metaphor", "broken heart", "C",
        "Their marriage is a sturdy bridge between two families.",
        "The image shows a heart torn in two, a sign of a love that has ended. A sturdy bridge would mean a marriage "
        "that holds people together.",
    ),
    (
        "vismet", "simile", "cage", "C",
        "Since she quit, she feels as light as a balloon.",
        "The image shows a bird locked in a cage and so speaks of being trapped. The claim speaks of somebody who "
        "has got rid of every weight and floats.",
    ),
    (
        "vismet", "metaphor", "maze", "C",
        "The instructions were a ladder: one clear step after another.",
        "The image shows a maze full of dead ends, so the instructions would be confusing. A ladder with clear steps "
        "is not what the picture suggests.",
    ),
    (
        "vismet", "simile", "storm", "C",
        "Her mood that morning was like the sun breaking through.",
        "The image shows a dark cloud with rain and lightning, which stands for a gloomy or angry mood. The claim "
        "describes a bright one.",
    ),
    (
        "vismet", "metaphor", "puppet", "C",
        "The young king is a lion who answers to nobody.",
        "The image shows a puppet that moves only when its strings are pulled. It suggests a king steered by others, "
        "not a proud and independent one.",
    ),
    (
        "vismet", "simile", "lion", "C",
        "The witness was as sly as a fox.",
        "The image shows a lion, a symbol of open courage. Slyness is what we say of the fox, so the picture does "
        "not bear out the claim.",
    ),
    (
        "vismet", "metaphor", "hourglass", "C",
        "Summer at the lake is a broken clock: nothing moves and nothing runs out.",
        "The image shows an hourglass with the sand pouring down, a sign that time is running out. The claim says "
        "that time stands still.",
    ),
    # ---- irfl: metaphors and similes
    (
        "irfl", "simile", "lion", "E",
        "The goalkeeper fought like a lion for the last ten minutes.",
        "The image shows a lion with a mighty mane, the usual emblem of courage. To fight like a lion is to fight "
        "bravely, as the goalkeeper did.",
    ),
    (
        "irfl", "metaphor", "fox", "E",
        "The old lawyer is a fox; read every line before you sign.",
        "The image shows a fox with narrowed eyes, and foxes stand for cunning. A lawyer who is a fox may well trick "
        "you, hence the warning.",
    ),
    (
        "irfl", "metaphor", "tree", "E",
        "Our family is an old tree with roots in three countries.",
        "The image shows a tree whose roots spread wide under the ground. It pictures a family that goes back to "
        "several places.",
    ),
    (
        "irfl", "simile", "sun", "E",
        "Her smile was like the sun on the first day of spring.",
        "The image shows a warm, beaming sun. The claim compares a smile with it, meaning that the smile is bright "
        "and makes people feel good.",
    ),
    (
        "irfl", "metaphor", "heart", "E",
        "The little bakery is the heart of the village.",
        "The image shows a heart, the organ that keeps a body alive. The bakery does this for the village as the "
        "place where life gathers.",
    ),
    (
        "irfl", "simile", "mountain", "E",
        "The unpaid bills stood before him like a mountain.",
        "The image shows a steep mountain with snow on its peak. The bills look just as huge and as hard to get over.",
    ),
    (
        "irfl", "simile", "puppet", "E",
        "The mayor moved like a puppet whenever the company called.",
        "The image shows a puppet hanging from its strings. It fits a mayor who lets a company direct every move.",
    ),
    (
        "irfl", "metaphor", "mule", "C",
        "The new partner is a puppet who does whatever he is told.",
        "The image shows a mule, known for refusing orders. A partner who obeys every word, like a puppet, is "
        "nothing like it.",
    ),
    (
        "irfl", "simile", "rocket", "C",
        "The parcel travelled like a snail.",
        "The image shows a rocket with flames behind it, so it is about great speed. A parcel that travels like a "
        "snail is very slow.",
    ),
    (
        "irfl", "metaphor", "sun", "C",
        "The boss's face was a storm cloud.",
        "The image shows a cheerful sun in a clear sky. A face like a storm cloud would be dark and angry.",
    ),
    (
        "irfl", "simile", "balloon", "C",
        "The debt hung on him like an anchor.",
        "The image shows a balloon rising through the air, light and free. The claim is about a weight that drags a "
        "man down.",
    ),
    (
        "irfl", "simile", "broken clock", "C",
        "The night train is as reliable as the sunrise.",
        "The image shows a clock with a cracked face and a spring hanging out. It tells of something that cannot be "
        "relied on, unlike the sunrise.",
    ),
    (
        "irfl", "metaphor", "light bulb", "C",
        "His mind was a maze with no way out.",
        "The image shows a shining light bulb, the sign of a clear idea. A mind that is a maze is confused and lost.",
    ),
    (
        "irfl", "metaphor", "iceberg", "C",
        "Her joy was a balloon that everybody could see.",
        "The image shows an iceberg, most of which lies hidden under the sea. The claim speaks of a joy that is "
        "light and in plain view.",
    ),
    # ---- irfl: idioms
    (
        "irfl", "idiom", "burning house", "E",
        "The two new neighbours got on like a house on fire.",
        "The image shows a house on fire, which is the picture inside the idiom. To get on like a house on fire is "
        "to become good friends very quickly.",
    ),
    (
        "irfl", "idiom", "iceberg", "E",
        "These three complaints are only the tip of the iceberg.",
        "The image shows the small tip of an iceberg above the water and its great body below. Likewise the three "
        "complaints are a small part of the trouble.",
    ),
    (
        "irfl", "idiom", "broken clock", "E",
        "Even a broken clock is right twice a day, so listen to him for once.",
        "The image shows a broken clock, as in the saying that anybody can be right now and then by chance.",
    ),
    (
        "irfl", "idiom", "bridge", "E",
        "We will cross that bridge when we come to it.",
        "The image shows a bridge over water. The idiom uses it for a problem that need not be dealt with before it "
        "arrives.",
    ),
    (
        "irfl", "idiom", "mountain", "E",
        "You are making a mountain out of a molehill.",
        "The image shows a high mountain, the big thing into which a small matter is blown up in this idiom.",
    ),
    (
        "irfl", "idiom", "light bulb", "E",
        "Halfway through the lecture she had a light-bulb moment.",
        "The image shows a glowing light bulb, the sign for a sudden idea. A light-bulb moment is one in which "
        "everything becomes clear.",
    ),
    (
        "irfl", "idiom", "snail", "C",
        "He shot up the career ladder in no time.",
        "The image shows a snail and thus very slow progress. Somebody who shoots up the ladder is promoted fast.",
    ),
    (
        "irfl", "idiom", "sun", "C",
        "She has been under a cloud since the audit.",
        "The image shows a bright sun, a sign of good times. To be under a cloud is to be in trouble or suspected.",
    ),
    (
        "irfl", "idiom", "broken heart", "C",
        "The couple got on like a house on fire from the first day.",
        "The image shows a broken heart and so an unhappy end of love. The idiom in the claim describes two people "
        "who like each other at once.",
    ),
    (
        "irfl", "idiom", "cage", "C",
        "After the exams she was as free as a bird.",
        "The image does show a bird, but it sits in a cage and cannot leave. The claim is about complete freedom.",
    ),
    (
        "irfl", "idiom", "crown", "C",
        "He holds no power himself; others pull the strings.",
        "The image shows a golden crown, the sign of somebody who rules. In the claim the man is steered by others.",
    ),
    (
        "irfl", "idiom", "lion", "C",
        "The committee moved at a snail's pace.",
        "The image shows a lion, which stands for strength and courage. It has nothing of the slowness that the "
        "idiom speaks of.",
    ),
    # ---- muse: sarcasm, read at its word
    (
        "muse", "sarcasm", "storm", "C",
        "What glorious sunshine for our picnic, I am so glad we came.",
        "The image shows a dark cloud that pours rain, so the praise of the sunshine can only be sarcastic. Taken at "
        "its word it is false.",
    ),
    (
        "muse", "sarcasm", "storm", "E",
        "The forecast was wrong and the rain spoiled the whole picnic.",
        "The image shows heavy rain and lightning. That is weather which spoils any picnic, as the claim says.",
    ),
    (
        "muse", "sarcasm", "burning house", "C",
        "Everything at home is calm and perfectly under control.",
        "The image shows a house in flames. Nothing there is calm or under control, so the sentence is bitter "
        "sarcasm.",
    ),
    (
        "muse", "sarcasm", "burning house", "E",
        "The kitchen project ended in flames and disaster.",
        "The image shows a house burning fiercely, with smoke above the roof. It is an image of a project that has "
        "gone completely wrong.",
    ),
    (
        "muse", "sarcasm", "snail", "C",
        "Wow, such speedy service, I hardly had time to sit down.",
        "The image shows a snail, so the service must have been slow. The praise of its speed is meant sarcastically.",
    ),
    (
        "muse", "sarcasm", "snail", "E",
        "The support line is painfully slow.",
        "The image shows a snail, the best-known picture of slowness, and so agrees with the complaint.",
    ),
    (
        "muse", "sarcasm", "broken clock", "E",
        "The station clock has not worked for years.",
        "The image shows a clock that is cracked and has lost its spring. It cannot work, which is what the claim "
        "says.",
    ),
    (
        "muse", "sarcasm", "maze", "C",
        "Oh, the way to the exit could not be simpler, just go straight ahead.",
        "The image shows a maze of walls with many wrong turns. There is no simple way, so the directions are a "
        "sarcastic joke.",
    ),
    (
        "muse", "sarcasm", "maze", "E",
        "Finding the right office in that building takes hours of wrong turns.",
        "The image shows a maze. A building like that makes visitors lose their way for hours.",
    ),
    (
        "muse", "sarcasm", "cage", "C",
        "I have never felt so free as in this open-plan office.",
        "The image shows a bird behind bars. It reveals that the speaker feels locked up and that the talk of "
        "freedom is sarcasm.",
    ),
    (
        "muse", "sarcasm", "puppet", "E",
        "The spokesman only says what others tell him to say.",
        "The image shows a puppet on strings. The spokesman has no voice of his own either.",
    ),
    (
        "muse", "sarcasm", "mule", "C",
        "He is always so open to a compromise.",
        "The image shows a mule that stands its ground, the emblem of stubborn people. The praise for being open is "
        "sarcasm.",
    ),
    # ---- memecap: what the person who posts the picture as a meme means
    (
        "memecap", "humor", "hourglass", "E",
        "The poster jokes that their weekend is running out before it has begun.",
        "The image shows an hourglass with falling sand. As a meme about the weekend it means that the free time is "
        "slipping away already.",
    ),
    (
        "memecap", "humor", "snail", "E",
        "The meme says that the office internet crawls on Monday mornings.",
        "The image shows a snail. The poster uses it for a connection that is so slow that it crawls.",
    ),
    (
        "memecap", "humor", "rocket", "E",
        "The poster leaves the office like a rocket at five o'clock.",
        "The image shows a rocket at full thrust. It exaggerates how quickly the poster gets out of the office.",
    ),
    (
        "memecap", "humor", "mule", "E",
        "The poster's cat refuses to move from the keyboard, whatever you offer.",
        "The image shows a mule, and the joke is that the cat is every bit as stubborn about its place.",
    ),
    (
        "memecap", "humor", "broken heart", "E",
        "The meme mourns the last slice of pizza as if it were a lost love.",
        "The image shows a broken heart. Using it for a slice of pizza makes fun of how badly one can miss it.",
    ),
    (
        "memecap", "humor", "crown", "E",
        "The poster feels like royalty after doing one load of washing.",
        "The image shows a jewelled crown. The joke lies in feeling like a queen or king after one small chore.",
    ),
    (
        "memecap", "humor", "light bulb", "E",
        "The poster gets the best ideas at three in the morning.",
        "The image shows a light bulb that is switched on, the sign for an idea, which comes just when one should be "
        "asleep.",
    ),
    (
        "memecap", "humor", "puppet", "E",
        "The meme says that the cat owner is the one on strings.",
        "The image shows a puppet. The joke is that the owner of the cat dances as the cat pleases.",
    ),
    (
        "memecap", "humor", "snail", "C",
        "The meme brags that the new laptop starts faster than a rocket.",
        "The image shows a snail, so the meme must be complaining about a slow laptop and not bragging about a fast "
        "one.",
    ),
    (
        "memecap", "humor", "broken heart", "C",
        "The poster is deeply in love with the new timetable.",
        "The image shows a heart that is broken in two. It says that the timetable hurts, not that the poster loves "
        "it.",
    ),
    (
        "memecap", "humor", "hourglass", "C",
        "The poster claims to have all the time in the world before the exam.",
        "The image shows sand running through an hourglass. The meme says that hardly any time is left.",
    ),
    (
        "memecap", "humor", "maze", "C",
        "The meme praises the flat-pack manual for being clear and simple.",
        "The image shows a maze in which one gets lost. As a meme it makes fun of a manual that nobody understands.",
    ),
    (
        "memecap", "humor", "storm", "C",
        "The poster says that Monday is pure sunshine.",
        "The image shows a thunderstorm. The poster pictures Monday as miserable, not as sunny.",
    ),
    (
        "memecap", "humor", "mountain", "C",
        "The meme says that the pile of laundry is tiny.",
        "The image shows an enormous mountain. The joke is that the laundry has grown to that size, so it is not "
        "tiny.",
    ),
    (
        "memecap", "humor", "lion", "C",
        "The poster admits to being scared of a small spider.",
        "The image shows a lion, the picture of bravery. Somebody who posts it boasts of courage and admits no fear.",
    ),
    (
        "memecap", "humor", "fox", "C",
        "The meme calls the dog honest: it would never trick you out of a biscuit.",
        "The image shows a fox with a sly look. The joke is that the dog is cunning and gets its biscuit by a trick.",
    ),
    # ---- nycartoons: a caption under a cartoon; as in V-FLUTE, all of them fit
    (
        "nycartoons", "humor", "snail", "E",
        "I would have called a taxi, but I am in no hurry.",
        "The image shows a snail on its way. It is funny because the slowest of travellers explains its pace as if "
        "it had any choice.",
    ),
    (
        "nycartoons", "humor", "ladder", "E",
        '"Take the ladder," they said, "and you will be at the top by Friday."',
        "The image shows a long ladder. The caption plays on the career ladder, which is sold as a quick way up and "
        "turns out to have many rungs.",
    ),
    (
        "nycartoons", "humor", "iceberg", "E",
        "Relax, you are only seeing the nice part of me.",
        "The image shows an iceberg with a pretty tip and a vast body below. It is funny as the words of somebody "
        "who warns a new friend about what is hidden.",
    ),
    (
        "nycartoons", "humor", "rocket", "E",
        "This is the fast lane, sir, so please fasten your seat belt.",
        "The image shows a rocket in flight. Calling that a fast lane, as on a motorway, is a comic understatement.",
    ),
    (
        "nycartoons", "humor", "cage", "E",
        "The rent is high, but the bars keep the cat out.",
        "The image shows a bird in a cage. The bird talks about its prison like a tenant who points out the "
        "advantages of a flat.",
    ),
    (
        "nycartoons", "humor", "bridge", "E",
        "We built it so that the two sides of the argument could finally meet. Will they come?",
        "The image shows a bridge between two shores. The joke takes the two sides of an argument literally and lets "
        "them walk towards each other.",
    ),
    (
        "nycartoons", "humor", "tree", "E",
        "My roots go deep, so do not ask me to move house.",
        "The image shows a tree with roots far into the soil. It is funny because a tree gives as its excuse what is "
        "said of people who love their home.",
    ),
    (
        "nycartoons", "humor", "anchor", "E",
        "I am not lazy, I am what keeps this boat in place.",
        "The image shows an anchor. It does nothing but lie there, and the caption turns that into a proud job "
        "description.",
    ),
)  # fmt: skip

_TRAIN: tuple[_Entry, ...] = (
    (
        "vismet", "metaphor", "crown", "E",
        "For our coach, the cup is the crown of a long career.",
        "The image shows a golden crown, a sign of the highest honour. The cup is just that for the coach.",
    ),
    (
        "vismet", "simile", "hourglass", "E",
        "Every visit to her grandmother felt like sand in an hourglass.",
        "The image shows an hourglass in which the sand runs down. The visits felt precious because their number was "
        "running out.",
    ),
    (
        "vismet", "metaphor", "anchor", "C",
        "His worries were a balloon that drifted off.",
        "The image shows a heavy anchor, which holds things down. The worries of the claim are light and float away.",
    ),
    (
        "vismet", "simile", "mule", "C",
        "The saleswoman was as clever as a fox.",
        "The image shows a mule, which stands for stubbornness. Cleverness is the mark of the fox, which is not "
        "shown.",
    ),
    (
        "vismet", "metaphor", "ladder", "E",
        "Evening school was her ladder out of the laundry.",
        "The image shows a ladder that leads upwards. Evening school helped the woman to climb to a better life, "
        "rung by rung.",
    ),
    (
        "irfl", "simile", "maze", "E",
        "The tax form is like a maze.",
        "The image shows a maze with many dead ends. Filling in the form feels the same, since one gets lost in it.",
    ),
    (
        "irfl", "metaphor", "bridge", "E",
        "Music is a bridge between the two cultures.",
        "The image shows a bridge that joins two shores. Music connects the two cultures in the same way.",
    ),
    (
        "irfl", "simile", "broken heart", "C",
        "Their love is as whole as on the day of the wedding.",
        "The image shows a heart in two pieces. It tells of a love that has broken and is no longer whole.",
    ),
    (
        "irfl", "metaphor", "balloon", "C",
        "His promises are trees with deep roots.",
        "The image shows a balloon, thin and full of air. Promises like trees would be firm and lasting.",
    ),
    (
        "irfl", "simile", "storm", "C",
        "Her welcome was as warm as the sun.",
        "The image shows a storm with lightning and cold rain. It would stand for an angry reception, not for a warm "
        "one.",
    ),
    (
        "irfl", "idiom", "mule", "E",
        "She dug in her heels like a mule.",
        "The image shows a mule. To dig in one's heels is to refuse to give way, which mules are famous for.",
    ),
    (
        "irfl", "idiom", "puppet", "C",
        "She wears the crown in that family and decides for herself.",
        "The image shows a puppet that others move by its strings. The claim describes the one who gives the orders.",
    ),
    (
        "irfl", "idiom", "anchor", "E",
        "He dropped anchor in a small town and never left.",
        "The image shows an anchor. To drop anchor is to settle somewhere, as the man did.",
    ),
    (
        "irfl", "idiom", "mountain", "C",
        "Getting the top job was a walk in the park.",
        "The image shows a steep mountain, so getting there was a hard climb. A walk in the park would be easy.",
    ),
    (
        "irfl", "idiom", "snail", "C",
        "When the bell rang she was off like a shot.",
        "The image shows a snail, which is never off like a shot. The idiom means leaving very fast.",
    ),
    (
        "muse", "sarcasm", "storm", "E",
        "The garden wedding drowned in rain.",
        "The image shows rain pouring from a black cloud, which is what ruined the wedding in the garden.",
    ),
    (
        "muse", "sarcasm", "cage", "C",
        "Of course, they leave every door open for their staff.",
        "The image shows a locked cage. The staff cannot leave, so the talk of open doors is sarcastic.",
    ),
    (
        "muse", "sarcasm", "burning house", "C",
        "Our budget meeting was quiet and peaceful.",
        "The image shows a house in flames, a picture of chaos. The words about a peaceful meeting mean the opposite.",
    ),
    (
        "muse", "sarcasm", "broken clock", "E",
        "The bus timetable has not been right since the spring.",
        "The image shows a broken clock. Times shown by it are wrong, like those of the timetable.",
    ),
    (
        "memecap", "humor", "sun", "E",
        "The poster beams with joy because the coffee machine works again.",
        "The image shows a smiling sun. It stands for the great happiness that a working coffee machine brings.",
    ),
    (
        "memecap", "humor", "lion", "E",
        "The meme calls a kitten brave for facing the vacuum cleaner.",
        "The image shows a lion. The joke is to honour a kitten with the picture of the bravest of cats.",
    ),
    (
        "memecap", "humor", "mountain", "C",
        "The poster says that the inbox is nearly empty.",
        "The image shows a huge mountain. It stands for a pile of unread mail, not for an empty inbox.",
    ),
    (
        "memecap", "humor", "light bulb", "C",
        "The poster has no idea how to cook rice.",
        "The image shows a shining light bulb, so the poster has just had a bright idea and is not at a loss.",
    ),
    (
        "memecap", "humor", "iceberg", "E",
        "The meme says that the tidy room hides everything under the bed.",
        "The image shows an iceberg with a small clean tip. The mess is the big part that one does not see.",
    ),
    (
        "nycartoons", "humor", "puppet", "E",
        "My hands are tied, so talk to the gentleman upstairs.",
        "The image shows a puppet on strings. It is funny because having one's hands tied is literally true here.",
    ),
    (
        "nycartoons", "humor", "heart", "E",
        "I gave you mine, and you asked for the receipt.",
        "The image shows a heart. The joke treats a heart that is given away in love like goods from a shop.",
    ),
)  # fmt: skip


def rows(split: Split) -> list[Row]:
    """The rows of one split, in their final order.

    Raises:
        ValueError: `split` is neither `train` nor `test`.
    """
    if split not in ("train", "test"):
        raise ValueError(f"split must be 'train' or 'test', not {split!r}")
    entries, first = (_TEST, TEST_SEED) if split == "test" else (_TRAIN, TRAIN_SEED)
    return [
        Row(split, concept, first + i, claim, "entailment" if mark == "E" else "contradiction", text, kind, source)
        for i, (source, kind, concept, mark, claim, text) in enumerate(entries)
    ]
