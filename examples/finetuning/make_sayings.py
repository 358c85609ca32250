"""Write rows in V-FLUTE's form: drawings of figlang_mini, each with a saying that fits it or not.

python make_sayings.py DATA_FOLDER
"""

import io
import json
import random
import sys
from pathlib import Path

import pyarrow.parquet as parquet
from PIL import Image

from figlang_tasks.mini import DATA_DIR

# The drawn thing, the idea that it stands for, and three sayings about that idea.
TABLE = """
a snail: slowness: Rome was not built in a day: good things take their time: more haste is less speed
an hourglass: urgency: there is no day like today: one should strike while the iron is hot: hay is made in sunshine
a mule: stubbornness: you can lead a horse to water: old habits die hard: a leopard keeps its spots
a fox: cunning: all that glitters is not gold: a cat is skinned in many ways: fine words butter no parsnips
a heart: love: home is where you hang your hat: absence makes us fonder: beauty is in the eye of the beholder
a storm: uproar: it never rains but it pours: troubles come in threes: the fat is in the fire
a bridge: connection: many hands make light work: two heads are better than one: no man is an island
a cage: captivity: you made your bed and must lie in it: stone walls hold nobody so well: our hands are tied
"""  # noqa: E501
THINGS = [line.split(": ") for line in TABLE.strip().splitlines()]
SPEAKERS = {
    "train": ["My uncle", "The teacher", "Her boss", "Our neighbour", "The mayor"],
    "test": ["My sister", "He"],
}

ROWS = [
    row
    for path in sorted(DATA_DIR.rglob("*.parquet"))
    for row in parquet.read_table(path).to_pylist()
]


def picture(thing: str, number: int) -> Image.Image:
    """Draw a picture of the thing, slightly rotated and cropped: no two rows share a picture."""
    drawings_of_thing = [
        row for row in ROWS if f" {thing.split()[1]}" in row["explanation"].partition(".")[0]
    ]
    draw = random.Random(number)
    image = Image.open(io.BytesIO(draw.choice(drawings_of_thing)["image"]["bytes"])).convert("RGB")
    turned = image.rotate(
        draw.uniform(-8, 8), resample=Image.Resampling.BICUBIC, fillcolor=image.getpixel((0, 0))
    )
    left, top = draw.randrange(12), draw.randrange(12)
    return turned.crop((left, top, left + 212, top + 212)).resize((224, 224))


folder = Path(sys.argv[1]) / "V-FLUTE"
(folder / "images").mkdir(parents=True)
drawings = 10_000  # counts up; the number of a drawing is its random seed
for split, speakers in SPEAKERS.items():
    rows = []
    claims = [
        (thing, saying, speaker) for thing in THINGS for saying in thing[2:] for speaker in speakers
    ]
    for number, (fitting, saying, speaker) in enumerate(claims):
        others = [thing for thing in THINGS if thing is not fitting]
        for drawn in (fitting, others[number % len(others)]):
            drawings += 1
            image = f"images/{drawings}.png"
            picture(drawn[0], drawings).save(folder / image, compress_level=3)
            end = (
                "as well, so the two fit together"
                if drawn is fitting
                else "instead, so the two do not fit together"
            )
            row = {
                "id": f"{split}-{drawings}",
                "image": image,
                "claim": f"{speaker} says that {saying}.",
            }
            row["label"] = "entailment" if drawn is fitting else "contradiction"
            picture_text = f"The image shows {drawn[0]}, which stands for {drawn[1]}."
            row["explanation"] = f"{picture_text} The claim speaks of {fitting[1]} {end}."
            rows.append(json.dumps(row) + "\n")
    (folder / f"{split}.jsonl").write_text("".join(rows), encoding="utf-8")
