"""`benchmarks/peers.py`: Marian's form of a BLEURT checkpoint, and the tables. No peer is installed here."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
import yaml
from safetensors.numpy import load_file

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

import explanation_score as checkpoints
import peers


@pytest.fixture(scope="module")
def bleurt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sizes = checkpoints.SMALL_BLEURT
    return checkpoints.checkpoint(tmp_path_factory.mktemp("peers") / "bleurt", sizes, checkpoints.write_bleurt)


def test_marian_reads_the_same_tokens_and_weights(bleurt: Path) -> None:
    folder = peers.write_marian(bleurt, bleurt.with_name("marian"), checkpoints.SMALL_BLEURT.heads)
    ours = sentencepiece.SentencePieceProcessor(model_file=str(bleurt / "spm.model"))
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(folder / "vocab.spm"))
    text = checkpoints.make_texts(1).references[0]
    assert theirs.encode(text) == ours.encode(text)
    assert theirs.eos_id() == 1 and len(theirs) == len(ours)

    model, state = np.load(folder / "model.npz"), load_file(bleurt / "model.safetensors")
    words = state["bleurt.embeddings.word_embeddings.weight"]
    assert (model["Wemb"][:2] == words[[ours.piece_to_id("[CLS]"), ours.piece_to_id("[SEP]")]]).all()
    assert (model["Wemb"][2:] == words[2 : len(ours)]).all()
    unused = {"bleurt.embeddings.position_ids"}
    assert len(model.files) - 1 == len(state.keys() - unused)  # and the settings
    settings = yaml.safe_load(model["special:model.yml"].tobytes().rstrip(b"\0"))
    assert (settings["enc-depth"], settings["dim-vocabs"]) == (checkpoints.SMALL_BLEURT.layers, [len(ours)])


def test_the_table_says_what_was_not_measured() -> None:
    found = {
        "mbrs-rows": peers.Measured([8.0, 6.0], [0.5, 0.7]),
        "pymarian": peers.Measured(failed="ImportError: no wheel"),
        "bleurt-fp32": peers.Measured([3.0], [0.5, 0.75]),
        "bleurt-fast": peers.Measured([1.5], [0.5, 0.74]),
    }
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in peers.table("BLEURT", found).splitlines()[2:]]
    assert rows == [
        ["mbrs, row by row", "6.0", "1.00", "2.00", "5.0e-02"],
        ["PyMarian, batches of 16", "not measured", "", "", "ImportError: no wheel"],
        ["ours, fp32", "3.0", "2.00", "1.00", "0.0e+00"],
        ["ours, fast", "1.5", "4.00", "0.50", "1.0e-02"],
    ]
