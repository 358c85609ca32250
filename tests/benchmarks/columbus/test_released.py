"""``figlang reproduce columbus``: if this fails, files of the authors' archive give other figures
than the paper's Table 2, or a file that is missing or damaged is not named.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import rows_with_images
from commands import cells, figlang, refused

from figlang_tasks.benchmarks.columbus import parse, released, reproduced
from figlang_tasks.benchmarks.columbus.released import ReleasedOutput
from figlang_tasks.core.errors import DataError

RESULTS = "results/analysis/results"
OPTIONS = {"A": "up and about", "B": "about to", "C": "just about", "D": "last of the Mohicans"}


# --- what the released rule reads of an output ---

# Output and part by model, after AnalysisReport.py of the archive, lines 559 to 639.
PARTS = [
    ("llava-1.5-13b", "USER:  \n(A) up (B) to \nASSISTANT: B", "B"),
    ("llava-1.5-13b", "USER: x ASSISTANT: (B) to ASSISTANT: A", "(B) to "),
    ("llava-1.6-34b", "<|im_start|> user\nx<|im_start|> assistant\n (B) to ", "(B) to"),
    ("llava-1.6-34b", "((x)) <|im_start|> assistant\nIt is ((about to)), not ((x)).", "about to"),
    ("llava-1.6-34b", "It is ((about to)).", "It is ((about to))."),
    ("fuyu-8b", "(A) up (B) to\n\x04 A: B\n", "B"),
    ("fuyu-8b", "A: B", "A: B"),
    ("cogvlm", "(B) about to</s></s>", "(B) about to"),
    ("qwenvl", 'It is "up", or ((B)).', "B"),
    ("qwenvl", 'The phrase is "about to", which is "B".', "about to"),
    ("qwenvl", 'The phrase is "about to."', "about to"),
    # The last point of the pattern stands for any character, here the o.
    ("qwenvl", 'The phrase is "about to"', "about t"),
    ("qwenvl", "None", "None"),
    ("mistral-7b", "The answer is ((D)), not ((A)).", "D"),
    ("instructblip", "ASSISTANT: ((A))</s>", "ASSISTANT: ((A))</s>"),
]


@pytest.mark.parametrize(("model", "output", "part"), PARTS)
def test_the_part_of_an_output_that_the_released_rule_reads(
    model: str, output: str, part: str
) -> None:
    assert released.part_for_rule(model, output) == part


@pytest.mark.parametrize("shared_file", ["data/columbus/benchmark.json"], indirect=True)
def test_the_rule_alone_reads_of_qwen_vl_what_the_facts_say(shared_file: Path) -> None:
    folder = shared_file.parent
    published = json.loads((folder / "options_published_runs.json").read_text("utf-8"))
    run = json.loads((folder / "rows/rows_qwenvl.json").read_text("utf-8"))["runs"]["2"]
    hits = {"text": 0, "icon": 0}
    for row_id, _, raw_output in run["rows"]:
        question = published[row_id]
        part = released.part_for_rule("qwenvl", raw_output)
        letter = parse.parse_official(part, question["options"])
        hits["icon" if row_id.endswith("_icon") else "text"] += letter in question["correct"]
    # 43.4 and 57.6 percent (shared/facts/columbus.md, section 4), of 638 and 370 rows.
    assert hits == {"text": 277, "icon": 213}


@pytest.mark.parametrize(
    ("output", "letter", "named_letter"),
    [
        ("(B) about to", "B", "B"),
        ("B) about to.", None, "B"),
        ("C", "C", "C"),
        ("Just about", "C", "C"),
        ("last of the Mohicans", None, None),  # in lower case it is no option
        ("(B)", None, None),
    ],
)
def test_a_letter_beside_another_text_counts_for_the_shares_of_letters_alone(
    output: str, letter: str | None, named_letter: str | None
) -> None:
    assert parse.parse_official(output, OPTIONS) == letter
    assert parse.named_letter(output, OPTIONS) == named_letter


# --- the archive ---


def write_outputs(folder: Path, model: str, outputs: list[dict[str, Any]]) -> Path:
    """Write a model's outputs for prompt 2 in the layout of the archive."""
    path = folder / RESULTS / "prompt_2" / f"{model}_prompt_2.json"
    if model == "clip":
        path = folder / RESULTS / "clip.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"results": outputs}), encoding="utf-8")
    return path


ROWS = rows_with_images.columbus_rows(1008)  # 504 icon and 504 text


def released_row(number: int, *, backwards: bool) -> dict[str, Any]:
    """A row of a released file without its output, with its options reversed or not."""
    row = ROWS[number]
    options, (right_text,) = row["options"], row["correct"].values()
    if backwards:
        options = dict(zip("ABCD", reversed(options.values()), strict=True))
    right_letter = {text: letter for letter, text in options.items()}[right_text]
    return {"image": row["image"], "options": options, "correct": {right_letter: right_text}}


def right_answer(row: dict[str, Any]) -> str:
    """Letter and text of the right option: ``(B) phrase 7``."""
    ((letter, text),) = row["correct"].items()
    return f"({letter}) {text}"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive without the file that has the published order, and with three models' outputs.

    The first 126 icon and 252 text rows are right: 25 and 50 percent.
    """
    folder = rows_with_images.write_columbus(
        tmp_path_factory.mktemp("archive") / "COLUMBUS", ROWS, archive=True
    )
    outputs: dict[str, list[dict[str, Any]]] = {"cogvlm": [], "qwenvl": [], "llava-1.6-34b": []}
    for number in range(1008):
        is_right = number < 504 and (number % 2 == 1 or number < 252)
        row = released_row(number, backwards=True)
        answer = right_answer(row) if is_right else "(A) of none"
        outputs["cogvlm"].append({**row, "output": f"{answer}</s>"})
        mapped = {"output": answer[1:] if is_right else "None", "raw_output": right_answer(row)}
        outputs["qwenvl"].append({**row, **mapped})
        row = released_row(number, backwards=False)
        letter = right_answer(row)[1] if is_right else "E"
        path = rf"C:\results\benchmark\images\{row['image']}"
        outputs["llava-1.6-34b"].append({**row, "image": path, "output": letter})
    for model, rows_of_model in outputs.items():
        write_outputs(folder, model, rows_of_model)
    return folder


@pytest.mark.slow
def test_the_command_scores_each_file_by_the_options_in_it_and_names_missing_files(
    archive: Path,
) -> None:
    result = figlang("reproduce", "columbus", "--data", archive)
    assert result.exit_code == 1  # the outputs are ours, and so are their figures
    computed = {name: ours for name, _, ours, _ in cells(result.stdout)[2:]}
    for model in ("CogVLM", "LLaVA-1.6-34b", "Qwen-VL-Chat"):
        assert computed[f"Table 2 {model}, prompt 2, acc_official_icon"] == "25.0"
        assert computed[f"Table 2 {model}, prompt 2, acc_official_text"] == "50.0"
    # Right letters of the reversed options: D and B for icons, C and A for text. CogVLM's 378 and
    # 252 wrong answers are all A: (378 + 0) / 504, and (252 + 126) / 504.
    assert computed["Table 2 CogVLM, prompt 2, most frequent letter, icon"] == "75.0"
    assert computed["Table 2 CogVLM, prompt 2, most frequent letter, text"] == "75.0"

    # Seven models of prompt 2, and the prompts 1 and 3 of Fuyu and Flan.
    assert result.stdout.count("left out: ") == 7 + 4
    missing = f"left out: Table 2 CLIP ViT-B/32, prompt 2, because {RESULTS}/clip.json is missing"
    assert missing in result.stdout


def test_the_names_of_all_ten_models_are_those_of_the_archive(tmp_path: Path) -> None:
    # The names in AnalysisReport.py of the archive.
    models = "clip blip-2_opt-2.7b blip-2_opt-6.7b fuyu-8b instructblip qwenvl blip-2_flan-t5-xxl"
    for model in f"{models} llava-1.5-13b cogvlm llava-1.6-34b".split():
        write_outputs(tmp_path, model, [])
    assert not [line for line in reproduced.left_out(tmp_path) if line.startswith("Table 2")]


def test_the_authors_round_twice() -> None:
    # 378 of 638 are 59.2476 percent, which Table 2 prints as 59.3 (CogVLM, text).
    assert reproduced._two_decimals(378 / 638) == 59.25


# --- damaged files ---


@pytest.fixture(scope="module")
def documents(archive: Path) -> reproduced._Documents:
    return reproduced._Documents(archive)


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ([{"image": "x.png"}], "row 1: KeyError: 'output'"),
        (
            [{"image": "x.png", "output": "A"}, {"image": "y.png", "output": None}],
            "row 2: TypeError",
        ),
        (["A"], "row 1: TypeError"),
    ],
)
def test_a_file_of_another_form_is_refused_by_name_and_row(
    outputs: Any, message: str, tmp_path: Path
) -> None:
    write_outputs(tmp_path, "cogvlm", outputs)
    error = refused("reproduce", "columbus", "--data", tmp_path)
    assert "cogvlm_prompt_2.json is not a released file of outputs" in error
    assert ". Give --data" in error and ".. " not in error
    assert message in error


def test_an_extract_of_an_unknown_order_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows_cogvlm.json"
    run = {"option_order": "shuffled", "rows": [["x", "A"]]}
    path.write_text(json.dumps({"runs": {"2": run}}))
    with pytest.raises(
        DataError, match="option_order is shuffled; valid: benchmark, published_runs"
    ):
        released.read_outputs(path, "2")
    assert released.read_outputs(path, "1") == []


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda outputs: outputs.pop(), "has 1007 outputs for 1007 rows"),
        (lambda outputs: outputs.append(outputs[0]), "has 1009 outputs for 1008 rows"),
        (lambda outputs: outputs[0].options.update(A="x"), "phrase_0_1_icon is no row of the"),
        (lambda outputs: outputs[0].options.pop("A"), "phrase_0_1_icon is no row of the"),
        (lambda outputs: outputs.append(ReleasedOutput("x", "A", OPTIONS)), "x is no row of the"),
    ],
    ids=["missing", "twice", "other option", "three options", "unknown"],
)
def test_outputs_of_other_rows_or_options_are_refused(
    documents: reproduced._Documents, fault: Any, message: str
) -> None:
    outputs: list[ReleasedOutput] = []
    for number in range(1008):
        row = released_row(number, backwards=True)
        outputs.append(ReleasedOutput(row["image"].removesuffix(".png"), "A", row["options"]))
    run = reproduced._Run("cogvlm", "2")
    assert len(list(documents.answered(outputs, run))) == 1008
    fault(outputs)
    with pytest.raises(DataError, match=f"cogvlm_prompt_2.json.*{message}"):
        list(documents.answered(outputs, run))
