"""Published results: the data files against the papers' tables, the reader, and the tables."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from figlang_tasks.benchmarks.metaclue.annotations import PAPER
from figlang_tasks.cli.tasks import definitions
from figlang_tasks.core.benchmark import names
from figlang_tasks.core.text import table
from figlang_tasks.results import measures, published
from figlang_tasks.results.published import (
    Measured,
    Published,
    cells,
    comparable,
    for_task,
    lines,
    protocol,
    rows,
)

FOLDER = Path(published.__file__).parents[1] / "benchmarks"
MATCHED = ("idiom", "metaphor", "simile", "open_simile")
NO_SHARES = ("rank", "cider", "clip_similarity", "fid")
NOT_IRFL = ("flute", "metaclue", "nykms", "vflute")


def beside(task: str, metrics: Iterable[str]) -> str:
    """A table of the lines of a task; "" if there are none."""
    found = [
        (label if scope == "all" else f"{label}: {scope}", figures)
        for label, scope, figures in lines(task, list(metrics))
    ]
    columns = list(
        dict.fromkeys(name for metric in metrics for _, of in found for name in of if metric.startswith(name))
    )
    texts = cells([of for _, of in found], columns)
    shown = [[label, *of] for (label, _), of in zip(found, texts, strict=True)]
    return table([["published", *columns], *shown]) if found else ""


def records(name: str = "irfl") -> list[dict[str, Any]]:
    return json.loads((FOLDER / name / "published.json").read_text(encoding="utf-8"))["records"]


def tasks_of(record: dict[str, Any]) -> frozenset[str]:
    return frozenset([record["task"]] if isinstance(record["task"], str) else record["task"])


def value(task: str, metric: str, model: str, setting: str) -> Published:
    found = [p for p in for_task(task) if (p.metric, p.model, p.setting) == (metric, model, setting)]
    assert len(found) == 1
    return found[0]


# --- against the papers ---------------------------------------------------------------------------------------------

PRINTED = yaml.safe_load(Path(__file__).with_name("printed_tables.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["irfl", "nycc"])
def test_figures_are_those_of_the_papers_tables(name: str) -> None:
    found: dict[str, dict[str, list[Any]]] = {}
    for record in records(name):
        task = record["task"] if isinstance(record["task"], str) else record["task"][0]
        numbers = [round(100 * record[n], 4) for n in ("value", "low", "high", "std") if n in record]
        columns = found.setdefault(record["table"], {})
        columns.setdefault(f"{task} {record['metric']}", []).append([record["model"], *numbers])
    assert found == PRINTED[name]


def test_literal_preference_after_training() -> None:
    """Section 4.1.2: "In 41% ± 4.3 of the instances"."""
    trained = [p for p in for_task("irfl_match_idiom") if p.metric == "literal_preference" and p.std is not None]
    assert [(p.value, p.std, p.shown) for p in trained] == [(0.41, 0.043, False)]


# --- spot values ------------------------------------------------------------------------------------------------------

DEFINED = "zero-shot; matching scores; idioms with definitions"


@pytest.mark.parametrize(
    ("task", "metric", "model", "share"),
    [
        ("irfl_match_idiom", "acc_figurative", "CLIP-RN50x64/14", 0.22),
        ("irfl_detect_idiom", "acc_figurative_literal", "BLIP", 0.57),
        ("irfl_match_idiom", "acc_figurative", "Humans", 0.97),
        ("irfl_match_metaphor", "acc", "Humans", 0.997),
        ("irfl_match_simile", "acc", "BLIP", 0.66),
        ("irfl_detect_open_simile", "acc", "ViLT", 0.33),
        ("irfl_retrieve_idiom", "p@k_figurative_literal", "CLIP-RN50x64/14", 0.61),
        ("irfl_retrieve_idiom", "p@k_figurative", "CLIP-VIT-B/32", 0.36),
        ("irfl_retrieve_metaphor", "p@k", "ViLT", 0.25),
        ("irfl_retrieve_open_simile", "p@k", "CoCa ViT-L-14", 0.24),
    ],
)
def test_spot_values(task: str, metric: str, model: str, share: float) -> None:
    found = [p for p in for_task(task) if (p.metric, p.model) == (metric, model) and p.shown]
    assert [p.value for p in found] == [share]


def test_what_is_kept_and_not_shown() -> None:
    first = value("irfl_random2_idiom_figurative", "acc", "LiT", f"{DEFINED}; v1")
    assert (first.value, first.table, first.shown) == (0.61, "Table 4", False)
    older = value(
        "irfl_retrieve_metaphor", "p@k", "ViLT", "zero-shot; matching scores; v1, where precision at k is called F1"
    )
    assert (older.value, older.shown) == (0.23, False)
    trained = [p for p in for_task("irfl_retrieve_idiom") if p.model == "supervised" and p.metric == "p@k_figurative"]
    assert [(p.value, p.std, p.shown) for p in trained] == [(0.68, 0.038, False)]
    others = [p for p in for_task("irfl_match_simile") if p.source.startswith("THIRD PARTY")]
    assert [(p.value, p.shown) for p in others] == [(0.454874, False)]
    ranges = [p for p in for_task("irfl_random4_idiom_figurative_literal_phrase_only") if p.shown]
    assert [(p.low, p.high, p.text()) for p in ranges] == [(0.65, 0.78, "65.0-78.0")]


@pytest.mark.parametrize(
    "task", ["", "irfl", "irfl_detect", "figlang_mini", "figlang_mini_irfl_match_idiom", "vflute_val", "flute_codalab"]
)
def test_other_tasks_have_nothing(task: str) -> None:
    assert for_task(task) == ()
    assert beside(task, ["acc", "p@k"]) == "" == protocol(task, ["acc", "p@k"])
    assert rows(task, ["acc", "p@k"], hidden=True) == []


# --- what tasks have figures ------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def reported() -> dict[str, set[str]]:
    """The metrics of every task of ours."""
    return {name: set(each.metrics) for name, each in definitions().items() if each.kind == "task"}


def test_every_benchmark_has_a_table_and_mini_has_none() -> None:
    have = {task for task, metrics in reported().items() if beside(task, metrics)}
    assert {task.split("_")[0] for task in have} == set(names())
    assert {f"metaclue_{kind}" for kind in ("classify_literal", "retrieve_swap", "caption", "vqa", "generate")} <= have
    assert {task for task in reported() if task.startswith("vflute")} - have == {"vflute_instructions", "vflute_val"}
    assert {"nykms_metaphor", "nykms_sarcasm_text", "flute", "flute_v1"} <= have


# --- the other benchmarks against the papers' text --------------------------------------------------------------------


def carried(table: str, places: Iterator[tuple[str, str, str]] | list[tuple[str, str, str]]) -> list[float]:
    """The figures of a table at (task, model, metric), in percent or as they are."""
    figures = []
    for task, model, metric in places:
        found = [p for p in for_task(task) if (p.table, p.model, p.metric) == (table, model, metric)]
        assert len(found) == 1, (task, model, metric)
        figures.append(float(found[0].text()))
    return figures


F1 = ("f1@0", "f1@53", "f1@60")


def test_tables_of_vflute() -> None:
    numbers = PRINTED["vflute"]
    gemini, gpt4 = "Gemini-1.5-Pro (gemini-pro-vision)", "GPT-4 (gpt-4-1106-vision-preview)"
    tuned = [("vflute", "LLaVA-7B VF"), ("vflute_blind", "LLaVA-7B VF -Image"), ("vflute", "LLaVA-7B eViL")]
    order = [*tuned, ("vflute", "LLaVA-7B eViL+VF")]
    order += [(task, f"LLaVA-ZS {size}") for size in ("7B", "34B") for task in ("vflute", "vflute_sg")]
    order += [(task, api) for api in (gemini, "Claude-3 Opus", gpt4) for task in ("vflute", "vflute_5shot")]
    places = [(task, model, metric) for task, model in order for metric in F1]
    random = [("vflute", "Random Baseline", "f1@0")]
    assert numbers["Table 4"] == carried("Table 4", [*random, *places])

    blip = [("vflute", "InstructBlip-7B-ZS", m) for m in F1] + [("vflute_sg", "InstructBlip-7B-SG", m) for m in F1]
    assert numbers["Table 17"] == carried("Table 17", blip)
    omni = [(task, "GPT-4o", metric) for task in ("vflute", "vflute_5shot") for metric in F1]
    assert numbers["Table 18"] == carried("Table 18", omni)

    sources = ("_vismet", "_irfl_metaphor_simile", "_irfl_idiom", "_muse", "_memecap", "_nycartoons", "")
    pairs = [("vflute", of, f"f1@0{s}") for s in sources for of in ("Human avg (2)", "LLaVA-7B eViL+VF")]
    assert numbers["Table 7"] == carried("Table 7", pairs)
    labels = [("vflute_label", f"fine-tuned, {k}", "f1@0") for k in ("prediction only", "multi-task with explanations")]
    assert numbers["App. J"] == carried("App. J", labels)


def test_tables_of_nykms() -> None:
    numbers = PRINTED["nykms"]
    both = (("mc", "nykms_metaphor"), ("sc", "nykms_sarcasm"))
    classes = ("acc", "macro_precision", "macro_recall", "macro_f1")
    large = ("LLaVA", "GPT-3.5", "GPT-4", "GPT-4V")
    eight = [(task, model, f"{name}_{metric}") for name, task in both for model in large for metric in classes]
    assert numbers["Table 8"] == carried("Table 8", eight)

    words = [(f"{k}w", task) for k, task in (("m", "nykms_metaphor_text"), ("s", "nykms_sarcasm_text"))]
    nine = [(task, model, f"{name}_{m}") for name, task in words for model in large[:3] for m in ("em", "bleu4")]
    assert numbers["Table 9"] == carried("Table 9", nine)
    long = (("me", "nykms_metaphor"), ("st", "nykms_sarcasm"), ("se", "nykms_sarcasm"))
    ten = [(task, model, f"{name}_bleu4") for name, task in long for model in large[:3]]
    assert numbers["Table 10"] == carried("Table 10", ten)

    same = [f"Baseline{end}" for end in (" (Text-only)", " (Image-only)", "", " + Contrastive", " + OT")]
    last = {
        "mc": [*same, "Baseline + VUA augmentation", "Baseline + Knowledge augmentation"],
        "sc": [*same, 'Baseline + augmentation (printed "VUA"; text says HFM)'],
    }
    trained = (("mc", "nykms_mc_test"), ("sc", "nykms_sc_test"))
    eleven = [(task, model, f"{name}_{metric}") for name, task in trained for model in last[name] for metric in classes]
    assert numbers["Table 11"] == carried("Table 11", eleven)


def test_table_of_flute() -> None:
    numbers = PRINTED["flute"]
    kinds = ("paraphrase_sarcasm", "simile", "metaphor")
    places = [("flute_v1", "T5-3B fine-tuned on e-SNLI", f"acc@{t}_{kind}") for t in (0, 50, 60) for kind in kinds]
    assert numbers["Table 7"] == carried("Table 7", places)


def test_tables_of_metaclue() -> None:
    numbers = PRINTED["metaclue"]
    models = ("Random", "EfficientNet-B0", "EfficientNet-B7", "ViT-B/16", "ViT-L/16")
    one = [
        next(
            p for p in for_task(f"metaclue_classify_{kind}") if p.model == model and p.shown == (part == "test")
        ).text()
        for model in models
        for kind in ("symbolic", "literal")
        for part in ("val", "test")
    ]
    assert numbers["Table 1"] == [float(number) for number in one]

    clips = [f"CLIP (ViT-{size})" for size in ("B/16", "B/32", "L/14")]
    order = [*clips, "ALBEF", "ALBEF (MSCOCO)", "ALBEF (Flickr30k)", *(f"FT {clip}" for clip in clips)]
    settings = ("random50", "neg_prim", "neg_sec", "neg_prim_rel", "neg_sec_rel")
    columns = [(f"metaclue_retrieve_{kind}", metric) for kind in settings for metric in ("p@1", "rank")]
    columns.append(("metaclue_retrieve_swap", "p@1"))
    two = [(task, model, metric) for model in order for task, metric in columns]
    assert numbers["Table 2"] == carried("Table 2", two)

    metrics = ("em", "bleu4", "rouge_l", "meteor", "spice", "cider")
    parts = ("", "_primary", "_secondary", "_relationship")
    asked = ("metaclue_caption", "metaclue_vqa")
    three = [(task, "PaLI-17B", metric + part) for task in asked for part in parts for metric in metrics]
    # The paper has accuracy in percent, the other metrics as shares; CIDEr is none.
    percent = [100 if metric.split("_")[0] in ("bleu4", "rouge", "meteor", "spice") else 1 for _, _, metric in three]
    assert [n * p for n, p in zip(numbers["Table 3"], percent, strict=True)] == pytest.approx(
        carried("Table 3", three), abs=1e-9
    )

    clip = "CLIP phrase localization"
    four = [("metaclue_localize", clip, f"mAP{t}_{role}") for role in ("primary", "secondary") for t in (50, 70)]
    assert numbers["Table 4"] == carried("Table 4", four)
    drawn = ("Imagen", "Stable Diffusion", "Stable Diffusion-FT")
    five = [("metaclue_generate", model, metric) for model in drawn for metric in ("fid", "clip_similarity")]
    assert numbers["Table 5"] == carried("Table 5", five)


@pytest.mark.parametrize(
    ("task", "metric", "model", "text"),
    [
        ("vflute", "f1@53", "GPT-4o", "60.97"),
        ("vflute_sg", "f1@60", "LLaVA-ZS 34B", "26.77"),
        ("vflute_5shot", "f1@0", "Claude-3 Opus", "67.79"),
        ("vflute_10shot", "f1@60", "GPT-4", "49.78"),
        ("vflute_blind", "f1@0", "LLaVA-7B VF -Image", "64.77"),
        ("nykms_metaphor", "mc_macro_f1", "GPT-4V", "47.95"),
        ("nykms_sarcasm_text", "sw_em", "GPT-4", "32.65"),
        ("metaclue_retrieve_random50", "rank", "FT CLIP (ViT-L/14)", "1.78"),
        ("metaclue_caption", "cider", "PaLI-17B", "1.076"),
        ("metaclue_vqa", "bleu4_relationship", "PaLI-17B", "44.9"),
        ("metaclue_generate", "fid", "Imagen", "153.1"),
        ("metaclue_classify_symbolic", "acc", "Random", "51.6"),
        ("flute_v1", "acc@60_metaphor", "T5-3B fine-tuned on e-SNLI", "34.8"),
        ("flute", "acc@50", "T5-3B (resource-rich baseline)", "69.05"),
        ("flute", "acc@60", "DREAM-FLUTE", "63.3"),
    ],
)
def test_spot_values_of_the_other_benchmarks(task: str, metric: str, model: str, text: str) -> None:
    assert [row.values[metric].text() for row in rows(task, [metric]) if row.model == model] == [text]


# --- rows and settings ------------------------------------------------------------------------------------------------


def test_a_row_is_a_model_in_a_setting() -> None:
    found = [row for row in rows("nykms_metaphor", ["me_bleu4", "mc_acc", "mw_em", "none"]) if row.model == "GPT-4"]
    assert [(row.setting, row.paper) for row in found] == [
        ("zero-shot with the description; joint prompt", "NYK-MS, arXiv 2409.01037")
    ]
    assert found[0].table == "Table 8, Table 9, Table 10"
    assert found[0].source.count("; ") == 2 and found[0].source.endswith("Table 10")
    assert {metric: figure.value for metric, figure in found[0].values.items()} == {
        "me_bleu4": 0.1011, "mc_acc": 0.4378, "mw_em": 0.4471
    }  # fmt: skip
    assert list(found[0].values) == ["me_bleu4", "mc_acc", "mw_em"]


@pytest.mark.parametrize("hidden", [False, True])
def test_no_two_rows_look_alike_and_no_figure_is_lost(hidden: bool) -> None:
    for task, metrics in reported().items():
        found = rows(task, metrics, hidden=hidden)
        labels = [row.label for row in found]
        assert len(set(labels)) == len(labels), task
        figures = [id(figure) for row in found for figure in row.values.values()]
        assert sorted(figures) == sorted(id(p) for p in for_task(task) if hidden or p.shown)


def test_what_is_not_comparable_is_kept_but_not_shown() -> None:
    for task, count in (
        ("vflute", 14 + 2),
        ("metaclue_classify_literal", 5),
    ):
        kept = [p for p in for_task(task) if not p.shown]
        assert len(kept) == count
        assert all("; not comparable, " in p.setting for p in kept)
    metrics = reported()["vflute"]
    assert not any("f1@0_muse" in row.values or row.model == "FigCLIP" for row in rows("vflute", metrics))
    (other,) = [row for row in rows("vflute", metrics, hidden=True) if row.model == "FigCLIP"]
    assert (other.paper, other.values["f1@60"].value) == ("FigLang 2024 shared task, ACL 2024.figlang-1.13", 0.5)


# --- what may stand beside a run --------------------------------------------------------------------------------------


def test_the_rows_of_the_figures_are_those_of_the_tasks() -> None:
    counts = {
        task: count
        for name in ("irfl", *NOT_IRFL)
        for task, count in json.loads((FOLDER / name / "published.json").read_text(encoding="utf-8"))["rows"].items()
    }
    defined = definitions()
    known = {task: defined[task].rows for task in counts}
    known["metaclue_vqa"] = PAPER["metaphor", "test"]  # images; their questions depend on the annotations
    assert {task: known[task] for task, count in counts.items() if isinstance(count, int)} == {
        task: count for task, count in counts.items() if isinstance(count, int)
    }
    assert {task for task, count in counts.items() if isinstance(count, str)} == {
        *("flute", "flute_v1", "metaclue_generate"),
        *(task for task in defined if re.match(r"irfl_random\d_", task) and for_task(task)),
    }


@pytest.mark.parametrize(
    ("task", "metrics", "runs", "kept", "told"),
    [
        ("vflute", ["acc", "f1@0", "f1@60"], [Measured(723, None, "vflute25")], ["f1@0", "f1@60"], ""),
        ("vflute", ["f1@0"], [Measured(723)], ["f1@0"], ""),
        ("vflute", ["f1@0"], [Measured(723), Measured(8)], [], "of 723 rows, a run has 8"),
        ("vflute", ["f1@0"], [Measured(723, "offset 4")], [], "a run was cut short (offset 4)"),
        ("vflute", ["f1@0"], [Measured(723, own=True)], [], "of the released rows, and a run has rows of the user"),
        ("vflute", ["f1@60"], [Measured(723)], [], "f1@60 are left out: .* vflute25, in a run by no known scorer"),
        ("vflute", ["acc"], [Measured(8, "limit 8")], [], ""),  # nothing to leave out
        (
            "flute",
            ["acc@60"],
            [Measured(1500, None, "flute22|x")],
            [],
            "they are of the shared task's 1,500 blind rows",
        ),
        ("irfl_random2_simile", ["acc"], [Measured(99)], [], "random candidates, which were not released"),
        ("metaclue_retrieve_swap", ["p@1"], [Measured(99)], ["p@1"], ""),  # how many can be swapped is not published
        ("metaclue_retrieve_swap", ["p@1"], [Measured(9, "limit 9")], [], "limit 9"),
        ("figlang_mini", ["f1@0"], [Measured(76)], [], ""),
    ],
)
def test_figures_stand_beside_runs_of_their_rows_and_scorer(
    task: str, metrics: list[str], runs: list[Measured], kept: list[str], told: str
) -> None:
    shown, line = comparable(task, metrics, runs)
    assert (shown, bool(line)) == (kept, bool(told))
    assert re.search(told if ".*" in told else re.escape(told), line) and "\n" not in line


# --- the table --------------------------------------------------------------------------------------------------------


def test_figures_stand_as_they_were_printed() -> None:
    assert beside("vflute_label", ["acc", "f1@0", "f1@53"]).splitlines() == [
        "| published                                |  f1@0 |",
        "|------------------------------------------|------:|",
        "| Random Baseline                          | 49.82 |",
        "| fine-tuned, prediction only              | 80.85 |",
        "| fine-tuned, multi-task with explanations | 83.26 |",
    ]
    assert beside("metaclue_generate", ["clip_similarity", "fid"]).splitlines()[2:] == [
        "| Imagen, off the shelf           |            32.1 | 153.1 |",
        "| Stable Diffusion, off the shelf |            30.8 | 161.6 |",
        "| Stable Diffusion-FT, fine-tuned |            32.0 | 154.3 |",
    ]


def test_a_scope_has_a_line_of_its_own() -> None:
    assert beside("flute_v1", reported_in_order("acc@0", "acc@50", "acc@60")).splitlines() == [
        "| published                                      | acc@0 | acc@50 | acc@60 |",
        "|------------------------------------------------|------:|-------:|-------:|",
        "| T5-3B fine-tuned on e-SNLI: paraphrase_sarcasm |  81.8 |   44.1 |   31.0 |",
        "| T5-3B fine-tuned on e-SNLI: simile             |  59.6 |   29.2 |   14.0 |",
        "| T5-3B fine-tuned on e-SNLI: metaphor           |  76.0 |   46.0 |   34.8 |",
    ]
    parts = ("", "_primary", "_secondary", "_relationship")
    metrics = [name + part for name in ("em", "bleu4", "rouge_l", "meteor", "spice", "cider") for part in parts]
    found = beside("metaclue_vqa", metrics).splitlines()
    assert found[0] == "| published              |   em | bleu4 | rouge_l | meteor | spice | cider |"
    assert found[2] == "| PaLI-17B               | 19.9 |  32.9 |    28.6 |   24.9 |  18.5 | 0.851 |"
    assert found[5] == "| PaLI-17B: relationship | 25.6 |  44.9 |    27.5 |   28.5 |   3.8 | 0.706 |"


def reported_in_order(*heads: str) -> list[str]:
    return [f"{head}{kind}" for head in heads for kind in ("", "_paraphrase_sarcasm", "_simile", "_metaphor", "_idiom")]


def test_every_shown_figure_is_in_its_table() -> None:
    for task, metrics in reported().items():
        cells = Counter(float(c) for c in re.findall(r"(?<=\| )[ \d.]+(?= \|)", beside(task, metrics)) if c.strip())
        shown = [p for p in for_task(task) if p.shown and p.value is not None]
        assert cells >= Counter(float(p.text()) for p in shown) if shown else not cells


@given(st.integers(0, 10_000))
def test_percent_is_exact(hundredths: int) -> None:
    figure = Published("P", "1", "M", ("t",), "acc", "zero-shot", "s", value=hundredths / 10_000)
    assert figure.text(2) == f"{hundredths // 100}.{hundredths % 100:02d}"
    assert figure.text() in (figure.text(2), figure.text(2).removesuffix("0"))


def test_the_protocol_is_one_line() -> None:
    assert protocol("irfl_detect_idiom", ["acc_figurative"]) == (
        "IRFL, arXiv 2303.15445: humans, majority of five, idioms with definitions / "
        "zero-shot, matching scores, idioms with definitions"
    )
    assert protocol("irfl_retrieve_simile", ["p@k"]) == "IRFL, arXiv 2303.15445: zero-shot, matching scores"


# --- the data files ---------------------------------------------------------------------------------------------------

TEXT = {"type": "string", "pattern": r"\S"}
NUMBER = {"type": "number", "minimum": 0}
TASKS = {"oneOf": [TEXT, {"type": "array", "items": TEXT, "minItems": 1}]}
RECORD = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("paper", "table", "model", "metric", "setting", "source"), TEXT),
        **dict.fromkeys(("value", "low", "high", "std"), NUMBER),
        "task": TASKS,
    },
    "required": ["table", "model", "metric", "setting", "source", "task"],
    "additionalProperties": False,
    "oneOf": [{"required": ["value"]}, {"required": ["low", "high"]}],
}
SCHEMA = {
    "type": "object",
    "properties": {
        "paper": TEXT,
        "records": {"type": "array", "items": RECORD},
        "rows": {"additionalProperties": {"oneOf": [TEXT, {"type": "integer", "minimum": 1}]}},
    },
    "required": ["paper", "records"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*/published.json")), ids=lambda path: path.parent.name)
def test_a_data_file_is_whole(path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(content, SCHEMA)
    figures = published.read_file(path).figures
    cells = Counter((task, p.metric, p.model, p.setting, p.paper) for p in figures for task in p.tasks)
    assert [cell for cell, count in cells.items() if count > 1] == []
    assert content.get("rows", {}).keys() <= {task for p in figures for task in p.tasks}
    for p in figures:
        found = measures.named(p.metric)
        assert found is not None, p
        numbers = [number for number in (p.value, p.low, p.high, p.std) if number is not None]
        assert not found[0].percent or max(numbers) <= 1, p
        assert p.low is None or p.high is None or p.low <= p.high, p
