"""`figlang_clip` has other scores than transformers used pair by pair, or computes twice, if this
fails.
"""

from __future__ import annotations

import functools
import json
import shutil
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tiny_encoders
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from tiny_encoders import KINDS, WORDS, longest, reference, sentences

from figlang_tasks import FigLangError
from figlang_tasks.core.score_requests import KEY, read_answer
from figlang_tasks.mini import DEMO_MODEL_DIR
from figlang_tasks.models.ahead import THREADS
from figlang_tasks.models.dual_encoder import AUTO_BATCH, CLIPError, FigLangCLIP

PARTS = {"blip": "text_encoder", "blip-2": "qformer", "vilt": "vilt"}
"""Of the matching heads, the part that sees each pair; other kinds have two encoders."""
OTHERS = sorted(KINDS.keys() - {"clip", "blip", "vilt"})


def noise(number: int, size: tuple[int, int] = (40, 48)) -> Image.Image:
    pixels = np.random.default_rng(number).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    return Image.fromarray(pixels)


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tiny")
    return {kind: tiny_encoders.write(kind, folder / kind) for kind in KINDS}


@pytest.fixture(scope="module")
def loaded(checkpoints: dict[str, Path]) -> Callable[[str], FigLangCLIP]:
    """A model of each kind that tests ask and leave as it is."""
    return functools.cache(lambda kind: load(checkpoints[kind]))


def load(folder: Path, **arguments: Any) -> FigLangCLIP:
    return FigLangCLIP(pretrained=str(folder), device="cpu", **({"batch_size": 4} | arguments))


def counted(model: FigLangCLIP) -> Counter[str]:
    """Count the items that pass through the parts of the model from now on."""
    seen: Counter[str] = Counter()

    def watch(name: str) -> Callable[..., None]:
        def before(module: Any, args: tuple, kwargs: dict[str, Any]) -> None:
            values = [*args, *kwargs.values()]
            seen[name] += len(next(value for value in values if isinstance(value, torch.Tensor)))

        return before

    network: Any = model.network
    for name in ("vision_model", "text_model", "text_encoder", "qformer", "vilt"):
        part = getattr(network, "tower", None) if name == "vision_model" else None
        if part := part or getattr(network.model, name, None):
            part.register_forward_pre_hook(watch(name), with_kwargs=True)
    return seen


def ask(model: FigLangCLIP, docs: list[dict[str, Any]]) -> list[list[float]]:
    """Scores of docs with `images` and either `text` or `candidates`, asked without the harness."""
    model.task_dict = {"rank": {"test": docs}}
    requests: list[Any] = []
    for number, doc in enumerate(docs):
        kind = (
            {"kind": "candidates", "candidates": "candidates"}
            if "candidates" in doc
            else {"kind": "match"}
        )
        arguments = (
            doc.get("text", ""),
            {KEY: kind},
            lambda doc: doc["images"],
            number,
            "rank",
            "test",
        )
        requests.append(SimpleNamespace(args=arguments))
    answers = [read_answer(answer) for answer in model.generate_until(requests)]
    assert all(answer is not None for answer in answers)
    return [answer for answer in answers if answer is not None]


def flat(scores: list[list[float]]) -> list[float]:
    return [score for of_request in scores for score in of_request]


def some_docs() -> list[dict[str, Any]]:
    """Pictures of different shapes and texts of different lengths, several of each more than
    once.
    """
    shown = [noise(number, (40 + 9 * number, 70 - 8 * number)) for number in range(5)]
    said = sentences(7)
    docs: list[dict[str, Any]] = [
        {"images": [shown[n], shown[(n + 2) % 5]], "text": said[n]} for n in range(5)
    ]
    return docs + [{"images": [shown[n]], "candidates": said[2 * n : 2 * n + 3]} for n in range(3)]


def expected(folder: Path, kind: str, docs: list[dict[str, Any]]) -> Any:
    """The scores of all docs in a row, nearly."""
    pairs = [
        (image, t)
        for d in docs
        for image in d["images"]
        for t in d.get("candidates", [d.get("text")])
    ]
    return pytest.approx([reference(folder, kind, *pair) for pair in pairs], abs=1e-5)


# --- requests ---


def test_a_request_for_words_is_refused_by_name(loaded: Callable[[str], FigLangCLIP]) -> None:
    words: Any = SimpleNamespace(args=("Is it?", {"until": []}, list, 0, "rank_words", "test"))
    with pytest.raises(
        CLIPError, match="task rank_words asks for an answer in words, but this model only scores"
    ):
        loaded("clip").generate_until([words])


# --- scores ---


@pytest.mark.parametrize(
    "kind",
    ["clip", "blip", "vilt", *(pytest.param(kind, marks=pytest.mark.slow) for kind in OTHERS)],
)
def test_neither_batches_nor_order_matter_and_nothing_is_encoded_twice(
    kind: str, checkpoints: dict[str, Path]
) -> None:
    docs = some_docs()
    model = load(checkpoints[kind], batch_size=1)
    model.texts.size = 1
    seen = counted(model)
    found = ask(model, docs)
    assert flat(found) == expected(checkpoints[kind], kind, docs)
    if kind not in PARTS:
        assert seen == {"vision_model": 5, "text_model": 7}
    else:
        assert seen.pop("vision_model", 5) <= sum(len(doc["images"]) for doc in docs), (
            "in each batch of pairs once"
        )
        pairs = {
            (id(shown), t)
            for d in docs
            for shown in d["images"]
            for t in d.get("candidates", [d.get("text")])
        }
        assert seen == {PARTS[kind]: len(pairs)}
    model.images.size, model.pairs.size, model.texts.size = 3, 3, 4
    assert flat(ask(model, docs)) == pytest.approx(flat(found), abs=1e-6)
    model.images.size, model.pairs.size, model.texts.size = AUTO_BATCH, AUTO_BATCH, 256
    assert flat(ask(model, docs[::-1])[::-1]) == pytest.approx(flat(found), abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_long_texts_are_cut_and_counted(
    kind: str,
    checkpoints: dict[str, Path],
    loaded: Callable[[str], FigLangCLIP],
    warnings_of_loguru: list[str],
) -> None:
    long = " ".join(WORDS * 3)
    docs = [{"images": [noise(0)], "candidates": ["love", long, f"{long} love", "love \ud800"]}]
    found = ask(loaded(kind), docs)
    docs[0]["candidates"] = ["love", long, f"{long} love", "love \ufffd"]
    assert flat(found) == expected(checkpoints[kind], kind, docs)
    assert f"2 of 4 texts cut to {longest(kind)} tokens" in "".join(warnings_of_loguru)


@pytest.mark.parametrize("kind", ["clip", "blip"])
def test_equal_pictures_and_texts_tie_exactly(kind: str, checkpoints: dict[str, Path]) -> None:
    model = load(checkpoints[kind])
    seen = counted(model)
    docs: list[dict[str, Any]] = [
        {"images": [noise(n), noise(0), noise(n)], "text": "love"} for n in range(3)
    ]
    docs.append({"images": [noise(2)], "candidates": ["wave", "love", "sea", "love"]})
    grey = noise(7).convert("L")
    docs.append({"images": [grey, grey.convert("RGB")], "text": "love"})
    found = ask(model, docs)
    assert seen["vision_model"] == 4 and found[4][0] == found[4][1]
    assert all(scores[0] == scores[2] for scores in found[:3])
    assert found[0][1] == found[1][1] == found[2][1]
    assert found[3][1] == found[3][3] == found[2][0]


# --- memory ---


def test_pictures_are_let_go_of_batch_by_batch(loaded: Callable[[str], FigLangCLIP]) -> None:
    references: list[weakref.ref] = []
    alive: list[int] = []

    def shown(number: int) -> Image.Image:
        image = noise(number)
        references.append(weakref.ref(image))
        alive.append(sum(reference() is not None for reference in references))
        return image

    model = loaded("clip")
    model.task_dict = {"rank": {"test": list(range(40))}}
    requests: list[Any] = [
        SimpleNamespace(
            args=("love", {KEY: {"kind": "match"}}, lambda n: [shown(n)], n, "rank", "test")
        )
        for n in range(40)
    ]
    model.generate_until(requests)
    assert 4 <= max(alive) <= 5 + THREADS, "those of a batch, and those that are read ahead"


# --- errors ---


def test_what_is_not_a_dual_encoder(checkpoints: dict[str, Path], tmp_path: Path) -> None:
    answering = (
        "is not a dual encoder. Generative models run as .* Supported: .*clip, siglip.*,"
        " BlipForImageTextRet"
    )
    with pytest.raises(FigLangError, match=f"LlavaForConditionalGeneration.* {answering}"):
        load(DEMO_MODEL_DIR)
    config = json.loads((checkpoints["blip"] / "config.json").read_text())
    (tmp_path / "config.json").write_text(
        json.dumps(config | {"architectures": ["BlipForConditionalGeneration"]})
    )
    with pytest.raises(FigLangError, match=answering):
        load(tmp_path)


def test_a_checkpoint_with_a_weight_missing_is_refused(
    checkpoints: dict[str, Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(checkpoints["clip"], tmp_path / "copy")
    weights = load_file(folder / "model.safetensors")
    del weights["visual_projection.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(
        FigLangError,
        match="figlang_clip: .* lacks 1 weights of CLIPModel, such as visual_projection",
    ):
        load(folder)


@pytest.mark.parametrize(
    ("doc", "message"),
    [
        (
            {"images": [noise(1), noise(2)], "candidates": ["a"]},
            "task rank, document 0: 2 images; .* candidates needs",
        ),
        (
            {"images": [], "text": "a"},
            "task rank, document 0: 0 images; .* match needs at least one",
        ),
        (
            {"images": [noise(1)], "candidates": ["a", ""]},
            r"task rank, document 0: ValueError: figlang_score: candidates\[1\] is ''",
        ),
    ],
)
def test_requests_that_make_no_sense(
    doc: dict[str, Any], message: str, loaded: Callable[[str], FigLangCLIP]
) -> None:
    with pytest.raises(CLIPError, match=message):
        ask(loaded("clip"), [doc])


def test_a_broken_model_names_the_document(checkpoints: dict[str, Path]) -> None:
    model = load(checkpoints["clip"])
    torch.nn.init.constant_(model.network.model.visual_projection.weight, float("nan"))
    with pytest.raises(
        CLIPError, match="task rank, document 0: scores must be finite, but the model gave NaN"
    ):
        ask(model, some_docs())


# ViLT pads those of a batch
@pytest.mark.parametrize(("kind", "batch"), [("clip", 1), ("clip", 4), ("vilt", 1)])
def test_a_picture_that_a_model_cannot_read_names_its_document(
    kind: str, batch: int, checkpoints: dict[str, Path]
) -> None:
    model = load(checkpoints[kind], batch_size=batch)
    docs = some_docs()
    for number, doc in enumerate(docs):
        doc["images"] = [noise(number, (32, 32))]
    docs[5]["images"] = [noise(77, (3, 3))]  # of less than a patch
    for option in ("do_resize", "do_center_crop"):
        setattr(model.network.processor.image_processor, option, False)
    with pytest.raises(
        CLIPError,
        match="figlang_clip: task rank, document 5: its picture .*cannot be scored: .*Correct",
    ):
        ask(model, docs)


def test_a_text_that_a_model_cannot_read_names_its_document(checkpoints: dict[str, Path]) -> None:
    model = load(checkpoints["clip"])
    table = model.network.model.text_model.embeddings.token_embedding
    few = model.network.processor.tokenizer.convert_tokens_to_ids("0")  # letters come before digits
    table.weight = torch.nn.Parameter(table.weight[:few].clone())
    docs: list[dict[str, Any]] = [
        {"images": [noise(n)], "text": text} for n, text in enumerate(("a", "b", "c 7", "d"))
    ]
    with pytest.raises(
        CLIPError, match="task rank, document 2: its text 'c 7' cannot be scored: IndexError"
    ):
        ask(model, docs)


@pytest.mark.parametrize("kind", ["siglip", "siglip2", "align"])
def test_a_short_text_is_padded_as_the_model_was_trained(
    kind: str, checkpoints: dict[str, Path], loaded: Callable[[str], FigLangCLIP]
) -> None:
    docs = [{"images": [noise(1)], "text": "love"}]
    assert flat(ask(loaded(kind), docs)) == expected(checkpoints[kind], kind, docs)
