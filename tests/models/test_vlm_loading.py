"""What `figlang_vlm` loads, whole or not at all: checkpoints, adapters, processors."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from models.test_vlm import image, scores, text, user
from models.tiny_vlms import OLD, write
from safetensors.torch import load_file, save_file

from figlang_tasks.models import vlm_loading
from figlang_tasks.models.vlm import FigLangVLM

ASK = [user(image(1), text("What is it?"))]
CANDIDATES = ["a burning house", "the mule is stubborn"]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    folder = tmp_path_factory.mktemp("checkpoints")
    return functools.cache(lambda family: str(write(family, folder)))


def scored(pretrained: str, **arguments: Any) -> list[float]:
    lm = FigLangVLM(pretrained, device="cpu", **arguments)
    return scores(lm, ASK, kind="candidates", candidates=CANDIDATES)


# --- adapters --------------------------------------------------------------------------------------------------------

LAYERS = r".*\.(q_proj|v_proj|qkv|linear_2)"
QWEN = {"model.language_model.": "model.", "model.visual.": "visual."}
LLAVA = {
    "model.language_model.": "language_model.model.",
    "model.vision_tower.": "vision_tower.",
    "model.multi_modal_projector.": "multi_modal_projector.",
}
CLIP = {"model.vision_tower.": "vision_tower.vision_model."}


def adapter(pretrained: str, folder: Path) -> Path:
    """A LoRA in both halves of the model that changes what it answers."""
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(3)
    model = vlm_loading.load_model(pretrained, where="cpu", dtype=torch.float32)
    adapted = get_peft_model(model, LoraConfig(r=2, lora_alpha=4, target_modules=LAYERS))
    for name, weight in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight.data, std=0.5)
    adapted.save_pretrained(str(folder))
    return folder


def changed(source: Path, target: Path, name: Callable[[str], str | None], **config: Any) -> Path:
    """A copy of an adapter whose weights have other names; None leaves one out."""
    target.mkdir()
    weights = load_file(source / "adapter_model.safetensors")
    save_file(
        {new: value for key, value in weights.items() if (new := name(key))}, target / "adapter_model.safetensors"
    )
    settings = json.loads((source / "adapter_config.json").read_text()) | config
    (target / "adapter_config.json").write_text(json.dumps(settings))
    return target


@pytest.mark.skipif(OLD, reason="of transformers 4, whose mapping of names is another")
@pytest.mark.parametrize(
    ("family", "names", "targets"),
    [
        ("qwen2_vl", QWEN, LAYERS),
        ("qwen2_5_vl", QWEN, r"^(?!lm_head).*\.(q_proj|v_proj|qkv)"),
        # As ms-swift writes it; with today's names it means the vision half too.
        ("qwen2_5_vl", {"model.language_model.": "model."}, r"^(model)(?!.*(lm_head|embed_tokens)).*"),
        ("mistral3", LLAVA, ["q_proj", "v_proj", "linear_2"]),
        ("llava", LLAVA, LAYERS),
        ("llava", LLAVA | CLIP, r"(language_model\.model|vision_tower\.vision_model|multi_modal_projector)" + LAYERS),
        ("llava", {"model.vision_tower.": "model.vision_tower.vision_model."}, LAYERS),
    ],
)
def test_an_adapter_with_the_names_of_an_older_transformers_is_applied_whole(
    family: str, names: dict[str, str], targets: Any, checkpoint: Callable[[str], str], tmp_path: Path
) -> None:
    pretrained = checkpoint(family)
    new = adapter(pretrained, tmp_path / "new")

    def renamed(key: str) -> str | None:
        if len(names) == 1 and "visual" in key:
            return None  # of ms-swift, which leaves the vision half alone
        body = key.removeprefix("base_model.model.")
        start = next((each for each in names if body.startswith(each)), "")
        return "base_model.model." + names.get(start, "") + body.removeprefix(start)

    if family == "qwen2_5_vl" and len(names) == 1:
        new = changed(
            new,
            tmp_path / "text",
            lambda key: key if "visual" not in key else None,
            target_modules=r".*language_model.*\.(q_proj|v_proj)",
        )
    old = changed(new, tmp_path / "old", renamed, target_modules=targets)
    expected = scored(pretrained, peft=str(new))
    assert scored(pretrained, peft=str(old)) == expected
    assert expected != pytest.approx(scored(pretrained), abs=1e-2)


@pytest.mark.skipif(OLD, reason="of transformers 4, whose mapping of names is another")
def test_ranks_and_scales_of_old_names_are_those_of_the_new(checkpoint: Callable[[str], str], tmp_path: Path) -> None:
    pretrained = checkpoint("qwen2_vl")
    new = adapter(pretrained, tmp_path / "new")
    scale = {"model.language_model.layers.1.self_attn.q_proj": 64, "layers.0.self_attn.v_proj": 32}
    scaled = changed(new, tmp_path / "scaled", lambda key: key, alpha_pattern=scale)
    old = changed(
        scaled,
        tmp_path / "old",
        lambda key: key.replace("model.model.language_model", "model.model").replace(
            "model.model.visual", "model.visual"
        ),
        alpha_pattern={key.replace("language_model.", ""): value for key, value in scale.items()},
    )
    expected = scored(pretrained, peft=str(scaled))
    assert scored(pretrained, peft=str(old)) == expected
    assert expected != pytest.approx(scored(pretrained, peft=str(new)), abs=1e-2)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (lambda key: key.replace("layers.1.", "layers.7."), "does not fit the model: .* weights"),
        (lambda key: None if "layers.1." in key else key, "weights of its layers are not in its file"),
        (lambda key: key.replace("model.model.", "model.transformer."), "does not fit the model"),
    ],
    ids=["a deeper model", "a layer left out", "another model"],
)
def test_an_adapter_that_does_not_fit_is_refused(
    name: Callable[[str], str | None], message: str, checkpoint: Callable[[str], str], tmp_path: Path
) -> None:
    pretrained = checkpoint("llava")
    folder = changed(adapter(pretrained, tmp_path / "new"), tmp_path / "other", name)
    with pytest.raises(SystemExit, match=message) as told:
        FigLangVLM(pretrained, device="cpu", peft=str(folder))
    assert str(folder) in str(told.value)


def test_weights_of_an_adapter_without_a_layer_are_refused(checkpoint: Callable[[str], str], tmp_path: Path) -> None:
    pretrained = checkpoint("llava")
    new = adapter(pretrained, tmp_path / "new")
    targets = r".*layers\.[02].*\.(q_proj|v_proj)"
    folder = changed(new, tmp_path / "other", lambda key: key, target_modules=targets)
    with pytest.raises(SystemExit, match="of its weights have no place in the model, such as base_model"):
        FigLangVLM(pretrained, device="cpu", peft=str(folder))
