"""A checkpoint that does not exist: one message from both loaders, and no traceback."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import warm
from hub_server import HubServer

PROGRAM = """
import json, sys
from figlang_tasks import FigLangError
from figlang_tasks.models import dual_encoder, vlm
told = {}
for made in (vlm.FigLangVLM, dual_encoder.FigLangCLIP):
    for checkpoint in ("there/is_none", "no_such_model", "not an id", "./no/such/folder"):
        try:
            made(pretrained=checkpoint)
        except FigLangError as error:
            told[f"{made.__name__} {checkpoint}"] = str(error)
print(json.dumps(told))
"""


@pytest.mark.parametrize("offline", [False, True], ids=["the hub knows none", "offline"])
def test_an_unknown_checkpoint_is_one_message(offline: bool, tmp_path: Path) -> None:
    with HubServer() as server:
        environment = server.env(home=tmp_path, offline=offline) | {"CUDA_VISIBLE_DEVICES": ""}
        command = [sys.executable, "-c", PROGRAM]
        done = warm.run(command, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert len(told) == 2 * 4
    for case, message in told.items():
        checkpoint = case.partition(" ")[2]
        assert "\n" not in message and message.startswith(("figlang_vlm: ", "figlang_clip: ")), case
        expected = "there is no folder ./no/such/folder" if "folder" in case else "Check the name and the revision"
        assert expected in message and checkpoint in message, case
