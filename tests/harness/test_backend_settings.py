"""The settings of generation that a backend gets, and that results name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from demo_runs import FixedAnswers, evaluate
from lmms_eval.models import MODEL_REGISTRY_V2

from figlang_tasks.harness.backend_settings import ENGINES, WITHOUT_BEAMS, for_backend
from figlang_tasks.harness.plugin import tasks_dir


@pytest.mark.parametrize("model", sorted(WITHOUT_BEAMS))
def test_a_class_is_listed_by_every_name_that_the_harness_knows_it_by(model: str) -> None:
    resolved = MODEL_REGISTRY_V2.resolve(model)
    manifest = MODEL_REGISTRY_V2.get_manifest(resolved.model_id)
    assert {manifest.model_id, *manifest.aliases} <= WITHOUT_BEAMS


V_FLUTE = {"max_new_tokens": 256, "num_beams": 3, "until": []}


@pytest.mark.parametrize(
    ("model", "top_p", "beams"),
    [(None, None, 3), ("llava_hf", None, 3), ("openai", None, 1), ("vllm", 1.0, 1)],
)
def test_what_a_task_file_leaves_open_is_greedy_as_the_class_takes_it(
    model: str | None, top_p: float | None, beams: int
) -> None:
    expected = V_FLUTE | {"do_sample": False, "temperature": 0, "top_p": top_p, "num_beams": beams}
    assert for_backend(model, V_FLUTE) == expected


@pytest.mark.parametrize("model", sorted(ENGINES))
def test_settings_of_a_task_file_stay(model: str) -> None:
    settings = {
        "max_new_tokens": 9,
        "do_sample": True,
        "temperature": 0.7,
        "top_p": 0.9,
        "until": ["\n"],
    }
    assert for_backend(model, settings) == settings | {"num_beams": 1}


class KeepsSettings(FixedAnswers):
    """Keeps the settings of each request, and gives one answer to all."""

    def __init__(self) -> None:
        super().__init__("Yes")
        self.settings: list[dict[str, Any]] = []

    def generate_until(self, requests: list[Any]) -> list[str]:
        self.settings += [request.args[1] for request in requests]
        return super().generate_until(requests)


def test_a_model_gets_the_settings_that_results_name_and_those_of_the_user_win(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.yaml").write_text(
        f"include: {tasks_dir()}/mini/figlang_mini.yaml\ntask: mine\n"
        "lmms_eval_specific_kwargs: {default: {scorer: 'off'}}\n"
        "model_specific_generation_kwargs: {vllm: {top_p: 0.3}}\n"
    )
    settings_by_option: dict[str | None, dict[str, Any]] = {}
    for gen_kwargs in (None, "temperature=0.6,do_sample=True,top_p=0.5"):
        model = KeepsSettings()
        run = evaluate(
            "mine",
            model,
            limit=1,
            include_path=str(tmp_path),
            as_model="vllm",
            gen_kwargs=gen_kwargs,
        )
        assert model.settings == [run["configs"]["mine"]["generation_kwargs"]]
        (settings_by_option[gen_kwargs],) = model.settings

    settings_of_file, settings_of_command = settings_by_option.values()
    greedy = {"num_beams": 1, "do_sample": False, "temperature": 0, "top_p": 0.3}
    assert settings_of_file == V_FLUTE | greedy
    drawn = {"do_sample": True, "temperature": 0.6, "top_p": 0.5}
    assert settings_of_command == settings_of_file | drawn
