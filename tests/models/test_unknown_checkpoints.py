"""A checkpoint that does not exist, or cannot be reached, ends in one message, at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import tiny_models
import warm
from hub_server import HubServer

PROGRAM = """
import json, sys
from figlang_tasks import FigLangError
from figlang_tasks.models import dual_encoder, vlm
messages = {}
for model_class in (vlm.FigLangVLM, dual_encoder.FigLangCLIP):
    for checkpoint in ("there/is_none", "no_such_model", "not an id", "./no/such/folder"):
        try:
            model_class(pretrained=checkpoint)
        except FigLangError as error:
            messages[f"{model_class.__name__} {checkpoint}"] = str(error)
print(json.dumps(messages))
"""


def run(
    program: str, server: HubServer, home: Path, token: str | None = None, offline: bool = False
) -> subprocess.CompletedProcess[str]:
    home.mkdir(exist_ok=True)
    environment = server.env(home, token, offline=offline) | {"CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-c", program]
    if tiny_models.IS_TRANSFORMERS_4:  # it keeps copies of settings that a fork would inherit
        return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True)
    return warm.run(command, cwd=home, env=environment)


@pytest.mark.parametrize("hub", ["knows none", "is not to be asked", "is not there"])
def test_an_unknown_checkpoint_is_one_message(hub: str, tmp_path: Path) -> None:
    with HubServer() as server:
        if hub == "is not there":
            server.stop()
        done = run(PROGRAM, server, tmp_path, offline=hub == "is not to be asked")
    assert done.returncode == 0, done.stderr[-3000:]
    if not tiny_models.IS_TRANSFORMERS_4:  # its huggingface_hub tries again by itself
        assert "Retrying" not in done.stderr, done.stderr[-3000:]
    messages = json.loads(done.stdout.splitlines()[-1])
    assert len(messages) == 2 * 4
    for case, message in messages.items():
        _, _, checkpoint = case.partition(" ")  # class checkpoint
        expected = "Check the name and the revision"
        if "folder" in checkpoint:
            expected = "there is no folder ./no/such/folder"
        assert "\n" not in message, case
        assert message.startswith(("figlang_vlm: ", "figlang_clip: ")), case
        assert expected in message, case
        assert checkpoint in message, case


READ = """
from figlang_tasks.models import vlm_loading
print(vlm_loading.load_config("org/model", **vlm_loading.source(None, False, None)).model_type)
"""


def test_a_gated_checkpoint_is_called_gated_and_one_that_is_here_needs_no_hub(
    tmp_path: Path,
) -> None:
    (tmp_path / "model").mkdir()
    config = {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"]}
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    tokens = ("hf_good", "hf_of_another")
    with HubServer() as server:
        server.add_repo(
            "org/model",
            tmp_path / "model",
            repo_type="model",
            gated=True,
            granted_tokens=tokens[:1],
            known_tokens=tokens,
        )
        granted = run(READ, server, tmp_path / "home", "hf_good")
        refused = run(READ, server, tmp_path / "other", "hf_of_another")
    assert granted.stdout.split() == ["qwen2"], granted.stderr
    assert "For a gated model accept" in refused.stderr and "(GatedRepoError: 403" in refused.stderr
    again = run(READ, server, tmp_path / "home")
    assert again.stdout.split() == ["qwen2"], again.stderr
    if not tiny_models.IS_TRANSFORMERS_4:
        assert "Retrying" not in again.stderr, again.stderr
