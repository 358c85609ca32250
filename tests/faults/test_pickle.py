"""A pickle that would run code is never unpickled (of the cache of scores: in its own
test_cache.py).
"""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import tiny_models
import torch
from PIL import Image
from transformers import BertConfig, BertModel

from figlang_tasks import mini
from figlang_tasks.benchmarks.vflute import rows
from figlang_tasks.core import hub
from figlang_tasks.core.errors import DataError
from figlang_tasks.metrics.explanation import WeightsError
from figlang_tasks.metrics.explanation.weights import Located, load
from figlang_tasks.metrics.generated_images import (
    INCEPTION_FILE,
    ImageMetricError,
    inception_features,
)


class Poison:
    """Makes a folder when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[..., None], tuple[str]]:
        return os.mkdir, (str(self.mark),)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """What the poison makes; it works where a pickle is read."""
    path = tmp_path / "poisoned"
    pickle.loads(pickle.dumps(Poison(path)))
    path.rmdir()
    return path


def as_zip(path: Path, mark: Path) -> None:
    torch.save({"weight": Poison(mark)}, path)


def as_legacy(path: Path, mark: Path) -> None:
    torch.save({"weight": Poison(mark)}, path, _use_new_zipfile_serialization=False)


def as_pickle(path: Path, mark: Path) -> None:
    path.write_bytes(pickle.dumps({"weight": Poison(mark)}))


FORMS = pytest.mark.parametrize("write", [as_zip, as_legacy, as_pickle])


@FORMS
def test_weights_of_a_scorer(
    write: Callable[[Path, Path], None], tmp_path: Path, mark: Path
) -> None:
    write(tmp_path / "pytorch_model.bin", mark)
    with pytest.raises(WeightsError, match=r"pytorch_model\.bin cannot be read,.* load it again"):
        load(
            BertModel, Located(tmp_path, "poisoned"), BertConfig(num_hidden_layers=1), torch.float32
        )
    assert not mark.exists()


@FORMS
def test_weights_of_a_model(
    write: Callable[[Path, Path], None], tmp_path: Path, mark: Path
) -> None:
    from figlang_tasks.models.dual_encoder import FigLangCLIP

    folder = tiny_models.write_encoder("clip", tmp_path / "clip")
    (folder / "model.safetensors").unlink()
    write(folder / "pytorch_model.bin", mark)
    with pytest.raises(
        Exception, match=r"pytorch_model.bin|[Ww]eights"
    ):  # transformers raises kinds of its own
        FigLangCLIP(str(folder), device="cpu")
    assert not mark.exists()


@FORMS
def test_weights_of_the_image_metric(
    write: Callable[[Path, Path], None], tmp_path: Path, mark: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch_fidelity")
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    write(tmp_path / INCEPTION_FILE, mark)
    with pytest.raises(ImageMetricError, match="cannot be read"):
        inception_features([Image.new("RGB", (8, 8))])
    assert not mark.exists()


def test_files_beside_the_data(tmp_path: Path, mark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of data with pickles, and a loading script, in it."""
    folder = tmp_path / "figlang_mini"
    shutil.copytree(mini.DATA_DIR, folder)
    for name in ("test.pkl", "data/test-00000-of-00001.pkl", "state.pickle", "dataset_dict.bin"):
        as_pickle(folder / name, mark)
    for name in ("figlang_mini.py", "data/data.py"):
        (folder / name).write_text(f"import os\nos.mkdir({str(mark)!r})\n")
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    assert len(rows.load("figlang_mini", "test")) == 76
    assert not mark.exists()


def test_a_pickle_in_place_of_the_data(
    tmp_path: Path, mark: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "figlang_mini"
    shutil.copytree(mini.DATA_DIR, folder)
    (path,) = folder.glob("**/test-*.parquet")
    as_pickle(path, mark)
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    with pytest.raises(DataError, match=r"split 'test' in .* cannot be read"):
        rows.load("figlang_mini", "test")
    assert not mark.exists()
