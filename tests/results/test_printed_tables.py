"""The figures of the data files are those of the papers' tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.results.published import for_task, rows

PRINTED = yaml.safe_load(Path(__file__).with_name("printed_tables.yaml").read_text(encoding="utf-8"))


def records(name: str) -> list[dict[str, Any]]:
    return json.loads((benchmarks()[name].folder / "published.json").read_text(encoding="utf-8"))["records"]


@pytest.mark.parametrize("name", ["irfl", "nycc"])
def test_figures_are_those_of_the_papers_tables(name: str) -> None:
    found: dict[str, dict[str, list[Any]]] = {}
    for record in records(name):
        task = record["task"] if isinstance(record["task"], str) else record["task"][0]
        numbers = [round(100 * record[n], 4) for n in ("value", "low", "high", "std") if n in record]
        columns = found.setdefault(record["table"], {})
        columns.setdefault(f"{task} {record['metric']}", []).append([record["model"], *numbers])
    assert found == PRINTED[name]


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
        ("vflute_10shot", "f1@60", "GPT-4", "49.78"),
        ("flute", "acc@50", "T5-3B (resource-rich baseline)", "69.05"),
        ("flute", "acc@60", "DREAM-FLUTE", "63.3"),
    ],
)
def test_figures_that_stand_in_no_table_above(task: str, metric: str, model: str, text: str) -> None:
    found = [row.values[metric] for row in rows(task, [metric])]
    assert [figure.text() for figure in found if figure.model == model] == [text]
