"""`figlang_clip` has the scores of transformers used pair by pair, and computes nothing twice."""

from __future__ import annotations

import functools
import itertools
import json
import operator
import shutil
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypedDict

import numpy as np
import pytest
import tiny_models
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from tiny_models import ENCODERS, WORDS, longest_text, reference_score, sentences

from figlang_tasks import FigLangError
from figlang_tasks.core.score_requests import KEY, read_answer
from figlang_tasks.mini import DEMO_MODEL_DIR
from figlang_tasks.models.ahead import THREADS
from figlang_tasks.models.dual_encoder import AUTO_BATCH, CLIPError, FigLangCLIP

PAIR_PARTS = {"blip": "text_encoder", "blip-2": "qformer", "vilt": "vilt"}
"""The part of a matching head that sees each pair; other kinds have two encoders."""
SLOW_KINDS = sorted(ENCODERS.keys() - {"clip", "blip", "vilt"})


class Doc(TypedDict, total=False):
    """Pictures with either a text or candidates."""

    images: list[Image.Image]
    text: str
    candidates: list[str]


def noise(number: int, size: tuple[int, int] = (40, 48)) -> Image.Image:
    pixels = np.random.default_rng(number).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    return Image.fromarray(pixels)


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tiny")
    return {kind: tiny_models.write_encoder(kind, folder / kind) for kind in ENCODERS}


@pytest.fixture(scope="module")
def loaded(checkpoints: dict[str, Path]) -> Callable[[str], FigLangCLIP]:
    """Loads the model of a kind, once, for tests that leave it as it is."""
    return functools.cache(lambda kind: load(checkpoints[kind]))


def load(folder: Path, **arguments: Any) -> FigLangCLIP:
    return FigLangCLIP(pretrained=str(folder), device="cpu", **({"batch_size": 4} | arguments))


def counted(model: FigLangCLIP) -> Counter[str]:
    """Counts of the items that pass through each part of the model from now on."""
    item_counts: Counter[str] = Counter()

    def count(name: str, module: object, args: tuple, kwargs: dict[str, object]) -> None:
        for argument in [*args, *kwargs.values()]:
            if isinstance(argument, torch.Tensor):
                item_counts[name] += len(argument)
                return

    network: Any = model.network
    parts: dict[str, torch.nn.Module] = {}
    for name in ("vision_model", "text_model", "text_encoder", "qformer", "vilt"):
        if hasattr(network.model, name):
            parts[name] = getattr(network.model, name)
    if hasattr(network, "tower"):  # taken out of the model (`BlipMatcher`)
        parts["vision_model"] = network.tower
    for name, part in parts.items():
        part.register_forward_pre_hook(functools.partial(count, name), with_kwargs=True)
    return item_counts


def ask(model: FigLangCLIP, docs: list[Doc]) -> list[list[float]]:
    """Scores of docs with `images` and either `text` or `candidates`, asked without the harness."""
    model.task_dict = {"rank": {"test": docs}}
    requests: list[Any] = []
    for number, doc in enumerate(docs):
        score_request = {"kind": "match"}
        if "candidates" in doc:
            score_request = {"kind": "candidates", "candidates": "candidates"}
        arguments = (
            doc.get("text", ""),
            {KEY: score_request},
            operator.itemgetter("images"),
            number,
            "rank",
            "test",
        )
        requests.append(SimpleNamespace(args=arguments))
    scores_of_docs: list[list[float]] = []
    for answer in model.generate_until(requests):
        scores = read_answer(answer)
        assert scores is not None
        scores_of_docs.append(scores)
    return scores_of_docs


def flat(scores: list[list[float]]) -> list[float]:
    return list(itertools.chain.from_iterable(scores))


def some_docs() -> list[Doc]:
    """Documents with pictures of different shapes and texts of different lengths.

    Several of each stand in more than one document.
    """
    pictures = [noise(number, (40 + 9 * number, 70 - 8 * number)) for number in range(5)]
    texts = sentences(7)
    docs: list[Doc] = []
    for number in range(5):
        two_pictures = [pictures[number], pictures[(number + 2) % 5]]
        docs.append({"images": two_pictures, "text": texts[number]})
    for number in range(3):
        three_texts = texts[2 * number : 2 * number + 3]
        docs.append({"images": [pictures[number]], "candidates": three_texts})
    return docs


def pairs_of(docs: list[Doc]) -> list[tuple[Image.Image, str]]:
    """Every picture with every text of its document."""
    pairs: list[tuple[Image.Image, str]] = []
    for doc in docs:
        texts = doc["candidates"] if "candidates" in doc else [doc["text"]]
        pairs += itertools.product(doc["images"], texts)
    return pairs


def expected(folder: Path, kind: str, docs: list[Doc]) -> Any:
    """The scores of all docs in a row, nearly."""
    scores = [reference_score(folder, kind, picture, text) for picture, text in pairs_of(docs)]
    return pytest.approx(scores, abs=1e-5)


# --- requests ---


def test_a_request_for_words_is_refused_by_name(loaded: Callable[[str], FigLangCLIP]) -> None:
    request: Any = SimpleNamespace(args=("Is it?", {"until": []}, list, 0, "rank_words", "test"))
    message = "task rank_words asks for an answer in words, but this model only scores"
    with pytest.raises(CLIPError, match=message):
        loaded("clip").generate_until([request])


# --- scores ---


@pytest.mark.parametrize(
    "kind",
    ["clip", "blip", "vilt", *(pytest.param(kind, marks=pytest.mark.slow) for kind in SLOW_KINDS)],
)
def test_neither_batches_nor_order_matter_and_nothing_is_encoded_twice(
    kind: str, checkpoints: dict[str, Path]
) -> None:
    docs = some_docs()
    model = load(checkpoints[kind], batch_size=1)
    model.texts.size = 1
    item_counts = counted(model)
    scores = flat(ask(model, docs))
    assert scores == expected(checkpoints[kind], kind, docs)
    if kind not in PAIR_PARTS:
        assert item_counts == {"vision_model": 5, "text_model": 7}
    else:
        # A matching head looks at a picture once in each batch of pairs.
        assert item_counts.pop("vision_model", 5) <= sum(len(doc["images"]) for doc in docs)
        distinct_pairs = {(id(picture), text) for picture, text in pairs_of(docs)}
        assert item_counts == {PAIR_PARTS[kind]: len(distinct_pairs)}
    model.images.size = model.pairs.size = 3
    model.texts.size = 4
    assert flat(ask(model, docs)) == pytest.approx(scores, abs=1e-6)
    model.images.size = model.pairs.size = AUTO_BATCH
    model.texts.size = 256
    reversed_scores = ask(model, docs[::-1])
    assert flat(reversed_scores[::-1]) == pytest.approx(scores, abs=1e-6)


@pytest.mark.parametrize("kind", ENCODERS)
def test_long_texts_are_cut_and_counted(
    kind: str,
    checkpoints: dict[str, Path],
    loaded: Callable[[str], FigLangCLIP],
    warnings_of_loguru: list[str],
) -> None:
    long = " ".join(WORDS * 3)
    docs: list[Doc] = [
        {"images": [noise(0)], "candidates": ["love", long, f"{long} love", "love \ud800"]}
    ]
    scores = flat(ask(loaded(kind), docs))
    docs[0]["candidates"] = ["love", long, f"{long} love", "love \ufffd"]
    assert scores == expected(checkpoints[kind], kind, docs)
    assert f"2 of 4 texts cut to {longest_text(kind)} tokens" in "".join(warnings_of_loguru)


@pytest.mark.parametrize("kind", ["clip", "blip"])
def test_equal_pictures_and_texts_tie_exactly(kind: str, checkpoints: dict[str, Path]) -> None:
    model = load(checkpoints[kind])
    item_counts = counted(model)
    docs: list[Doc] = [{"images": [noise(n), noise(0), noise(n)], "text": "love"} for n in range(3)]
    docs.append({"images": [noise(2)], "candidates": ["wave", "love", "sea", "love"]})
    grey = noise(7).convert("L")
    docs.append({"images": [grey, grey.convert("RGB")], "text": "love"})
    scores_of_docs = ask(model, docs)
    assert item_counts["vision_model"] == 4
    for scores in scores_of_docs[:3]:
        assert scores[0] == scores[2], "the same picture twice"
    assert scores_of_docs[0][1] == scores_of_docs[1][1] == scores_of_docs[2][1]
    candidate_scores = scores_of_docs[3]
    assert candidate_scores[1] == candidate_scores[3] == scores_of_docs[2][0]
    of_grey, of_grey_in_rgb = scores_of_docs[4]
    assert of_grey == of_grey_in_rgb


# --- memory ---


def test_pictures_are_let_go_of_batch_by_batch(loaded: Callable[[str], FigLangCLIP]) -> None:
    references: list[weakref.ref] = []
    living_counts: list[int] = []

    def new_pictures(number: int) -> list[Image.Image]:
        """A new picture, and a count of the pictures that are still in memory."""
        picture = noise(number)
        references.append(weakref.ref(picture))
        living_counts.append(sum(reference() is not None for reference in references))
        return [picture]

    model = loaded("clip")
    model.task_dict = {"rank": {"test": list(range(40))}}
    requests: list[Any] = []
    for number in range(40):
        arguments = ("love", {KEY: {"kind": "match"}}, new_pictures, number, "rank", "test")
        requests.append(SimpleNamespace(args=arguments))
    model.generate_until(requests)
    assert 4 <= max(living_counts) <= 5 + THREADS, "those of a batch, and those read ahead"


# --- errors ---


def test_a_model_that_is_no_dual_encoder_is_refused(
    checkpoints: dict[str, Path], tmp_path: Path
) -> None:
    message = (
        "is not a dual encoder. Generative models run as .* Supported: .*clip, siglip.*,"
        " BlipForImageTextRet"
    )
    with pytest.raises(FigLangError, match=f"LlavaForConditionalGeneration.* {message}"):
        load(DEMO_MODEL_DIR)
    config = json.loads((checkpoints["blip"] / "config.json").read_text())
    (tmp_path / "config.json").write_text(
        json.dumps(config | {"architectures": ["BlipForConditionalGeneration"]})
    )
    with pytest.raises(FigLangError, match=message):
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
        match=r"figlang_clip: .* lacks 1 weights of CLIPModel, such as visual_projection",
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
def test_a_request_that_cannot_be_answered_names_its_document(
    doc: Doc, message: str, loaded: Callable[[str], FigLangCLIP]
) -> None:
    with pytest.raises(CLIPError, match=message):
        ask(loaded("clip"), [doc])


def test_a_broken_model_names_the_document(checkpoints: dict[str, Path]) -> None:
    model = load(checkpoints["clip"])
    torch.nn.init.constant_(model.network.model.visual_projection.weight, float("nan"))
    message = "task rank, document 0: scores must be finite, but the model gave NaN"
    with pytest.raises(CLIPError, match=message):
        ask(model, some_docs())


# Not vilt in batches: it pads the small picture to the size of the others.
@pytest.mark.parametrize(("kind", "batch"), [("clip", 1), ("clip", 4), ("vilt", 1)])
def test_a_picture_that_a_model_cannot_read_names_its_document(
    kind: str, batch: int, checkpoints: dict[str, Path]
) -> None:
    model = load(checkpoints[kind], batch_size=batch)
    docs = some_docs()
    for number, doc in enumerate(docs):
        doc["images"] = [noise(number, (32, 32))]
    docs[5]["images"] = [noise(77, (3, 3))]  # smaller than a patch
    for option in ("do_resize", "do_center_crop"):
        setattr(model.network.processor.image_processor, option, False)
    message = "figlang_clip: task rank, document 5: its picture .*cannot be scored: .*Correct"
    with pytest.raises(CLIPError, match=message):
        ask(model, docs)


def test_a_text_that_a_model_cannot_read_names_its_document(checkpoints: dict[str, Path]) -> None:
    model = load(checkpoints["clip"])
    # No digit has an embedding any more: letters come before digits.
    embedding = model.network.model.text_model.embeddings.token_embedding
    first_digit = model.network.processor.tokenizer.convert_tokens_to_ids("0")
    embedding.weight = torch.nn.Parameter(embedding.weight[:first_digit].clone())
    docs: list[Doc] = []
    for number, text in enumerate(("a", "b", "c 7", "d")):
        docs.append({"images": [noise(number)], "text": text})
    message = "task rank, document 2: its text 'c 7' cannot be scored: IndexError"
    with pytest.raises(CLIPError, match=message):
        ask(model, docs)


@pytest.mark.parametrize("kind", ["siglip", "siglip2", "align"])
def test_a_short_text_is_padded_as_the_model_was_trained(
    kind: str, checkpoints: dict[str, Path], loaded: Callable[[str], FigLangCLIP]
) -> None:
    docs: list[Doc] = [{"images": [noise(1)], "text": "love"}]
    assert flat(ask(loaded(kind), docs)) == expected(checkpoints[kind], kind, docs)
