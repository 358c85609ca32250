"""Figures and names in the documents against the papers, the released tables and an independent count."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from docs.documents import ROOT
from transformers import (
    DebertaConfig,
    DebertaForSequenceClassification,
    RemBertConfig,
    RemBertForSequenceClassification,
)

from figlang_tasks.cli import doctor_checks
from figlang_tasks.core.benchmark import names


def text_of(name: str) -> str:
    """A file of the repository, its lines joined."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


# --- weights of metric models ----------------------------------------------------------------------------------------

# Their config.json, without what makes no difference to the number of parameters.
_DEBERTA: Mapping[str, Any] = {
    **{"hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16, "vocab_size": 50265},
    **{"type_vocab_size": 0, "relative_attention": True, "position_biased_input": False},
    **{"pos_att_type": ["c2p", "p2c"], "pooler_hidden_size": 1024, "num_labels": 3},
}
_BLEURT: Mapping[str, Any] = {
    **{"hidden_size": 1152, "intermediate_size": 4608, "num_attention_heads": 18, "num_hidden_layers": 32},
    **{"vocab_size": 250300, "input_embedding_size": 256, "num_labels": 1},
}


def test_sizes_of_weights() -> None:
    """The hub lists 1.52 GB for deberta-xlarge-mnli, which is stored in fp16, and 1.62 for -large-mnli, in fp32."""

    def parameters(model: Any, config: Any) -> int:
        with torch.device("meta"):
            return sum(each.numel() for each in model(config).parameters())

    def deberta(layers: int) -> int:
        return parameters(DebertaForSequenceClassification, DebertaConfig(**_DEBERTA, num_hidden_layers=layers))

    xlarge, large, cut = 2 * deberta(48), 4 * deberta(24), 4 * deberta(40)  # bytes
    bleurt = 4 * parameters(RemBertForSequenceClassification, RemBertConfig(**_BLEURT))
    assert (round(xlarge / 1e9, 2), round(large / 1e9, 2)) == (1.52, 1.62)

    def told(size: int) -> str:
        return f"{size / 1e9:.1f} GB"

    manual = text_of("docs/explanation_score.md")
    assert f"{told(xlarge + bleurt)} for `vflute25` (DeBERTa-xlarge {told(xlarge)}, in half precision" in manual
    assert f"BLEURT {told(bleurt)}), {told(xlarge + large + bleurt)} for all of the papers' scorers" in manual
    assert f"take {told(cut + bleurt)} in fp32" in manual
    assert f"V-FLUTE's scorer needs {told(xlarge + bleurt)} of weights" in text_of("docs/quickstart.md")
    assert f"({told(xlarge + bleurt)} for V-FLUTE)" in text_of("docs/troubleshooting.md")
    assert f"explanation scorers ({told(xlarge + large + bleurt)})" in text_of("figlang_tasks/cli/data.py")
    assert f"{told(xlarge)} of weights" in text_of("docs/submit.md")  # figlang24 has no BLEURT
    data = 4.8 + 1.7 + 0.6 + 0.6  # V-FLUTE, IRFL, NYK-MS, New Yorker Caption Contest, as their cards say
    assert doctor_checks._all_downloads() == pytest.approx(data * 1e9 + xlarge + large + bleurt, abs=1e8)
    assert cut + bleurt < doctor_checks._SCORER_MEMORY


# --- papers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared_file", ["papers/vflute.txt"], indirect=True)
@pytest.mark.parametrize(
    ("words", "named_in"),
    [
        (
            "we looked at the sample outputs of each model and designed rules",
            "figlang_tasks/benchmarks/vflute/parse.py",
        ),
        ("All models are evaluated using beam search", "task_yamls/lmms_eval/vflute/_base.yaml"),
        ("All models are evaluated using beam search", "docs/cards/vflute.md"),
        ("Model Name: gemini-pro-vision", "docs/cards/vflute.md"),
    ],
)
def test_v_flute_says_so_in_the_appendix_that_is_named(shared_file: Path, words: str, named_in: str) -> None:
    paper = shared_file.read_text(encoding="utf-8")
    letter = re.findall(r"^Appendix ([A-K]) ", paper[: paper.index(words)], re.MULTILINE)[-1]
    assert f"Appendix {letter}" in text_of(named_in)
    lines = (ROOT / named_in).read_text(encoding="utf-8").splitlines()
    if named_in.endswith(".py"):
        assert {each for line in lines for each in re.findall(r"Appendix ([A-K])", line)} == {letter}


@pytest.mark.parametrize("shared_file", ["papers/vflute.txt"], indirect=True)
def test_the_gemini_of_v_flute(shared_file: Path) -> None:
    paper = shared_file.read_text(encoding="utf-8")
    assert "GeminiPro (gemini-pro-vision)" in paper and "Gemini-1.5-Pro 53.70 39.72 19.01" in paper
    assert re.search(
        r"\| Gemini \(`gemini-pro-vision`, [^|]*prints \"Gemini-1.5-Pro\"\) \| 53.70", text_of("docs/cards/vflute.md")
    )


def test_published_rows_in_the_readme() -> None:
    published = json.loads((ROOT / "figlang_tasks/benchmarks/vflute/published.json").read_text(encoding="utf-8"))
    models: dict[str, dict[str, str]] = {}
    for record in published["records"]:
        if record["table"] in ("Table 4", "Table 18") and "vflute" in (record["task"], *record["task"]):
            models.setdefault(record["model"], {})[record["metric"]] = f"{100 * record['value']:.2f}"
    rows = {tuple(values.get(name, "–") for name in ("f1@0", "f1@53", "f1@60")) for values in models.values()}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| .+? \| ([\d.]+) \| ([\d.–]+) \| ([\d.–]+) \| published \|$", readme, re.MULTILINE)
    assert len(shown) == readme.count("| published |") == 8
    assert set(shown) <= rows


def test_the_readme_counts_the_benchmarks() -> None:
    readme, words = text_of("README.md"), ("five", "six", "seven", "eight", "nine", "ten")
    assert f"{words[len(names()) - 5]} published benchmarks" in readme
    assert all(f"](docs/cards/{name}.md): " in readme for name in names())


# --- released tables -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared_file", ["data/irfl/metaphor_detection_task.csv"], indirect=True)
def test_literal_distractors_of_irfl_metaphors(shared_file: Path) -> None:
    """Counted from the tables, without this package's readers."""

    def rows(path: Path) -> list[dict[str, str]]:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    phrases: dict[str, set[str]] = {}
    retrieval = rows(shared_file.with_name("metaphor_retrieval_task.csv"))
    for row in retrieval:
        for image in json.loads(row["first_category"]) + json.loads(row["second_category"]):
            phrases.setdefault(image, set()).add(row["phrase"])
    known, lacking = {row["phrase"] for row in retrieval}, set()
    found: Counter[str] = Counter()
    for row in rows(shared_file):
        for image in json.loads(row["images_metadata"]):
            if image["category"] != "literal" or image["uuid"] in json.loads(row["answer"]):
                continue
            stands = phrases.get(image["uuid"])
            if row["phrase"] not in known:
                lacking.add(row["phrase"])
                found["phrase lacks"] += 1
            else:
                found["no phrase" if stands is None else "own" if row["phrase"] in stands else "other"] += 1
    assert len(lacking) == 1
    assert (
        f"({found.total()} distractors: {found['own']} of them are also in the retrieval table under the row's own "
        f"phrase, {found['other']} under another phrase, {found['no phrase']} not at all; the other "
        f"{found['phrase lacks']} are in rows of the one phrase that the retrieval table lacks)"
    ) in text_of("docs/cards/irfl.md")


@pytest.mark.parametrize("shared_file", ["data/flute_train.jsonl"], indirect=True)
def test_sentences_that_rows_of_flute_share(shared_file: Path) -> None:
    rows = [json.loads(line) for line in shared_file.read_text(encoding="utf-8").splitlines() if line]
    told = []
    for name in ("premise", "hypothesis"):
        labels: dict[str, list[str]] = {}
        for row in rows:
            labels.setdefault(row[name], []).append(row["label"])
        shared = [each for each in labels.values() if len(each) > 1]
        told += [sum(map(len, shared)), sum(len(each) for each in shared if len(set(each)) == 2)]
    assert (
        f"{told[0]:,} rows share their premise with another row, {told[2]:,} their hypothesis ({told[3]:,} of them "
        "with a row of the other label)"
    ) in text_of("docs/cards/flute.md")
