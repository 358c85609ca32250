"""What the documents tell users to type works."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import lmms_eval.models
import pytest
import tiny_vlms
import warm
from demo_runs import DEMO, answers, evaluate, register
from documents import blocks, files_of
from PIL import Image
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from figlang_tasks.core.score_requests import read_answer
from figlang_tasks.mini import DEMO_MODEL_DIR

DOCS = Path(__file__).resolve().parent.parent / "docs"
# What the harness and its command do when they start, in a process that has imported them.
START = """
import lmms_eval.models
from figlang_tasks.cli.lmms_eval import main
lmms_eval.models.MODEL_REGISTRY_V2.load_entrypoint_manifests(overwrite=True)
main()
"""


@pytest.mark.slow
def test_a_new_vlm_is_evaluated_as_described(tmp_path: Path) -> None:
    document = (DOCS / "adding_a_vlm.md").read_text(encoding="utf-8")
    files = files_of(document)
    assert files.keys() == {"my_vlm.py", "pyproject.toml"}
    # What pip would make of the two files.
    site = tmp_path / "site"
    info = site / "my_vlm-0.1.dist-info"
    info.mkdir(parents=True)
    (site / "my_vlm.py").write_text(files["my_vlm.py"])
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-vlm\nVersion: 0.1\n")
    (point,) = re.findall(r'\[project.entry-points."lmms_eval.models"\]\n(\w+) = "(.*)"\n', files["pyproject.toml"])
    (info / "entry_points.txt").write_text(f"[lmms_eval.models]\n{point[0]} = {point[1]}\n")

    (command,) = [block.text for block in blocks(document) if block.language == "sh"]
    environment = {
        "PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
        **{"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""},
    }
    program, *arguments = shlex.split(command.replace("\\\n", " ").replace("$MODEL", str(DEMO_MODEL_DIR)))
    assert program == "lmms_eval"
    done = warm.run([sys.executable, "-c", START, *arguments], cwd=tmp_path, env=os.environ | environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "figlang tasks, shares in percent" in done.stdout

    def said(task: str) -> dict[int, str]:
        (file,) = tmp_path.glob(f"results/*/*_samples_{task}.jsonl")
        samples = [json.loads(line) for line in file.read_bytes().split(b"\n") if line]
        return {sample["doc_id"]: sample["filtered_resps"] for sample in samples}

    expected = evaluate("figlang_mini", "llava_hf", DEMO, limit=4)
    assert said("figlang_mini") == answers(expected, "figlang_mini")
    ranked = "figlang_mini_irfl_match_idiom"
    given = answers(evaluate(ranked, "figlang_vlm", DEMO, limit=4), ranked)
    for number, scores in said(ranked).items():
        assert read_answer(scores) == pytest.approx(read_answer(given[number]), abs=1e-5)
    assert len(said(ranked)) == 4


def test_a_prompt_of_a_new_vlm_has_one_bos_token(tmp_path: Path) -> None:
    """The template of this family writes it, and its tokenizer adds it, as those of Llama and Gemma do."""
    folder = tiny_vlms.write("llava", tmp_path)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    tokenizer.save(str(folder / "tokenizer.json"))
    code: dict[str, Any] = {}
    exec(files_of((DOCS / "adding_a_vlm.md").read_text(encoding="utf-8"))["my_vlm.py"], code)
    model = code["MyVLM"](str(folder), device="cpu")
    assert model.processor.tokenizer("love")["input_ids"][0] == 1
    picture = {"type": "image", "url": Image.new("RGB", (32, 32))}
    model.task_dict = {"task": {"test": [[{"role": "user", "content": [picture, {"type": "text", "text": "love"}]}]]}}
    seen: list[list[int]] = []
    generate = model.model.generate

    def watched(**inputs: Any) -> Any:
        seen.extend(inputs["input_ids"].tolist())
        return generate(**inputs)

    model.model.generate = watched
    settings = {"max_new_tokens": 1, "num_beams": 1, "do_sample": False, "until": []}
    model.generate_until([SimpleNamespace(args=("", list, settings, 0, "task", "test"))])
    assert [(ids[0], ids.count(1)) for ids in seen] == [(1, 1)]


@pytest.mark.parametrize("name", ["adding_a_vlm.md", "models.md"])
def test_every_model_that_is_named_exists(name: str) -> None:
    register()
    known = {*lmms_eval.models.MODEL_REGISTRY_V2.list_model_names(), "my_vlm", "NAME"}
    named = set(re.findall(r"--model (\w+)", (DOCS / name).read_text(encoding="utf-8")))
    assert named and named <= known | {"figlang_vlm", "figlang_clip"}
