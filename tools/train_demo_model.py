"""Trains the demo model of `figlang_mini`: a tiny LLaVA, from scratch, on synthetic pictures and claims.

    python tools/train_demo_model.py --output figlang_tasks/mini/demo_model

First a small CLIP vision tower learns to name the pictured concept, then a small Llama learns to answer prompts of the
V-FLUTE form with an explanation and a label. No row of `figlang_mini` is used: pictures come from other seeds, and a
claim that equals one of the benchmark's is thrown away.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
import torch
import transformers
from PIL import __version__ as pillow_version
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import nn
from transformers import (
    CLIPImageProcessor,
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
)

# run as a script, only tools/ is on the path: put the repository root there for a checkout that is not installed
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from figlang_tasks.core.prompting import render  # noqa: E402
from tools.mini.draw import CONCEPTS, draw  # noqa: E402
from tools.mini.texts import rows  # noqa: E402

IMAGE_SIDE = 96
PATCH = 16
DRAW_SIDE = 192
VOCABULARY = 1536
HELD_OUT_SEED = 500_000
INSTRUCTIONS = 21
SPECIAL = ("<pad>", "<s>", "</s>", "<image>")

CHAT_TEMPLATE = (
    "{{ bos_token }}"
    "{% for message in messages %}"
    "{% if message['role'] == 'system' %}{{ 'SYSTEM: ' }}"
    "{% elif message['role'] == 'user' %}{{ 'USER: ' }}"
    "{% else %}{{ 'ASSISTANT: ' }}{% endif %}"
    "{% if message['content'] is string %}{{ message['content'] }}"
    "{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}{{ '<image>\n' }}"
    "{% elif part['type'] == 'text' %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}{{ '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ 'ASSISTANT: ' }}{% endif %}"
)


# ---------------------------------------------------------------- what is said about each concept


@dataclass(frozen=True)
class Meaning:
    """How people speak about one concept. A predicate follows a singular subject ("my uncle"); `~` splits a list."""

    noun: str  # as the answer names it
    sense: str  # the one idea that the answer gives for it
    nouns: str  # vehicles: "my uncle is <noun>"
    adjectives: str  # "as <adjective> as <noun>"
    says: str  # predicates that mean it without naming it
    whole: str  # whole sentences
    denies: str  # predicates that mean its opposite


MEANINGS: dict[str, Meaning] = {
    "anchor": Meaning(
        "an anchor", "steadiness",
        "an anchor~an old anchor~the anchor of the family~a heavy anchor~an anchor in a storm of work",
        "heavy~steady~firm~solid",
        "keeps us in place~drags everybody down~is a weight around my neck~gives us a firm hold~"
        "holds the boat in place~keeps the whole team steady~never drifts~weighs us down~"
        "keeps the ship from drifting~grounds all of us",
        "They dropped anchor here for good.~It is time to weigh anchor.~I keep this ship where it is.~"
        "We settled down and dropped anchor.~Somebody has to keep the boat from drifting.~I am what holds the boat.",
        "drifts about without any hold~is adrift~never settles anywhere~lets everybody drift away",
    ),
    "balloon": Meaning(
        "a balloon", "lightness",
        "a balloon~a bright balloon~a balloon in the sky~a party balloon~a balloon that floats~a balloon on a string",
        "light~free~airy~weightless",
        "floats on air~feels light and free~is as free as a bird~has never felt so free~drifts off into the sky~"
        "rises without any weight~has got rid of every burden~enjoys complete freedom~is free at last~feels so free",
        "Free as a bird at last!~I have never been so free.~Let it go and watch it float.~Nothing weighs on us now.~"
        "Up, up and away.~I have never felt freer than here.",
        "is weighed down by worries~cannot get off the ground~feels as heavy as lead",
    ),
    "bridge": Meaning(
        "a bridge", "connection",
        "a bridge~a bridge between two worlds~a bridge to the other side~a strong bridge~"
        "a sturdy bridge between families~a bridge across the river",
        "connecting~sturdy~linking",
        "brings the two sides together~connects the two groups~links old and young~closes the gap between them~"
        "lets both sides meet~joins the two shores~helps the two sides of a quarrel to meet in the middle",
        "Let us cross that bridge later.~That is all water under the bridge.~Do not burn your bridges.~"
        "We build bridges here and not walls.~We have to meet halfway.~It was built so that both sides could meet.~"
        "The two sides of the quarrel can finally meet.~You cross a bridge when you come to it.",
        "keeps the two sides apart~divides the town in two~cuts every link between them~builds walls between people",
    ),
    "broken clock": Meaning(
        "a broken clock", "unreliability",
        "a broken clock~a clock that has stopped~a stopped clock~a smashed watch~a cracked clock~"
        "a broken clock on the wall",
        "unreliable~useless~wrong",
        "never works~has not worked for weeks~cannot be relied on~is always wrong about the time~"
        "stopped working long ago~has been out of order since May~has not been on time once~is never right~"
        "stands still~has not moved for years",
        "A broken clock is right twice a day.~Even a stopped clock is right now and then.~"
        "The clock has stopped for ever.~The clock on the tower does not work.~"
        "Time stands still here and nothing moves.~The watch gave up last year.",
        "runs like clockwork~is always exactly on time~can be relied on at any hour~works perfectly every day",
    ),
    "broken heart": Meaning(
        "a broken heart", "heartbreak",
        "a broken heart~a heart torn in two~a heart in pieces~a heart that was broken~a broken heart in a song",
        "hurt~heartbroken~sad",
        "is heartbroken~has lost a great love~mourns a lost love~has been left by the one she loved~"
        "went through a painful divorce~cries over the end of the affair~has split up for good~mourns the loss~"
        "weeps for a lost love~misses the old love~grieves",
        "She broke his heart.~Their love is over.~It broke my heart to leave.~They parted in tears.~"
        "It is a lost love.~Here ends a great love.~He mourns it as if it were a lost love.",
        "has healed every wound of the past~stays whole in love~never shed a tear over the breakup~"
        "was never left by anyone",
    ),
    "burning house": Meaning(
        "a burning house", "uproar",
        "a house on fire~a burning house~a home in flames~a blazing house~a house that burns down",
        "fierce~hot~chaotic",
        "ended in flames~is a complete disaster~is in flames~went up in smoke~is pure chaos~"
        "gets on with everyone like a house on fire~is a catastrophe~burns to the ground~"
        "became friends with her in a flash~ended in disaster",
        "They got on like a house on fire.~The neighbours get on like a house on fire.~Everything went up in flames.~"
        "The whole plan burned down.~This is fine, said nobody in the flames.~"
        "The couple get on like a house on fire.~The two of us got on like a house on fire from the start.",
        "is calm and under control~stays perfectly calm~is quiet and peaceful~has everything under control~"
        "is in perfect order~is safe and quiet",
    ),
    "cage": Meaning(
        "a cage", "captivity",
        "a cage~a golden cage~a prison~a cage with thick bars~a bird in a cage~a cage with a lock",
        "narrow~trapped~locked",
        "is trapped~feels locked in~cannot get out~lives behind bars~has no way to leave~shuts everybody in~"
        "is a prisoner of the contract~keeps people behind bars~is shut in~feels caged",
        "The bars are there for your safety.~He lives in a gilded cage.~Let me out of here!~"
        "The bars keep the others out.~The door is locked from outside.~I pay rent for these bars.~"
        "At least the bars keep out the dog.",
        "leaves every door open~lets everybody come and go~never locks a door~has no walls or locks",
    ),
    "crown": Meaning(
        "a crown", "power",
        "a crown~the crown of the year~a golden crown~a crown with jewels~the jewel in the crown~"
        "the queen of the house",
        "royal~noble~golden~regal",
        "rules the whole house~feels like a king~feels like royalty~sits on the throne~gives all the orders~"
        "is the queen of the office~won the highest honour~reigns over everything~feels like a queen~"
        "is treated like royalty",
        "Uneasy lies the head that wears it.~All hail the new king!~She wears the crown at home.~"
        "Bow before the queen.~Long live the king!",
        "has no say in anything~rules over nobody~is at the bottom of the heap",
    ),
    "fox": Meaning(
        "a fox", "cunning",
        "a fox~an old fox~a sly fox~a clever fox~a fox in the henhouse",
        "sly~cunning~clever~crafty~tricky~wily",
        "tricks everyone~knows every trick in the book~cheats with a smile~outwits all the others~is cunning~"
        "always finds a clever way round the rules~cannot be trusted with the biscuits~plays a trick on you",
        "You set the fox to keep the geese.~Never trust a sly smile.~He outfoxed them all.~"
        "Read the small print twice.",
        "is honest~would never trick anyone~is too simple to cheat~tells the plain truth~has never cheated~"
        "would not trick you",
    ),
    "heart": Meaning(
        "a heart", "love",
        "the heart of the town~the heart of the team~a warm heart~the heart of the matter~a heart full of love",
        "loving~warm~tender",
        "is deeply in love~loves you dearly~fell in love~is full of love~adores the new baby~"
        "is in love with the plan~loves it with all her heart~gave you mine~is the centre of everything",
        "She wears her heart on her sleeve.~I give you my heart.~Home is where the heart is.~"
        "He lost his heart to her.~Absence makes the heart grow fonder.~I love you.~They are so in love.",
        "has no love for anyone~feels cold about it~hates every minute~is without love",
    ),
    "hourglass": Meaning(
        "an hourglass", "urgency",
        "an hourglass~sand in an hourglass~the sand of an hourglass~an hourglass that is nearly empty",
        "fleeting~short",
        "is running out~runs out of time~has hardly any time left~slips away~will soon be over~is nearly over~"
        "has only minutes to go~is racing against time~will be over before it starts~is running out of time",
        "Time is running out.~The clock is ticking.~The sands of time wait for nobody.~Hurry, there is no time left.~"
        "Every minute counts.~Our time is up.",
        "has all the time in the world~has plenty of time left~need not hurry before the deadline~has time to spare~"
        "has endless time",
    ),
    "iceberg": Meaning(
        "an iceberg", "hidden depth",
        "an iceberg~the tip of the iceberg~only the tip of the iceberg~a huge iceberg~an iceberg under the sea",
        "deep~hidden",
        "hides most of it~is mostly out of sight~shows only a small part~has a lot under the surface~"
        "keeps the bigger part hidden~hides everything below~lies mostly hidden~is bigger than it looks",
        "This is just the tip of the iceberg.~You only see a small part.~There is much more below.~"
        "Most of me is hidden.~You should see the rest of me.~You are seeing the best part only.~"
        "These are only the tip of the iceberg.~You have only seen the pretty part of me.",
        "hides nothing at all~has nothing below the surface~shows everything at once~is all on the surface",
    ),
    "ladder": Meaning(
        "a ladder", "advancement",
        "a ladder~a ladder to the top~the career ladder~a ladder with many rungs~a ladder out of poverty~"
        "a ladder with one clear step after another",
        "steep~tall",
        "climbs step by step~is on the way to the top~climbs the career ladder~goes up rung by rung~"
        "wants to get to the top~got promoted again~rises step by step~shot up the ladder~"
        "takes one step after another",
        "He climbed the career ladder.~One step after another.~It is a long way to the top.~"
        "Start on the lowest rung.~You will reach the top by Monday.~She went up the ladder in record time.~"
        "Up you go, they said, to the top.",
        "never gets promoted~is stuck at the bottom for good~has no chance of rising",
    ),
    "light bulb": Meaning(
        "a light bulb", "inspiration",
        "a light bulb~a bright light bulb~a light bulb that goes on~a light-bulb moment",
        "bright~brilliant~inspired",
        "has a brilliant idea~suddenly understands~comes up with a bright idea~had a flash of insight~"
        "gets the best ideas~finally gets it~sees the light~is full of ideas~has great ideas at night~"
        "solved the riddle all at once",
        "She had a light-bulb moment.~The light went on in his head.~What a bright idea!~Eureka!~"
        "It was a light-bulb moment.~Suddenly everything was clear.",
        "has no idea~is out of ideas~never has an idea~is completely in the dark~has not got a clue",
    ),
    "lion": Meaning(
        "a lion", "courage",
        "a lion~a proud lion~a young lion~a lion in battle~a lion among men",
        "brave~proud~fearless~bold~strong",
        "fights bravely~fears nobody~is brave~is fearless~stands up to every enemy~roars~faces every danger~"
        "answers to nobody~shows great courage~fought to the last",
        "He has the courage of a king of beasts.~She took the lion's share.~He put his head in the lion's mouth.~"
        "Hear me roar!",
        "is scared of a mouse~runs away from every danger~is afraid~is a coward~is scared of the dark~"
        "admits being scared~is scared of small things~is afraid of spiders",
    ),
    "maze": Meaning(
        "a maze", "confusion",
        "a maze~a maze with no exit~a maze of rules~a maze of corridors~a labyrinth~a maze with no way out",
        "confusing~tangled~puzzling",
        "is confusing~is full of wrong turns~leads everybody astray~gets people lost~has too many dead ends~"
        "makes you lose your way~takes hours of wandering~confuses everyone~is hard to find~takes hours of searching",
        "I got lost again.~Nobody finds the way out.~Every turn is a wrong turn.~"
        "You cannot find the right door in there.~We took so many wrong turns.",
        "is simple and clear~could not be simpler~is easy to follow~is clear~goes straight ahead~is straightforward~"
        "is simple to find~explains it all in a clear way",
    ),
    "mountain": Meaning(
        "a mountain", "hugeness",
        "a mountain~a mountain of work~a steep mountain~a mountain of paper~a high mountain~"
        "a mountain out of a molehill",
        "huge~high~enormous~big",
        "is enormous~is a huge task~towers over us~has grown to a giant pile~is a massive obstacle~"
        "piles up to the sky~seems impossible to get over~is a steep climb",
        "Do not make a mountain out of a molehill.~He made a mountain out of a molehill.~Faith can move mountains.~"
        "It is an uphill struggle.~They always make a mountain out of a molehill.",
        "is tiny~is nearly empty~is a walk in the park~is a very small matter~is easy and small~is a piece of cake~"
        "is almost nothing",
    ),
    "mule": Meaning(
        "a mule", "stubbornness",
        "a mule~a stubborn mule~an old mule~a mule in the road~a mule that will not move",
        "stubborn~obstinate~headstrong~pigheaded",
        "refuses to move~will not budge~never gives in~refuses to change her mind~will not listen to anyone~"
        "digs in his heels~is stubborn~refuses to leave the chair~refuses every offer~never changes his mind",
        "He dug in his heels.~Nothing will make her change her mind.~No means no.~I will not move an inch.",
        "is open to every compromise~gives in at once~is always ready to compromise~changes his mind gladly~"
        "is so open to new ideas~bends to every wish",
    ),
    "puppet": Meaning(
        "a puppet", "control",
        "a puppet~a puppet on strings~a puppet of the company~a puppet who obeys~a puppet in their hands",
        "controlled~obedient~helpless",
        "does whatever others want~dances to their tune~only says what he is told to say~is on strings~"
        "has no will of his own~is controlled by others~obeys every order~does what he is told~"
        "repeats what the others tell him",
        "Others pull the strings.~Somebody else pulls the strings.~Her hands are tied.~"
        "Ask the man who holds the strings.~He has no power; they pull the strings.~They pull his strings.",
        "decides everything alone~takes orders from nobody~makes up her own mind~is nobody's servant",
    ),
    "rocket": Meaning(
        "a rocket", "speed",
        "a rocket~a rocket on its way to the moon~a rocket at full speed~a shooting rocket",
        "fast~quick~swift~speedy~rapid",
        "took off at once~is incredibly fast~is gone in a second~races ahead~shoots up~goes through the roof~"
        "was off like a shot~starts in no time~is so speedy~flies past everyone~is in the fast lane",
        "Fasten your seat belt.~Off like a shot!~Welcome to the fast lane.~What speedy service!~That was quick.~"
        "Wow, such quick service.~Please fasten your belt, we are in a hurry.~Prices went through the roof.",
        "never gets off the ground~could not be any later~takes for ever to start",
    ),
    "snail": Meaning(
        "a snail", "slowness",
        "a snail~a lazy snail~a snail on a hot day~a sleepy snail",
        "slow~sluggish",
        "crawls~is painfully slow~takes for ever~moves at a snail's pace~is so slow~creeps along~is in no hurry~"
        "arrives days late~needs hours for one page~is terribly slow~travels slowly~never hurries~crawls along",
        "It moved at a snail's pace.~Slow and steady.~I am in no hurry.~Everything goes at a snail's pace.~"
        "We are not in a hurry.~No need to rush, I am in no hurry.~Why run when one can walk?",
        "is over in a flash~never makes you wait~hardly leaves time to sit down~is done before you sit down",
    ),
    "storm": Meaning(
        "a storm", "gloom",
        "a storm~a storm cloud~a thunderstorm~a dark cloud~a black cloud~a day of rain~a thunder cloud",
        "gloomy~dark~stormy~angry",
        "is in a dark mood~is drowned in rain~was ruined by the rain~is under a cloud~is gloomy~got soaking wet~"
        "fell into the water because of the weather~was spoiled by the rain~is wet and miserable",
        "It never rains but it pours.~The rain spoiled the day.~She is under a cloud.~"
        "He has been under a cloud for months.~Take an umbrella.~It rained on their parade.~"
        "The picnic drowned in the rain.~The forecast was wrong again.",
        "is dry and pleasant~has not a drop of rain~has lovely dry weather~stays nice and dry",
    ),
    "sun": Meaning(
        "the sun", "joy",
        "the sun~a ray of sunshine~the morning sun~the sun in spring~pure sunshine~the sunrise~sunshine~"
        "the sun breaking through the clouds~the first sun of the year",
        "bright~warm~sunny~cheerful~radiant",
        "beams with joy~is always cheerful~brightens every day~makes everybody happy~is pure sunshine~radiates joy~"
        "smiles all day~enjoys glorious sunshine~is in a sunny mood",
        "Make hay while it shines.~What glorious sunshine!~What a sunny day for a picnic.~Every day is sunny here.~"
        "What lovely sunshine for a walk, I am glad that we came.~The sunrise never fails.",
        "is full of sorrow~never smiles~brings no joy to anyone~is cold and cheerless",
    ),
    "tree": Meaning(
        "a tree", "rootedness",
        "a tree~an old tree~a tree with deep roots~an oak~a family tree~a tree with roots in many places",
        "rooted~deep-rooted~old",
        "has deep roots~is rooted here~grew up and put down roots~will never leave its soil~has roots in many places~"
        "stands firmly rooted~goes back many generations~has its roots in the village",
        "My roots are here.~You are barking up the wrong tree.~Money does not grow on me.~We put down roots here.~"
        "My roots go far down.~With roots like mine one does not move.~The apple does not fall far from it.",
        "has no roots anywhere~never put down roots~has been uprooted~comes from nowhere",
    ),
}  # fmt: skip

# pictures that are often played off against each other, so that training sees these pairs more often
RIVALS: dict[str, tuple[str, ...]] = {
    "anchor": ("balloon",),
    "balloon": ("anchor", "cage", "iceberg", "tree"),
    "bridge": ("broken heart", "cage"),
    "broken clock": ("sun", "hourglass"),
    "broken heart": ("heart", "bridge", "burning house"),
    "burning house": ("broken heart", "sun"),
    "cage": ("balloon", "bridge"),
    "crown": ("puppet",),
    "fox": ("lion", "mule"),
    "heart": ("broken heart",),
    "hourglass": ("broken clock", "snail"),
    "iceberg": ("balloon", "mountain"),
    "ladder": ("snail", "maze"),
    "light bulb": ("maze",),
    "lion": ("fox", "snail", "puppet"),
    "maze": ("ladder", "light bulb", "bridge"),
    "mountain": ("iceberg",),
    "mule": ("puppet", "fox"),
    "puppet": ("lion", "mule", "crown"),
    "rocket": ("snail",),
    "snail": ("rocket", "lion", "ladder"),
    "storm": ("sun",),
    "sun": ("storm", "broken clock"),
    "tree": ("balloon",),
}

_OWNERS = "my~our~the~his~her~their~your~the poster's~the new~the old~this~that"
_THINGS = (
    "uncle~aunt~grandfather~grandmother~brother~sister~neighbour~boss~teacher~lawyer~mayor~king~queen~courier~"
    "witness~partner~goalkeeper~coach~landlord~doctor~cat~dog~kitten~child~baby~friend~office~company~committee~job~"
    "marriage~family~village~bakery~town~project~plan~letter~parcel~laptop~computer~internet~website~support line~"
    "service~game~train~bus~timetable~meeting~deadline~weekend~exam~lecture~Monday~summer~holiday~party~picnic~"
    "wedding~garden~kitchen~house~building~school~manual~form~instruction~bill~debt~grief~joy~smile~mood~face~mind~"
    "voice~laundry~pile~inbox~homework~washing~pizza~coffee machine~keyboard~spokesman~minister~recruit~captain~"
    "player~owner~student~writer~contract~rent~argument~quarrel~friendship~love affair~worry~promise~career~cup~"
    "music~film~book~story~secret~news~planning office~savings account~station~exit~way~room~door~counter~queue~"
    "market~harbour~farm"
)
_DOINGS = "moved~fought~travelled~worked~stood there~hung on him~went off"
_TAILS = (
    "since the audit~about selling the farm~on Monday mornings~at five o'clock~whatever you offer~for years~"
    "this year~when the company calls~from the first day~in the worst year of my life~before the exam~"
    "after the exams~at home~in this office~every single day~these days~for the last ten minutes~"
    "at three in the morning~after one hour~before it has begun~in that building~on the first day of spring~"
    "twice a day~once again~and everybody knows it~as usual~by Friday~with the new laptop~in front of everybody~"
    "however well it pays~now that she has quit~at work~for the whole village~on the way to the exit~"
    "after doing the washing~so read every line~so listen for once~and I am so glad~all year round~"
    "in three countries~to the end~behind the counter~as if nobody had seen it"
)
_OPENERS = (
    "Wow,~Oh,~Sure,~Of course,~Honestly,~Look,~In the end~They said that~I told you that~The meme says that~"
    "The meme jokes that~The poster says that~The poster jokes that~The meme claims that~The poster admits that~"
    "The meme brags that~The poster feels that~Everyone agrees that~You see,~Relax,~The meme praises how~"
    "The meme complains that~The poster thinks that~As the caption puts it,~The joke is that~It looks as if~"
    "Halfway through the lecture~In the worst week of the year~After all,~Once more"
)
_ASIDES = (
    "Read every line before you sign.~I hardly had time to sit down.~I told you so.~Will they come?~"
    "Nobody was surprised.~So please do not ask me.~Listen to him for once.~I am so glad we came.~"
    "And that was only Monday.~What a week.~Everybody could see it.~The rest is silence.~You will see.~"
    "I would have called a taxi.~Do not tell the cat.~That is all I can say.~It could happen to anyone.~"
    "Thank you for asking, sir.~My mother always said so."
)


def _pick(r: random.Random, text: str) -> str:
    return r.choice(text.split("~"))


def _made_up(r: random.Random) -> str:
    """A word that nobody knows, so that the model learns to get past such words."""
    return "".join(r.choice("bcdfghklmnprstvw") + r.choice("aeiou") for _ in range(r.randint(1, 3))) + r.choice("nrst")


def _subject(r: random.Random) -> str:
    thing = _made_up(r) if r.random() < 0.12 else _pick(r, _THINGS)
    if r.random() < 0.1:
        thing = f"{_made_up(r)} {thing}"
    return f"{_pick(r, _OWNERS)} {thing}"


def _dress(r: random.Random, core: str) -> str:
    """Put a sentence core (no capital, no full stop) into a setting."""
    if r.random() < 0.35:
        core = f"{core} {_pick(r, _TAILS)}"
    if r.random() < 0.3:
        core = f"{_pick(r, _OPENERS)} {core}"
    text = core[0].upper() + core[1:] + r.choice((".", ".", ".", ".", "!", ""))
    if r.random() < 0.15:
        aside = _pick(r, _ASIDES)
        text = f"{text} {aside}" if r.random() < 0.5 else f"{aside} {text}"
    return f'"{text}"' if r.random() < 0.02 else text


def _affirm(r: random.Random, concept: str) -> str:
    """A claim that holds when the picture shows `concept`."""
    m = MEANINGS[concept]
    noun, subject = _pick(r, m.nouns), _subject(r)
    kind = r.random()
    if kind < 0.32:
        adjective = _pick(r, m.adjectives)
        was = r.choice(("is", "was", "is", "had become", "is still", "turned out to be", "felt like", "will always be"))
        core = r.choice(
            (
                f"{subject} {was} {noun}",
                f"{subject} {was} {noun}",
                f"{subject} is like {noun}",
                f"{subject} was like {noun}",
                f"{subject} is as {adjective} as {noun}",
                f"{subject} was as {adjective} as {noun}",
                f"{subject} looked like {noun}",
                f"{subject} {_pick(r, _DOINGS)} like {noun}",
                f"{noun}: that is what {subject} is",
                f"to me {subject} is {noun}",
                f"{subject} {r.choice(('starts', 'works', 'is', 'runs'))} {adjective}er than {noun}",
                f"I would call {subject} {noun}",
                f"what a {adjective} thing {subject} is",
                f"{subject} is so {adjective}",
                f"{subject} feels as {adjective} as {noun}",
            )
        )
    elif kind < 0.76:
        says = _pick(r, m.says)
        core = r.choice(
            (
                f"{subject} {says}",
                f"{subject} {says}",
                f"{subject} {says}",
                f"{subject}, which {says}",
                f"here is somebody who {says}",
                f"{subject} is one that {says}",
                f"{subject} {says} while {_subject(r)} looks on",
            )
        )
    else:
        whole = _pick(r, m.whole)
        if r.random() < 0.4:
            return whole
        core = whole.rstrip(".!?")
        if not core.startswith(("I ", "I'")):
            core = core[0].lower() + core[1:]
    return _dress(r, core)


def _deny(r: random.Random, concept: str) -> str:
    """A claim that a picture of `concept` contradicts."""
    m = MEANINGS[concept]
    subject = _subject(r)
    if r.random() < 0.22:
        noun, adjective = _pick(r, m.nouns), _pick(r, m.adjectives)
        return _dress(
            r,
            r.choice(
                (
                    f"{subject} is anything but {noun}",
                    f"{subject} is the opposite of {noun}",
                    f"{subject} is not at all {adjective}",
                    f"nobody would compare {subject} with {noun}",
                )
            ),
        )
    says = _pick(r, m.denies)
    return _dress(
        r,
        r.choice(
            (
                f"{subject} {says}",
                f"{subject} {says}",
                f"{subject} always {says}" if not says.startswith(("never", "has ", "could")) else f"{subject} {says}",
                f"everything {says}",
                f"it {says}",
                f"he {says}",
                f"she {says}",
            )
        ),
    )


@dataclass(frozen=True)
class Example:
    """One synthetic training example; `concept` and `seed` name its picture, `grey` drops the colours."""

    concept: str
    seed: int
    grey: bool
    instruction: int
    claim: str
    label: str
    answer: str
    claimed: str  # the concept that the claim is about
    denied: bool  # it says the opposite


def answer_for(pictured: str, claimed: str, denied: bool) -> tuple[str, str]:
    """Label and full answer (explanation, newline, `LABEL: ...`)."""
    p, c = MEANINGS[pictured], MEANINGS[claimed]
    shown = f"The image shows {p.noun}, which stands for {p.sense}."
    if denied:
        said = f"The claim denies {c.sense}, so it goes against the image."
        label = "contradiction"
    elif pictured == claimed:
        said = f"The claim speaks of {c.sense} as well, so the two fit together."
        label = "entailment"
    else:
        said = f"The claim speaks of {c.sense} instead, so the two do not fit together."
        label = "contradiction"
    return label, f"{shown} {said}\nLABEL: {label}"


def benchmark_claims() -> frozenset[str]:
    """Case-folded claims of `figlang_mini`, train and test: none of them may be trained on."""
    return frozenset(row.claim.casefold() for split in ("train", "test") for row in rows(split))


def benchmark_pictures() -> frozenset[tuple[str, int]]:
    """(concept, seed) of every picture of `figlang_mini`."""
    return frozenset((row.concept, row.seed) for split in ("train", "test") for row in rows(split))


def training_pictures(per_concept: int) -> list[tuple[str, int]]:
    """(concept, seed) of every training picture."""
    return [(concept, seed) for concept in CONCEPTS for seed in range(per_concept)]


def examples(seed: int, first_picture: int, per_concept: int) -> Iterator[Example]:
    """Endless stream of examples, about half of them entailments, none with a claim of the benchmark.

    Args:
        seed: decides the whole stream.
        first_picture: smallest picture seed.
        per_concept: number of picture seeds per concept.
    """
    r = random.Random(f"claims/{seed}")
    forbidden = benchmark_claims()
    while True:
        concept = r.choice(CONCEPTS)
        kind = r.random()
        if kind < 0.5:
            claimed, denied = concept, False
        elif kind < 0.83:
            claimed = r.choice(RIVALS[concept]) if r.random() < 0.3 else r.choice(CONCEPTS)
            if claimed == concept:
                continue
            denied = False
        else:
            claimed, denied = concept, True
        claim = _deny(r, claimed) if denied else _affirm(r, claimed)
        if claim.casefold() in forbidden:
            continue
        label, answer = answer_for(concept, claimed, denied)
        yield Example(
            concept,
            first_picture + r.randrange(per_concept),
            r.random() < 0.2,
            r.randint(1, INSTRUCTIONS),
            claim,
            label,
            answer,
            claimed,
            denied,
        )


# ---------------------------------------------------------------- tokenizer, processor, model


def _templates() -> list[str]:
    """The 21 instructions with a mark where the quoted claim goes."""
    mark = "\x00"
    return [render("vflute/question.jinja", instruction=n, claim=mark) for n in range(1, INSTRUCTIONS + 1)]


def build_tokenizer(corpus: Sequence[str]) -> PreTrainedTokenizerFast:
    """Byte-level BPE trained on `corpus`; it can encode any text. It adds no special token of its own accord."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    bpe.train_from_iterator(
        corpus,
        trainers.BpeTrainer(
            vocab_size=VOCABULARY,
            special_tokens=list(SPECIAL),
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        ),
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        additional_special_tokens=["<image>"],
        model_max_length=4096,
        model_input_names=["input_ids", "attention_mask"],  # no token_type_ids, which transformers 4.57 would pass on
        padding_side="left",
        chat_template=CHAT_TEMPLATE,
    )


def build_processor(tokenizer: PreTrainedTokenizerFast) -> LlavaProcessor:
    """Processor that squeezes any picture to 96 x 96 pixels, 36 image tokens."""
    side = {"height": IMAGE_SIDE, "width": IMAGE_SIDE}
    return LlavaProcessor(
        image_processor=CLIPImageProcessor(
            size=side,
            crop_size=side,
            do_center_crop=False,
            resample=3,
            image_mean=[0.5, 0.5, 0.5],
            image_std=[0.5, 0.5, 0.5],
        ),
        tokenizer=tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,  # CLIP's class token, which the strategy `default` drops again
        chat_template=CHAT_TEMPLATE,
    )


def build_model(tokenizer: PreTrainedTokenizerFast) -> LlavaForConditionalGeneration:
    """Untrained model of about two million parameters."""
    image_id, pad_id, bos_id, eos_id = (tokenizer.get_vocab()[t] for t in ("<image>", *SPECIAL[:3]))
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(
            hidden_size=128,
            intermediate_size=384,
            num_hidden_layers=3,
            num_attention_heads=4,
            image_size=IMAGE_SIDE,
            patch_size=PATCH,
            projection_dim=128,
        ),
        text_config=LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=160,
            intermediate_size=448,
            num_hidden_layers=4,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=4096,
            tie_word_embeddings=True,
            pad_token_id=pad_id,
            bos_token_id=bos_id,
            eos_token_id=eos_id,
        ),
        image_token_index=image_id,
        image_seq_length=(IMAGE_SIDE // PATCH) ** 2,
        vision_feature_select_strategy="default",
        vision_feature_layer=-1,
        tie_word_embeddings=True,
    )
    model = LlavaForConditionalGeneration(config)
    model.generation_config.pad_token_id = pad_id
    model.generation_config.bos_token_id = bos_id
    model.generation_config.eos_token_id = eos_id
    return model


def draw_pixels(pictures: Sequence[tuple[str, int]], processor: LlavaProcessor) -> torch.Tensor:
    """Pictures as the processor sees them: float16, (n, 3, 96, 96), about -1 to 1."""
    parts: list[torch.Tensor] = []
    for i in range(0, len(pictures), 64):
        images = [draw(concept, seed, DRAW_SIDE) for concept, seed in pictures[i : i + 64]]
        parts.append(processor.image_processor(images, return_tensors="pt")["pixel_values"].half())
    return torch.cat(parts)


def _augment(pixels: torch.Tensor, grey: torch.Tensor, g: torch.Generator) -> torch.Tensor:
    """Shift by up to 5 pixels, change the contrast, drop the colours where `grey` (n,) is true."""
    n = len(pixels)
    padded = nn.functional.pad(pixels.float(), (5, 5, 5, 5), mode="replicate")
    offsets = torch.randint(0, 11, (n, 2), generator=g).tolist()
    moved = torch.stack([padded[i, :, y : y + IMAGE_SIDE, x : x + IMAGE_SIDE] for i, (y, x) in enumerate(offsets)])
    weights = torch.tensor([0.299, 0.587, 0.114]).view(1, 3, 1, 1)
    mono = (moved * weights).sum(1, keepdim=True).expand(-1, 3, -1, -1)
    out = torch.where(grey.view(-1, 1, 1, 1), mono, moved)
    return out * (0.85 + 0.3 * torch.rand(n, 1, 1, 1, generator=g))


# ---------------------------------------------------------------- training


class Budget:
    """Share of a training phase that is used up, by steps or by the clock."""

    def __init__(self, steps: int | None, seconds: float) -> None:
        self.steps, self.seconds, self.done = steps, seconds, 0
        self.start: float | None = None

    def progress(self) -> float:
        """0 at the start, 1 or more when the phase must end."""
        if self.steps is not None:
            return self.done / max(1, self.steps)
        if self.start is None:  # the clock starts when the phase does
            self.start = time.monotonic()
        return (time.monotonic() - self.start) / self.seconds


def _rate(progress: float, peak: float) -> float:
    """Learning rate: short warm-up, then a half cosine down to nearly nothing."""
    if progress < 0.04:
        return peak * (0.05 + progress / 0.04)
    return peak * (0.02 + 0.98 * 0.5 * (1 + float(np.cos(np.pi * min(1.0, progress)))))


def train_vision(
    model: LlavaForConditionalGeneration,
    pixels: torch.Tensor,
    labels: torch.Tensor,
    budget: Budget,
    seed: int,
    log: Callable[[str], None],
) -> None:
    """Teach the vision tower to name the concept, from its mean token and from every single token."""
    tower = model.model.vision_tower
    head = nn.Linear(tower.config.hidden_size, len(CONCEPTS))
    weights = [*tower.parameters(), *head.parameters()]
    optimizer = torch.optim.AdamW(weights, lr=1e-3, weight_decay=0.02)
    g = torch.Generator().manual_seed(seed)
    while budget.progress() < 1:
        for group in optimizer.param_groups:
            group["lr"] = _rate(budget.progress(), 1.2e-3)
        pick = torch.randint(0, len(pixels), (48,), generator=g)
        batch = _augment(pixels[pick], torch.rand(48, generator=g) < 0.25, g)
        tokens = tower(pixel_values=batch).last_hidden_state[:, 1:]
        target = labels[pick]
        whole = nn.functional.cross_entropy(head(tokens.mean(1)), target)
        each = nn.functional.cross_entropy(head(tokens).flatten(0, 1), target.repeat_interleave(tokens.shape[1]))
        optimizer.zero_grad()
        (whole + 0.3 * each).backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        budget.done += 1
        if budget.done % 100 == 0:
            hits = (head(tokens.mean(1)).argmax(1) == target).float().mean()
            log(f"vision step {budget.done}: loss {whole.item():.3f} each {each.item():.3f} accuracy {hits:.2f}")


def _grey_and_pixels(
    shown: Sequence[Example], pixels: torch.Tensor, index: dict[tuple[str, int], int], g: torch.Generator
) -> torch.Tensor:
    """Augmented pixels of the pictures of some examples, (n, 3, 96, 96)."""
    picks = torch.tensor([index[(example.concept, example.seed)] for example in shown])
    return _augment(pixels[picks], torch.tensor([example.grey for example in shown]), g)


class Encoder:
    """Turns examples into token ids; the full prompt is the one that the chat template gives."""

    def __init__(self, processor: LlavaProcessor) -> None:
        self.tokenizer = processor.tokenizer
        self.templates = _templates()
        self.image = "<image>" * (IMAGE_SIDE // PATCH) ** 2

    def turn(self, example: Example) -> tuple[str, str]:
        """Prompt and answer of one turn, the prompt ending where generation starts."""
        question = self.templates[example.instruction - 1].replace("\x00", example.claim)
        return f"USER: {self.image}\n{question}\nASSISTANT: ", f"{example.answer}</s>"

    def reading(self, example: Example) -> tuple[str, str]:
        """A short lesson without a picture: the question alone, and what its claim speaks of."""
        question = self.templates[example.instruction - 1].partition("?")[0].replace("\x00", example.claim)
        verb = "denies" if example.denied else "speaks of"
        return f"USER: {question}?\nASSISTANT: ", f"The claim {verb} {MEANINGS[example.claimed].sense}"

    def looking(self, example: Example) -> tuple[str, str]:
        """A short lesson without a claim: what the picture shows."""
        m = MEANINGS[example.concept]
        return f"USER: {self.image}\nASSISTANT: ", f"The image shows {m.noun}, which stands for {m.sense}."

    def ids(self, turns: Sequence[tuple[str, str]]) -> tuple[list[int], list[int]]:
        """Token ids and labels (-100 where nothing is learnt) of a conversation of (prompt, answer) turns."""
        ids: list[int] = [self.tokenizer.bos_token_id]
        labels: list[int] = [-100]
        for i, (prompt, reply) in enumerate(turns):
            # encoded apart, as generation sees the prompt without the answer
            a = self.tokenizer("\n" + prompt if i else prompt, add_special_tokens=False)["input_ids"]
            b = self.tokenizer(reply, add_special_tokens=False)["input_ids"]
            ids += a + b
            labels += [-100] * len(a) + b
        return ids, labels

    def batch(self, talks: Sequence[Sequence[tuple[str, str]]]) -> dict[str, torch.Tensor]:
        """Model inputs of several conversations, padded on the right: (conversations, length) each."""
        encoded = [self.ids(talk) for talk in talks]
        length = max(len(ids) for ids, _ in encoded)
        pad = self.tokenizer.pad_token_id
        return {
            "input_ids": torch.tensor([ids + [pad] * (length - len(ids)) for ids, _ in encoded]),
            "labels": torch.tensor([marks + [-100] * (length - len(marks)) for _, marks in encoded]),
            "attention_mask": torch.tensor([[1] * len(ids) + [0] * (length - len(ids)) for ids, _ in encoded]),
        }


def train_language(
    model: LlavaForConditionalGeneration,
    processor: LlavaProcessor,
    pixels: torch.Tensor,
    index: dict[tuple[str, int], int],
    stream: Iterator[Example],
    lessons: Budget,
    budget: Budget,
    seed: int,
    seen: set[str],
    log: Callable[[str], None],
) -> None:
    """Train projector and language model on the answers only; the vision tower stays as it is.

    `lessons` pays for short exercises (claims without pictures, pictures without claims), `budget` for full prompts.
    `seen` collects the claims of the stream.
    """
    for p in model.model.vision_tower.parameters():
        p.requires_grad_(False)
    weights = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=1e-3, betas=(0.9, 0.98), weight_decay=0.03)
    encoder = Encoder(processor)
    g = torch.Generator().manual_seed(seed + 1)
    r = random.Random(f"turns/{seed}")
    model.train()

    def take(number: int) -> list[Example]:
        found = [next(stream) for _ in range(number)]
        seen.update(example.claim.casefold() for example in found)
        return found

    def step(batch: dict[str, torch.Tensor], images: torch.Tensor | None, rate: float) -> float:
        for group in optimizer.param_groups:
            group["lr"] = rate
        loss = model(**batch, pixel_values=images).loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        return float(loss.item())

    losses: list[float] = []
    while lessons.progress() < 1:
        rate = _rate(lessons.progress() * 0.6, 2.5e-3)
        if lessons.done % 4 == 3:
            found = take(24)
            images = _grey_and_pixels(found, pixels, index, g)
            step(encoder.batch([[encoder.looking(e)] for e in found]), images, rate)
        else:
            losses.append(step(encoder.batch([[encoder.reading(e)] for e in take(64)]), None, rate))
        lessons.done += 1
        if lessons.done % 100 == 0:
            log(f"lesson step {lessons.done}: loss {np.mean(losses):.4f}, {100 * lessons.progress():.0f} %")
            losses = []
    losses = []
    while budget.progress() < 1:
        # now and then a conversation of several turns, as in few-shot prompts
        turns = r.choice((2, 3)) if r.random() < 0.05 else 1
        talks = [take(turns) for _ in range(32 if turns == 1 else 10)]
        images = _grey_and_pixels([example for talk in talks for example in talk], pixels, index, g)
        batch = encoder.batch([[encoder.turn(example) for example in talk] for talk in talks])
        losses.append(step(batch, images, _rate(budget.progress(), 1.8e-3)))
        budget.done += 1
        if budget.done % 50 == 0:
            log(f"language step {budget.done}: loss {np.mean(losses):.4f}, {100 * budget.progress():.0f} %")
            losses = []


# ---------------------------------------------------------------- use


@torch.inference_mode()
def answer(
    model: LlavaForConditionalGeneration,
    processor: LlavaProcessor,
    images: Sequence[Any],
    prompts: Sequence[str],
    max_new_tokens: int = 80,
) -> list[str]:
    """Greedy answers to (picture, prompt) pairs, in batches of 16."""
    out: list[str] = []
    model.eval()
    generate: Callable[..., torch.Tensor] = getattr(model, "generate")  # noqa: B009  (its stub does not fit LLaVA)
    for i in range(0, len(prompts), 16):
        talks: list[Any] = [
            [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": prompt}]}]
            for prompt in prompts[i : i + 16]
        ]
        texts = [processor.apply_chat_template(t, tokenize=False, add_generation_prompt=True) for t in talks]
        inputs = processor(images=list(images[i : i + 16]), text=texts, padding=True, return_tensors="pt")
        ids = generate(**inputs, do_sample=False, max_new_tokens=max_new_tokens)
        out += processor.batch_decode(ids[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
    return out


def predicted_label(text: str) -> str | None:
    """Label of an answer, None when it has none."""
    tail = text.rpartition("LABEL:")[2].strip() if "LABEL:" in text else ""
    return tail if tail in ("entailment", "contradiction") else None


def held_out_accuracy(
    model: LlavaForConditionalGeneration, processor: LlavaProcessor, seed: int, number: int, seen: set[str]
) -> float:
    """Accuracy (0 to 1) on synthetic examples with new pictures and with claims that training did not see."""
    stream = examples(seed + 77_777, HELD_OUT_SEED, 50)
    chosen: list[Example] = []
    while len(chosen) < number:
        example = next(stream)
        if example.claim.casefold() not in seen:
            chosen.append(example)
    templates = _templates()
    images = [draw(e.concept, e.seed, DRAW_SIDE) for e in chosen]
    images = [im.convert("L").convert("RGB") if e.grey else im for im, e in zip(images, chosen, strict=True)]
    prompts = [templates[e.instruction - 1].replace("\x00", e.claim) for e in chosen]
    texts = answer(model, processor, images, prompts)
    return sum(predicted_label(t) == e.label for t, e in zip(texts, chosen, strict=True)) / number


_CARD = """---
license: apache-2.0
language:
- en
pipeline_tag: image-text-to-text
library_name: transformers
tags:
- figurative-language
- demo
---
# figlang_mini demo model

A LLaVA of {parameters:.1f} million parameters, trained from scratch in minutes on a CPU, that answers the prompts of
`figlang_mini`. It lets anybody run an evaluation with a real vision-language model offline. **It is a toy and for
nothing else**: it knows {concepts} drawn things and one form of answer, and makes no sense on photographs or on claims
of another kind.

- Architecture: `LlavaForConditionalGeneration`; CLIP vision tower (96 px, patch 16, 36 image tokens), Llama text model,
  byte-level BPE of {vocabulary} tokens. Weights are stored as float16 and run as float32 (`dtype` in `config.json`).
- Answer: one explanation of fixed form, a newline, `LABEL: entailment` or `LABEL: contradiction`.

## Training

`tools/train_demo_model.py`, seed {seed}: {vision_steps} steps of picture naming, {lesson_steps} steps of short lessons
(what a claim speaks of, what a picture shows), {language_steps} steps on full prompts; {seconds:.0f} s in all with
{threads} CPU threads. The pictures come from {pictures} drawn by `tools/mini/draw.py` (seeds 0 to {last_seed}),
the {claims} different claims are put together from word lists.

No row of `figlang_mini` was trained on: the pictures have other seeds, and a claim equal to one of the benchmark's
(train or test) is thrown away; the script checks both. The word lists, though, come from the hands that wrote the
benchmark and were meant to cover its ways of speaking, and the pictures come from the same drawing code. So its score
on `figlang_mini` shows that the evaluation works, not that the model understands figures of speech.

Accuracy on {held_out} held-out synthetic examples (new pictures, unseen claims): {held_out_accuracy:.1f} %.

Training is seeded. Limited by the clock (`--minutes`) it takes more or fewer steps on another machine; `--steps` fixes
their number.
Library versions: {versions}.

## Licence

Apache-2.0. Code, drawings, texts and weights are this project's own; no pretrained weight was used.
"""


def save(model: LlavaForConditionalGeneration, processor: LlavaProcessor, folder: Path) -> None:
    """Write weights (float16), configuration and processor; what was in the folder is removed."""
    if folder.exists():
        shutil.rmtree(folder)
    model.eval()
    model.half().save_pretrained(folder)
    # transformers 5 has dropped this level of names, and 4.57 would silently start an untrained tower; both read it so
    path = folder / "model.safetensors"
    weights = load_file(path)
    save_file(
        {re.sub(r"vision_tower\.(?!vision_model\.)", "vision_tower.vision_model.", k): v for k, v in weights.items()},
        path,
        metadata={"format": "pt"},
    )
    path.chmod(0o644)  # the writer leaves it to its owner alone
    processor.save_pretrained(folder)
    # half the size on disk, but a CPU should compute in float32: `dtype="auto"` obeys the configuration
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    for part in (config, config["text_config"], config["vision_config"]):
        part.pop("torch_dtype", None)
        part["dtype"] = "float32"
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    # transformers 4.57 looks for the image processor's settings in a file of their own and knows no TokenizersBackend
    path = folder / "preprocessor_config.json"
    if not path.exists():
        processor.image_processor.save_pretrained(folder)
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    # transformers 5 writes them under the first name, 4 under the second (and {} under the first).
    written = settings.pop("extra_special_tokens", None) or settings.get("additional_special_tokens")
    settings["additional_special_tokens"] = written or ["<image>"]
    path.write_text(json.dumps(settings, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def train(
    output: Path,
    steps: int | None,
    minutes: float,
    seed: int,
    per_concept: int = 120,
    held_out: int = 240,
    log: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Train, save to `output` and write the model card.

    Args:
        output: folder to write; it is replaced.
        steps: number of steps on full prompts; picture naming and the short lessons take twice as many each.
        minutes: when `steps` is None, the time for all phases together, drawing and the final check apart.
        seed: decides data, start weights and order.
        per_concept: training pictures of each concept.
        held_out: size of the held-out synthetic set.
        log: receives progress lines.

    Returns:
        The facts that the model card states.

    Raises:
        RuntimeError: a training picture or claim is one of the benchmark's.
    """
    start = time.monotonic()
    random.seed(seed)
    torch.manual_seed(seed)
    transformers.logging.set_verbosity_error()
    pictures = training_pictures(per_concept)
    if benchmark_pictures() & set(pictures):
        raise RuntimeError("a training picture is one of the benchmark's")

    templates = _templates()
    sample = examples(seed + 1, 0, per_concept)
    drafts = [next(sample) for _ in range(6000)]
    corpus = [f"{e.claim}\n{e.answer}" for e in drafts] + [t.replace("\x00", "") for t in templates] * 20
    corpus += ["USER: \nASSISTANT: SYSTEM: "] * 50
    corpus += [f" {e.sense} {e.noun}." for e in MEANINGS.values()] * 100
    processor = build_processor(build_tokenizer(corpus))
    model = build_model(processor.tokenizer)
    log(f"{sum(p.numel() for p in model.parameters()) / 1e6:.2f} million parameters")

    pixels = draw_pixels(pictures, processor)
    index = {picture: i for i, picture in enumerate(pictures)}
    labels = torch.tensor([CONCEPTS.index(concept) for concept, _ in pictures])
    log(f"{len(pictures)} pictures drawn after {time.monotonic() - start:.0f} s")

    seeing = Budget(None if steps is None else 2 * steps, 60 * minutes * 0.12)
    train_vision(model, pixels, labels, seeing, seed, log)
    seen: set[str] = set()
    lessons = Budget(None if steps is None else 2 * steps, 60 * minutes * 0.33)
    speaking = Budget(steps, 60 * minutes * 0.55)
    train_language(model, processor, pixels, index, examples(seed, 0, per_concept), lessons, speaking, seed, seen, log)
    if benchmark_claims() & seen:
        raise RuntimeError("a training claim is one of the benchmark's")
    seconds = time.monotonic() - start

    save(model, processor, output)
    model = LlavaForConditionalGeneration.from_pretrained(output, dtype="auto")
    accuracy = held_out_accuracy(model, processor, seed, held_out, seen)
    facts: dict[str, Any] = {
        "parameters": sum(p.numel() for p in model.parameters()) / 1e6,
        "concepts": len(CONCEPTS),
        "vocabulary": len(processor.tokenizer),
        "seed": seed,
        "vision_steps": seeing.done,
        "lesson_steps": lessons.done,
        "language_steps": speaking.done,
        "seconds": seconds,
        "threads": torch.get_num_threads(),
        "pictures": len(pictures),
        "last_seed": per_concept - 1,
        "claims": len(seen),
        "held_out": held_out,
        "held_out_accuracy": 100 * accuracy,
        "versions": f"Python {platform.python_version()}, torch {torch.__version__}, transformers "
        f"{transformers.__version__}, tokenizers {tokenizers.__version__}, Pillow {pillow_version}",
    }
    (output / "README.md").write_text(_CARD.format(**facts), encoding="utf-8")
    log(json.dumps(facts))
    return facts


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; see `--help`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="folder to write; it is replaced")
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--steps", type=int, default=450, help="steps on full prompts (default: %(default)s)")
    limit.add_argument("--minutes", type=float, help="training time, instead of steps")
    parser.add_argument("--seed", type=int, default=7, help="default: %(default)s")
    parser.add_argument("--pictures", type=int, default=120, help="pictures per concept (default: %(default)s)")
    parser.add_argument("--held-out", type=int, default=240, help="held-out examples (default: %(default)s)")
    args = parser.parse_args(argv)
    log = partial(print, flush=True)
    steps = args.steps if args.minutes is None else None
    train(args.output, steps, args.minutes or 0.0, args.seed, args.pictures, args.held_out, log)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
