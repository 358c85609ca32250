"""Checkpoints of tiny models, written once for all tests of model classes."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet
import pytest
import tiny_vlms
from openai_server import OpenAIServer

from figlang_tasks.mini import DATA_DIR, DEMO_MODEL_DIR

if TYPE_CHECKING:
    from figlang_tasks.models.vlm import FigLangVLM


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    folder = tmp_path_factory.mktemp("checkpoints")
    return functools.cache(lambda family: str(tiny_vlms.write(family, folder)))


@pytest.fixture
def template(tmp_path: Path) -> Callable[[str], str]:
    """The path of a file with a chat template of `tiny_vlms.TEMPLATES`."""

    def written(name: str) -> str:
        path = tmp_path / f"{name}.jinja"
        path.write_text(tiny_vlms.TEMPLATES[name])
        return str(path)

    return written


@pytest.fixture
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A server with the demo model behind it; a test's parameter is its settings, or the list of its faults."""
    given = getattr(request, "param", {})
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    with OpenAIServer(DEMO_MODEL_DIR, **(given if isinstance(given, dict) else {"faults": given})) as running:
        yield running


@pytest.fixture
def build(checkpoint: Callable[[str], str], template: Callable[[str], str]) -> Callable[..., FigLangVLM]:
    """A model of a family, with its own chat template or a named one."""
    from figlang_tasks.models.vlm import FigLangVLM

    def build(family: str = "llava", name: str = "", **arguments: Any) -> FigLangVLM:
        given = {"chat_template": template(name)} if name else {}
        return FigLangVLM(**{"pretrained": checkpoint(family), "device": "cpu", **given, **arguments})

    return build


@pytest.fixture(scope="session")
def built(checkpoint: Callable[[str], str]) -> Callable[[str], FigLangVLM]:
    """A model of each family that tests ask and leave as it is."""
    from figlang_tasks.models.vlm import FigLangVLM

    return functools.cache(lambda family: FigLangVLM(checkpoint(family), device="cpu"))


# All tasks lie in one folder, since reading task files takes seconds.
SCORE_REQUESTS: dict[str, dict[str, Any] | None] = {
    "words": None,
    "candidates": {"kind": "candidates", "candidates": ["bird", "cat", "dog"]},
    "columns": {"kind": "candidates", "candidates": "own"},
    "match": {"kind": "match"},
    "match_words": {"kind": "match", "yes": "image", "no": "bridge"},
    "match_exact": {"kind": "match", "yes": " image", "no": " bridge"},
    "match_one": {"kind": "match", "yes": "The", "no": "No"},
    "match_same": {"kind": "match", "yes": "Yes", "no": " Yes"},
}
TASK = """
task: score_{name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: rows.jsonl}}}}
test_split: test
output_type: generate_until
doc_to_text: text
doc_to_target: gold
doc_to_visual: !function functions.doc_to_visual
doc_to_messages: !function functions.doc_to_messages
process_results: !function functions.process_results
num_fewshot: 0
generation_kwargs: {{max_new_tokens: 4, num_beams: 1, do_sample: false, temperature: 0, until: []{score}}}
metric_list: [{{metric: seen, aggregation: mean, higher_is_better: true}}]
"""
FUNCTIONS = """
from PIL import Image

def doc_to_visual(doc):
    return [Image.open(path).convert("RGB") for path in doc["pictures"]]

def doc_to_messages(doc, lmms_eval_specific_kwargs=None):
    images = [{"type": "image", "url": image} for image in doc_to_visual(doc)]
    return [{"role": "user", "content": [*images, {"type": "text", "text": doc["text"]}]}]

def process_results(doc, results):
    return {"seen": 1.0}
"""


@pytest.fixture(scope="session")
def score_tasks(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Tasks ``score_NAME`` of `SCORE_REQUESTS`, for --include_path; their three rows have 1, 2 and 3 pictures."""
    folder = tmp_path_factory.mktemp("scored")
    rows = pyarrow.parquet.read_table(next(DATA_DIR.rglob("test-*.parquet"))).slice(0, 3).to_pylist()
    pictures = [folder / f"{i}.png" for i in range(3)]
    docs = []
    for i, (row, gold, text) in enumerate(zip(rows, ("dog", "cat", "cat"), ("dog", "cat", "cow"), strict=True)):
        pictures[i].write_bytes(row["image"]["bytes"])
        shown = [str(path) for path in pictures[: i + 1]]
        docs.append({"text": f"Does it match? {row['claim']}", "pictures": shown, "gold": gold, "own": [text, "other"]})
    (folder / "rows.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    (folder / "functions.py").write_text(FUNCTIONS)
    for name, score in SCORE_REQUESTS.items():
        given = f", figlang_score: {json.dumps(score)}" if score else ""
        (folder / f"score_{name}.yaml").write_text(TASK.format(name=name, score=given))
    return str(folder)
