"""Chat templates leave nothing out, move nothing and open no thought without a word about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import demo_runs
import pytest
from commands import done
from lmms_eval.api.instance import Instance
from vlm_requests import GREEDY, Build, asked, image, made, scores, text, user

from figlang_tasks.answers.entailment import entailment
from figlang_tasks.answers.thought_tags import NAMES, TOKENS
from figlang_tasks.models.vlm import FigLangVLM, VLMError
from figlang_tasks.results import runs

ANSWERS: dict[str, Any] = {"kind": "candidates", "candidates": ["yes", "the mule is stubborn"]}
QUESTION = text("What is it?")
LABELLED = [
    user(text("Which one?\nImage A:"), image(1), text("Image B:"), image(2), text("A or B?"))
]


def rendered(lm: FigLangVLM, messages: list[dict]) -> str:
    return made(lm, messages)[0].prompt


def test_another_chat_template_in_the_same_file_gets_no_answers_from_the_cache(
    checkpoint: Callable[[str], str],
    template: Callable[[str], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = Path(template("llava_1_5"))
    task = "figlang_mini"

    def answers_of_run() -> dict[int, str]:
        results = demo_runs.evaluate(
            task,
            "figlang_vlm",
            f"pretrained={checkpoint('llava')},device=cpu,chat_template={path}",
            limit=1,
            gen_kwargs="max_new_tokens=4",
            use_cache=str(tmp_path / "cache"),
        )
        return demo_runs.answers(results, task)

    def refuse(self: FigLangVLM, requests: list[Instance]) -> list[str]:
        raise AssertionError("the model is asked")

    first_answers = answers_of_run()
    monkeypatch.setattr(FigLangVLM, "generate_until", refuse)
    assert answers_of_run() == first_answers
    path.write_text(path.read_text().replace("ASSISTANT:", "MULE:"))
    with pytest.raises(AssertionError, match="the model is asked"):
        answers_of_run()


# --- thoughts ---


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "thinking",
            r"open thought \(<think>\): its chat template does not close it by .*chat_template=",
        ),
        (
            "switch",
            r"ends in an open thought \(<think>\): add enable_thinking=False to --model_args",
        ),
        (
            "channel",
            (
                r"open thought \(<\|channel\|>analysis<\|message\|>\): its chat template"
                r" .*chat_template="
            ),
        ),
        ("hybrid", "the model thinks first: add enable_thinking=False to --model_args"),
    ],
)
def test_scores_inside_a_thought_are_refused(
    name: str, message: str, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = build("qwen3_vl", name)
    question = [user(image(1), QUESTION)]
    with monkeypatch.context() as patch:
        patch.setattr(lm.model, "forward", None)
        full_message = f"task probe, doc 0.*: ValueError: scores are of answers, .*{message}"
        for score_request in (ANSWERS, {"kind": "match"}):
            with pytest.raises(VLMError, match=full_message):
                scores(lm, question, **score_request)


@pytest.mark.parametrize("name", ["thinking", "switch", "channel"])
def test_an_answer_in_words_begins_with_the_tag_of_the_thought_that_the_prompt_opens(
    name: str, build: Build
) -> None:
    lm = build("qwen3_vl", name)
    question = [user(image(1), QUESTION)]
    [answer] = asked(lm, [question], GREEDY)
    tag = lm.template.open_thought(rendered(lm, question))
    assert tag
    assert answer.startswith(tag)
    assert entailment(answer).rule == "thought", "the thought has no end here"
    # Answers do not show special tokens: nobody could find the end of the thought.
    lm.tokenizer.add_special_tokens({"additional_special_tokens": [tag]})
    assert lm.template.open_thought(rendered(lm, question)) == ""


def test_a_prompt_that_opens_no_thought_adds_no_tag(build: Build) -> None:
    lm = build("qwen3_vl", "hybrid")
    assert lm.template.open_thought(rendered(lm, [user(image(1), QUESTION)])) == ""


def test_templates_open_thoughts_by_every_tag_that_readers_know(build: Build) -> None:
    template = build("qwen3_vl").template
    tags = [(f"<{name}>", f"</{name}>") for name in NAMES]
    for opening, closing in [*TOKENS, *tags]:
        assert template.open_thought(f"What is it?\nassistant\n{opening}\n") == opening
        assert template.open_thought(f"What is it?\nassistant\n{opening}\n{closing}\n") == ""


@pytest.mark.parametrize(
    ("name", "end"), [("switch", "<think>\n\n</think>\n\n"), ("hybrid", "<think></think>\n")]
)
def test_scores_without_a_thought(name: str, end: str, build: Build) -> None:
    lm = build("qwen3_vl", name, enable_thinking=False)
    question = [user(image(1), text("What comes before <think>?"))]
    assert rendered(lm, question).endswith("assistant\n" + end)
    by_hand = build("qwen3_vl")
    by_hand.processor.chat_template = by_hand.processor.chat_template.replace(
        "assistant\\n", "assistant\\n" + end
    )
    assert scores(lm, question, **ANSWERS) == scores(by_hand, question, **ANSWERS)


# --- places of pictures ---


def test_a_template_that_moves_pictures_says_so(build: Build) -> None:
    moving = build("llava", "llava_1_5")
    assert moving.pictures_first
    assert not build("llava").pictures_first
    beginning = "USER: <image>\n<image>\nWhich one?\nImage A: Image B: A or B?"
    assert rendered(moving, LABELLED).startswith(beginning)


def contexts(results: dict, task: str) -> list[str]:
    """The text of each request of a run."""
    return [sample["arguments"][0] for sample in results["samples"][task]]


def prompt_hash(results: dict, task: str) -> str:
    return results["configs"][task]["metadata"]["prompt_hash"]


def test_a_task_asks_such_models_in_words_that_need_no_places(
    checkpoint: Callable[[str], str],
    template: Callable[[str], str],
    warnings_of_loguru: list[str],
    tmp_path: Path,
) -> None:
    task = "figlang_mini_irfl_detect_idiom"
    score_task = "mini_irfl_random4_metaphor"
    tasks = [task, score_task]
    arguments = f"pretrained={checkpoint('llava')},device=cpu"
    options: dict[str, Any] = {
        "limit": 1,
        "gen_kwargs": "max_new_tokens=1",
        "include_path": demo_runs.mini_tasks(),
    }
    as_llava = f"{arguments},chat_template={template('llava_1_5')}"
    moving = demo_runs.evaluate(tasks, "figlang_vlm", as_llava, saved=tmp_path, **options)
    # One warning alone: scores are of one picture at a time, which can be moved past no other.
    [warning] = [message for message in warnings_of_loguru if "pictures" in message]
    assert f"so the prompt of task {task} is in words" in warning
    keeping = demo_runs.evaluate(tasks, "figlang_vlm", arguments, **options)
    assert prompt_hash(moving, task) == f"{prompt_hash(keeping, task)}+pictures_first"
    assert prompt_hash(moving, score_task) == prompt_hash(keeping, score_task)
    [context_in_words] = contexts(moving, task)
    assert "Image B: the second image\n" in context_in_words
    assert "Image B: <image>\n" in contexts(keeping, task)[0]

    # Where the answer is scored again, the words stay those that the model got.
    scored = tmp_path / "scored"
    printed = done("score", tmp_path, "--task", task, "--partial", "-o", scored)
    assert f"1 of 1 answers were given to another prompt than {task} has" in printed
    (sample,) = runs.read(str(scored)).tasks[task].samples
    assert "Image B: the second image\n" in sample["input"]


# --- models of one picture ---


def test_a_model_without_placeholders_takes_one_picture_in_a_prompt(build: Build) -> None:
    lm = build("blip_2", "blip_2", batch_size=2)
    ones = [[user(image(i), QUESTION)] for i in (1, 2)]
    several = [user(image(1), image(2), QUESTION)]
    scores_alone = [scores(lm, messages, kind="match")[0] for messages in ones]
    assert scores(lm, several, kind="match") == pytest.approx(scores_alone)
    assert scores_alone[0] != scores_alone[1]
    message = "doc 1: ValueError: 2 images, and the processor has no image placeholder.*_gr"
    with pytest.raises(VLMError, match=message):
        asked(lm, [ones[0], several], GREEDY)


# --- texts ---

WITH_SYSTEM = [
    {"role": "system", "content": [text("Be brief.")]},
    user(image(1), text(" What is it?\n")),
    user(text("Well?")),
]


def test_a_template_that_leaves_out_a_text_or_says_one_of_two_is_an_error(build: Build) -> None:
    lm = build("pixtral", "without_system")
    lost = "the chat template leaves out .*the role system: 'Be brief.'.*chat_template="
    with pytest.raises(VLMError, match=f"doc 1: ValueError: {lost}"):
        asked(lm, [[user(image(1))], WITH_SYSTEM], GREEDY)
    asked(lm, [WITH_SYSTEM[1:]], GREEDY)
    lm.processor.chat_template = "[INST]{{ messages[-1]['content'][-1]['text'] }}[/INST]"
    with pytest.raises(VLMError, match="leaves out or changes a text of the role user: 'Why"):
        asked(lm, [[user(text("Why?")), user(text("Why?"))]], GREEDY)


def test_places_of_pictures_that_are_not_those_of_the_pictures_are_an_error(build: Build) -> None:
    lm = build("gemma3")
    with pytest.raises(
        VLMError, match="doc 0: ValueError: a text contains <start_of_image>, which"
    ):
        asked(lm, [[user(image(1), text(f"What is {lm.processor.boi_token}?"))]], GREEDY)
    lm.processor.chat_template = "{{ messages[0]['content'][-1]['text'] }}"
    with pytest.raises(VLMError, match="1 images, but 0 image placeholders"):
        asked(lm, [[user(image(1), QUESTION)]], GREEDY)


@pytest.mark.parametrize("name", ["text_as_it_is", "text_joined"])
def test_a_template_that_expects_a_text_in_place_of_a_list_gets_one(
    name: str, build: Build, warnings_of_loguru: list[str]
) -> None:
    """Else it writes the list as Python shows it, or fails."""
    lm = build("pixtral", name)
    example = [
        user(image(1), text("Well?")),
        {"role": "assistant", "content": [text("No.\n"), text("It isn't.")]},
    ]
    turns = [
        {"role": "system", "content": [text("Be brief.")]},
        *example,
        user(image(2), text("And now?")),
    ]
    prompt = (
        "<system>Be brief.<user>[IMG]Well?<assistant>No.\nIt isn't.<user>[IMG]And now?<assistant>"
    )
    assert rendered(lm, turns) == prompt
    assert rendered(lm, [user(text("Why?"))]) == "<user>Why?<assistant>"
    lm.processor.chat_template = (
        "{% for message in messages %}{{ '<user>' + message.content }}{% endfor %}"
    )
    assert rendered(lm, [user(text("Why?"))]) == "<user>Why?"
    with pytest.raises(
        VLMError, match=r"ValueError: the chat template fails on messages .*chat_template=PATH"
    ):
        rendered(lm, [user(image(1), text("Why?"))])
    lm.processor.chat_template = (
        "{% for message in messages %}{{ '[IMG]' ~ message.content }}{% endfor %}"
    )
    with pytest.raises(VLMError, match="leaves out or changes a text of the role user: 'Why"):
        rendered(lm, [user(image(1), text("Why?"))])
    assert warnings_of_loguru == []
