"""What `figlang_vlm` loads, whole or not at all: checkpoints, adapters, processors."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_models import hf
from tokenizers.processors import TemplateProcessing
from vlm_requests import image, made, scores, text, user

from figlang_tasks import FigLangError
from figlang_tasks.models import vlm_loading
from figlang_tasks.models.vlm import FigLangVLM, VLMError

ASK = [user(image(1), text("What is it?"))]
CANDIDATES = ["a burning house", "the mule is stubborn"]


def scored(pretrained: str, **arguments: Any) -> list[float]:
    lm = FigLangVLM(pretrained, device="cpu", **arguments)
    return scores(lm, ASK, kind="candidates", candidates=CANDIDATES)


# --- checkpoints ---


def copied(pretrained: str, target: Path, **changes: object) -> str:
    """A copy of a checkpoint with another configuration."""
    shutil.copytree(pretrained, target)
    config = target / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | changes))
    return str(target)


def test_a_checkpoint_with_a_weight_missing_is_refused(
    checkpoint: Callable[[str], str], tmp_path: Path
) -> None:
    vision = json.loads((Path(checkpoint("llava")) / "config.json").read_text())["vision_config"]
    folder = copied(
        checkpoint("llava"), tmp_path / "copy", vision_config=vision | {"num_hidden_layers": 3}
    )
    with pytest.raises(
        FigLangError, match=r"lacks 16 weights of LlavaForCond.*, such as .*vision.*layers\.2\."
    ):
        FigLangVLM(folder, device="cpu")


T5 = {"model_type": "t5", "d_model": 8}


@pytest.mark.parametrize(
    ("config_name", "arguments", "message"),
    [
        (
            "CLIPConfig",
            {"architectures": ["CLIPModel"]},
            r"CLIPModel\) is not an image-text.* --model figlang_clip",
        ),
        (
            "BlipConfig",
            {"architectures": ["BlipForImageTextRetrieval"]},
            "run as --model figlang_clip",
        ),
        ("Blip2Config", {"text_config": T5}, "encoder-decoder"),
        (  # with two configurations of texts
            "MusicgenConfig",
            {"text_encoder": T5, "audio_encoder": {"model_type": "encodec"}, "decoder": {}},
            "encoder-decoder",
        ),
        ("Qwen2AudioConfig", {}, "is not an image-text-to-text model"),
        (
            "ResNetConfig",
            {"auto_map": {"AutoModel": "own.Model"}},
            "its own code.*trust_remote_code=True",
        ),
    ],
)
def test_a_model_that_does_not_answer_in_words_is_refused_by_its_configuration_alone(
    config_name: str, arguments: dict[str, object], message: str, tmp_path: Path
) -> None:
    config_class = getattr(hf, config_name)
    config_class(**arguments).save_pretrained(tmp_path)
    with pytest.raises(FigLangError, match=message):
        FigLangVLM(str(tmp_path), device="cpu")


CODE = """
from transformers import Idefics3Config, Idefics3ForConditionalGeneration

class OwnConfig(Idefics3Config):
    model_type = "own_vlm"

class OwnVLM(Idefics3ForConditionalGeneration):
    config_class = OwnConfig
"""


@pytest.mark.parametrize("name", ["AutoModelForCausalLM", "AutoModel"])
def test_code_that_a_checkpoint_brings_runs_only_if_it_is_trusted(
    name: str, checkpoint: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules")
    )
    auto_map = {"AutoConfig": "modeling_own.OwnConfig", name: "modeling_own.OwnVLM"}
    changes = {"model_type": "own_vlm", "auto_map": auto_map, "architectures": ["OwnVLM"]}
    folder = copied(checkpoint("idefics3"), tmp_path / f"own_{name}", **changes)
    (Path(folder) / "modeling_own.py").write_text(CODE)
    with pytest.raises(FigLangError, match="trust_remote_code=True"):
        FigLangVLM(folder, device="cpu")
    assert scored(folder, trust_remote_code=True) == pytest.approx(
        scored(checkpoint("idefics3")), abs=1e-5
    )


# --- processors and prompts ---


def let_tokenizer_write_first_token(lm: FigLangVLM) -> None:
    """Let the tokenizer write the first token, as Llama's does and the demo model's does not."""
    lm.tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", lm.tokenizer.bos_token_id)]
    )


def read(lm: FigLangVLM, messages: list[dict]) -> str:
    """What the model reads of messages, as text."""
    _, inputs = made(lm, messages)
    return lm.tokenizer.decode(inputs["input_ids"][0])


def test_the_prompt_of_idefics_begins_once_and_has_each_picture_in_its_place(
    checkpoint: Callable[[str], str],
) -> None:
    lm = FigLangVLM(checkpoint("idefics"), device="cpu")
    let_tokenizer_write_first_token(lm)
    picture = "<fake_token_around_image><image><fake_token_around_image>"
    expected = f"<s>user:{picture}One.{picture}Which?<end_of_utterance>\nAssistant:"
    both = [user(image(1), text("One."), image(2), text("Which?"))]
    assert read(lm, both) == expected
    _, inputs_of_both = made(lm, both)
    _, inputs_of_second = made(lm, [user(image(2), text("Which?"))])
    first, second = inputs_of_both["pixel_values"][0]
    assert torch.equal(second, inputs_of_second["pixel_values"][0][0])
    assert not torch.equal(first, second)
    lm.processor.chat_template = "<s>" + lm.processor.chat_template
    with pytest.raises(VLMError, match="both write <s> at the start of the prompt"):
        read(lm, ASK)


@pytest.mark.parametrize("family", ["llava", "mllama"])
def test_a_prompt_begins_once_whoever_writes_its_first_token(
    family: str, checkpoint: Callable[[str], str]
) -> None:
    """The processor of Llama 3.2 Vision writes it too, unless the template does."""
    lm = FigLangVLM(checkpoint(family), device="cpu")
    let_tokenizer_write_first_token(lm)
    bare = lm.processor.chat_template.removeprefix("{{ '<s>' }}")
    for lm.processor.chat_template in (bare, "<s>" + bare):
        prompt = read(lm, ASK)
        assert prompt.startswith("<s>")
        assert prompt.count("<s>") == 1


# --- adapters ---

OLD_NAMES = {
    "model.language_model.": "language_model.model.",
    "model.vision_tower.": "vision_tower.vision_model.",
    "model.multi_modal_projector.": "multi_modal_projector.",
}


@pytest.fixture(scope="session")
def adapter(checkpoint: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A LoRA in both halves of a LLaVA that changes what it answers."""
    from peft import LoraConfig, get_peft_model

    folder = tmp_path_factory.mktemp("adapter")
    torch.manual_seed(3)
    config = vlm_loading.load_config(checkpoint("llava"))
    model = vlm_loading.load_model(
        checkpoint("llava"), config, placement="cpu", dtype=torch.float32
    )
    targets = r".*\.(q_proj|v_proj|linear_2)"
    adapted = get_peft_model(model, LoraConfig(r=2, lora_alpha=4, target_modules=targets))
    for name, weight in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight.data, std=0.5)
    adapted.save_pretrained(str(folder))
    return folder


def changed(source: Path, target: Path, targets: str, name: Callable[[str], str] = str) -> Path:
    """A copy of an adapter that is for other layers, or whose weights have other names."""
    target.mkdir()
    weights = load_file(source / "adapter_model.safetensors")
    save_file(
        {name(key): value for key, value in weights.items()}, target / "adapter_model.safetensors"
    )
    settings = json.loads((source / "adapter_config.json").read_text()) | {
        "target_modules": targets
    }
    (target / "adapter_config.json").write_text(json.dumps(settings))
    return target


def test_an_adapter_with_the_names_of_an_older_transformers_is_applied_whole_or_refused(
    checkpoint: Callable[[str], str], adapter: Path, tmp_path: Path
) -> None:
    def renamed(key: str) -> str:
        name = key.removeprefix("base_model.model.")
        for new_name, old_name in OLD_NAMES.items():
            if name.startswith(new_name):
                return "base_model.model." + old_name + name.removeprefix(new_name)
        return key

    targets = (
        r"(language_model\.model|vision_tower\.vision_model|multi_modal_projector)"
        r".*\.(q_proj|v_proj|linear_2)"
    )
    old = changed(adapter, tmp_path / "old", targets, renamed)
    expected = scored(checkpoint("llava"), peft=str(adapter))
    assert expected != pytest.approx(scored(checkpoint("llava")), abs=1e-2)
    try:
        scores_of_old = scored(checkpoint("llava"), peft=str(old))
    except FigLangError as error:
        assert "does not fit the model" in str(error) or "cannot load the adapter" in str(error)
    else:
        assert scores_of_old == expected


@pytest.mark.parametrize(
    "targets",
    [r".*\.(q_proj|v_proj|k_proj|linear_2)", r".*layers\.[02].*\.(q_proj|v_proj)"],
    ids=["a layer without weights", "weights without a layer"],
)
def test_an_adapter_that_does_not_fit_is_refused(
    targets: str, checkpoint: Callable[[str], str], adapter: Path, tmp_path: Path
) -> None:
    folder = changed(adapter, tmp_path / "other", targets)
    with pytest.raises(
        FigLangError, match=f"the adapter '{folder}' does not fit the model: .*such as base_model"
    ):
        FigLangVLM(checkpoint("llava"), device="cpu", peft=str(folder))
