"""If these fail, `figlang new-benchmark` writes a benchmark that is wrong, or lets a fault pass."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from commands import cells, done, figlang
from documents import ROOT
from loguru import logger

from figlang_tasks.core import benchmark, homes, prompting
from figlang_tasks.core.card import plain_answer, plain_card
from figlang_tasks.core.data_id import DataId
from figlang_tasks.results import measures

PICTURES = ROOT / "examples" / "emblems" / "figlang_emblems" / "data" / "images"
HEADER = "id,image,question,A,B,C,answer\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a picture."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "1.png").write_bytes((PICTURES / "1.png").read_bytes())
    return tmp_path


# A row below `HEADER`, and what is said of it after "line 2".
FAULTY_ROWS = {
    "1,pictures/1.png,Q?,x,y,z,D": (
        ": answer is 'D', must be a letter from A to C or the text of an option: x, y, z"
    ),
    "1,pictures/1.png,Q?,x,y,z,1": (
        ": answer is 1, and numbers may count from 0 or from 1: write the letter, A to C, or the"
        " text of the option"
    ),
    "1,pictures/1.png,Q?,x,y,z,": ": answer is empty: write the right answer",
    "1,pictures/1.png,Q?,B,y,z,B": (
        ": answer is 'B', which may mean A or B: write the letter, and give no option the name of"
        " another"
    ),
    "1,pictures/1.png,Q?,x,,z,A": ": B is empty, and a later option is not: fill it",
    "1,pictures/1.png,Q?,x,x,z,A": ": the options A and B are both 'x': change or remove one",
    "1,pictures/1.png,Q?,x,,,A": ": options is ['x'], must be a list of 2 to 10 texts",
    "1,pictures/1.png,,x,y,z,A": ": question is '', must be a text that is not empty",
    ",pictures/1.png,Q?,x,y,z,A": ": id is '', must be a text that is not empty",
    "1,,Q?,x,y,z,A": (
        ": image is empty: write the path of its picture; if no row has a picture, remove the"
        " column"
    ),
    f"1,{'a' * 300}.png,Q?,x,y,z,A": (  # longer than a name of a file may be
        f": there is no picture {'a' * 300}.png: correct the path, or name the folder of the"
        " pictures by --images"
    ),
    "1,pictures/2.png,Q?,x,y,z,A": (
        ": there is no picture pictures/2.png: correct the path, or name the folder of the pictures"
        " by --images"
    ),
    "1,rows.csv,Q?,x,y,z,A": (
        ": the image cannot be decoded (no picture). Replace rows.csv; PNG, JPEG, GIF, WebP, BMP"
        " and TIFF are read."
    ),
    "1,../other.png,Q?,x,y,z,A": (
        ": image '../other.png' points outside of .: write a path inside that folder, such as"
        " images/722.png, and put the file itself there, not a link"
    ),
    "1,pictures/1.png,an <image>?,x,y,z,A": (
        ": question is 'an <image>?': it must not contain <image>, which models take for the place"
        " of a picture: write it without brackets"
    ),
    "1,pictures/1.png,Q?,x,y,A": (
        " does not have the 7 cells of the header: put a text with the separator in quotes"
    ),
}


def faults_of(*arguments: str) -> list[str]:
    """The faults that a call prints, which ends with status 1 and writes nothing."""
    before = sorted(Path().rglob("*"))
    result = figlang("new-benchmark", *arguments)
    assert (result.exit_code, result.stdout) == (1, ""), result.output
    assert sorted(Path().rglob("*")) == before
    return [line.removeprefix("figlang: ") for line in result.stderr.splitlines()]


@pytest.mark.parametrize("row", FAULTY_ROWS)
def test_a_fault_of_a_row_is_named_with_its_line_and_a_remedy(folder: Path, row: str) -> None:
    Path("rows.csv").write_text(f"{HEADER}{row}\n")
    assert faults_of("mine", "--from", "rows.csv") == [
        f"rows.csv, line 2{FAULTY_ROWS[row]}",
        "rows.csv: 1 fault(s). Nothing was written: correct them, and type it again",
    ]


KNOWN = (
    "rename or remove it. There are id, image, question, answer and, for a choice, options, or A,"
    " B, C ... J, or option_1, option_2 ..."
)
# A table (its bytes), further arguments, and the fault of it.
FAULTY_TABLES: list[tuple[bytes, list[str], str]] = [
    (
        b"id;question;answer\n1;a;b\n",
        [],
        "rows.csv: its cells are not separated by commas: save it with commas",
    ),
    (  # as a spreadsheet program in German saves it, with a comma in each row
        b"id;question;answer\n1;a, or c?;b\n",
        [],
        "rows.csv: its cells are not separated by commas: save it with commas",
    ),
    (
        b"question,answer\na,...\n",
        [],
        "rows.csv, line 2: answer is '...', which has no letter and no digit to compare: write a"
        " word or a number",
    ),
    (
        b"quesion,question,answer\na,a,b\n",
        [],
        f"rows.csv: unknown column 'quesion' (did you mean `question`?): {KNOWN}",
    ),
    (
        b"question,A,C,answer\na,x,y,A\n",
        [],
        "rows.csv: the columns of options are A, C: name them"
        " without a gap, A, B, C ... or option_1, option_2 ...",
    ),
    (b"question\na\n", [], "rows.csv has no column answer: add it, with the right answers"),
    (
        b"answer\na\n",
        [],
        "rows.csv has no column question: add it, or give one question by --prompt",
    ),
    (
        b"question,answer\na,A\n",
        ["--kind", "choice"],
        "rows.csv has no columns of options, which --kind choice needs: add A, B ...",
    ),
    (
        b"question,A,B,answer\na,x,y,A\n",
        ["--kind", "free"],
        "rows.csv has columns of options (A,"
        " B), which --kind free does not have: remove them, or leave out --kind",
    ),
    (
        b"question,answer\na,maybe\n",
        ["--kind", "yes-no"],
        "rows.csv, line 2: answer is 'maybe', must be Yes or No",
    ),
    (
        b"question,options,answer\na,x;y,A\n",
        [],
        'rows.csv, line 2: options is \'x;y\', must be a list in JSON: ["a cat", "a dog"]',
    ),
    (
        b"id,question,answer\n7,a,b\n7,c,d\n",
        [],
        "rows.csv, line 3: id 7 is also that of rows.csv, line 2: it must be unique",
    ),
    (
        b"question,answer\ncaf\xe9,b\n",
        [],
        "rows.csv, line 2 is not UTF-8 (invalid continuation byte"
        " at byte 19): save the file as UTF-8",
    ),
    (b"", [], "rows.csv has no rows: write a row for each question below the names of columns"),
]


@pytest.mark.parametrize(("table", "options", "fault"), FAULTY_TABLES)
def test_a_fault_of_a_table_is_named_with_a_remedy(
    folder: Path, table: bytes, options: list[str], fault: str
) -> None:
    Path("rows.csv").write_bytes(table)
    first, last = faults_of("mine", "--from", "rows.csv", *options)
    assert first == fault
    assert last.endswith("1 fault(s). Nothing was written: correct them, and type it again")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["flute"], "the name flute is taken, by a benchmark, a task or a package"),
        (["vflute_5shot"], "the name vflute_5shot is taken"),
        (["tasks"], "the name tasks is taken"),  # the package would be figlang_tasks
        (["mmmu_val"], "the name mmmu_val is taken"),  # a task of lmms-eval
        (["My-Rows"], "the name My-Rows must begin with a letter from a to z"),
        (["list"], "the name list is taken"),  # lmms-eval lists tasks then
        (["mine", "--prompt", "{{ 1 }}"], "--prompt must not contain {{"),
        (["mine", "--prompt", "\udcff"], "figlang new-benchmark: --prompt is '\\udcff', must be"),
        (
            ["mine", "--prompt", "See <image>."],
            "figlang new-benchmark: --prompt is 'See <image>.': it must not contain <image>",
        ),
        (["full"], "figlang-full exists already and is not overwritten"),
    ],
)
def test_a_wrong_name_is_refused(folder: Path, arguments: list[str], message: str) -> None:
    Path("rows.csv").write_text("question,answer\na,b\n")
    Path("figlang-full").mkdir()
    Path("figlang-full", "file").touch()
    (line,) = faults_of(*arguments, "--from", "rows.csv")
    assert line.startswith(message)


def written_rows(name: str) -> list[dict[str, Any]]:
    """The rows in the package of a new benchmark."""
    file = Path(f"figlang-{name}", f"figlang_{name}", "data", "test.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("name", "table", "kind", "answers"),
    [
        ("rows.csv", "question,A,B,answer\na,x,y,b\nb,x,y,y\nc,x,y,(A)\n", "choice", "BBA"),
        (
            "rows.tsv",
            "Question\toption_1\toption_2\tAnswer\na\tx\ty\t2\nb\tx\ty\toption_1\n",
            "choice",
            "BA",
        ),
        ("rows.csv", 'question,options,answer\na,"[""x"", ""y""]",y\n', "choice", "B"),
        ("rows.jsonl", '{"question": "a", "options": ["1", "2"], "answer": 2}', "choice", "B"),
        ("rows.csv", "question,answer\na,yes\nb,FALSE\n", "yes-no", ["Yes", "No"]),
        ("rows.jsonl", '{"question": "a", "answer": true}', "yes-no", ["Yes"]),
        ("rows.csv", "question,answer\na,yes\nb,3\n", "free", ["yes", "3"]),
        ("rows.csv", "question,answer\n,\na,yes\n , \nb,no\n,\n", "yes-no", ["Yes", "No"]),
    ],
)
def test_the_kind_and_the_answers_of_a_table_are_read(
    folder: Path, name: str, table: str, kind: str, answers: list[str]
) -> None:
    Path(name).write_text(table)
    output = done("new-benchmark", "mine", "--from", name)
    assert output.startswith(f"kind: {kind} (")
    rows = written_rows("mine")
    assert [row["answer"] for row in rows] == list(answers)
    assert [row["id"] for row in rows] == [f"mine-{number + 1}" for number in range(len(rows))]


def test_one_picture_may_be_named_in_several_ways(folder: Path) -> None:
    Path("pictures", "link.png").symlink_to("1.png")
    paths = ("pictures/1.png", "pictures/link.png", "pictures/../pictures/1.png")
    rows = [f"{path},Q?,x" for path in paths]
    Path("rows.csv").write_text("\n".join(["image,question,answer", *rows]))
    done("new-benchmark", "mine", "--from", "rows.csv")
    assert [row["image"] for row in written_rows("mine")] == ["images/pictures/1.png"] * 3
    copies = Path("figlang-mine", "figlang_mine", "data", "images").rglob("*.png")
    assert [copy.read_bytes() for copy in copies] == [(PICTURES / "1.png").read_bytes()]


# --- the package that is written ---


@contextmanager
def captured_warnings() -> Iterator[list[str]]:
    """The warnings that are logged in a block."""
    warnings: list[str] = []
    handler = logger.add(lambda message: warnings.append(message.record["message"]))
    try:
        yield warnings
    finally:
        logger.remove(handler)


def forget_benchmarks() -> None:
    """Have the installed benchmarks looked for again."""
    for function in (
        homes.foreign_homes,
        homes.home_of,
        benchmark.benchmarks,
        benchmark.sources,
        prompting._environment,
        measures._measures_by_name,
        measures._scope_texts,
    ):
        function.cache_clear()


@pytest.fixture
def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Makes a package known as `pip install -e` does, by its name and entry point."""

    def install_package(name: str) -> None:
        information = folder / "site" / f"figlang_{name}-1.0.dist-info"
        information.mkdir(parents=True)
        (information / "METADATA").write_text(f"Name: figlang-{name}\nVersion: 1.0\n")
        project = (folder / f"figlang-{name}" / "pyproject.toml").read_text()
        _, _, entry_points = project.partition('"figlang_tasks.benchmarks"]\n')
        (information / "entry_points.txt").write_text(
            "[figlang_tasks.benchmarks]\n" + entry_points.splitlines()[0].replace('"', "")
        )
        monkeypatch.syspath_prepend(str(folder / "site"))
        monkeypatch.syspath_prepend(str(folder / f"figlang-{name}"))
        forget_benchmarks()

    yield install_package
    monkeypatch.undo()
    forget_benchmarks()


TABLES = {
    "choice": (
        "id,image,question,A,B,C,D,answer\n"
        "1,pictures/1.png,Which?,a cat,a dog,a bridge,a snail,D\n"
        "2,pictures/1.png,Which?,a cat,a dog,a bridge,a snail,a dog\n"
    ),
    "yes-no": "id,question,answer\n1,Is it love?,yes\n2,Is it hate?,no\n",
    "free": "id,question,answer\n1,What is it?,love\n2,What is it?,hate\n",
}
# For each kind, the outputs to two rows, and what the first prompt is. Of the two answers one is
# right: D, not B; yes, not yes; love, not "it is hate".
OUTPUTS = {
    "choice": (
        ["The answer is D.", "A"],
        "Look closely.\nWhich?\nA. a cat\nB. a dog\nC. a bridge\nD. a snail\n"
        "Answer with the letter of one option.",
        "acc",
    ),
    "yes-no": (["Yes.", "Yes."], "Look closely.\nIs it love?\nAnswer Yes or No.", "acc"),
    "free": (
        ["The answer is: The love.", "It is hate"],
        "Look closely.\nWhat is it?\nAnswer in a few words, without an explanation.",
        "relaxed_em",
    ),
}


@pytest.mark.parametrize("kind", TABLES)
def test_the_package_asks_and_scores_as_the_table_says(
    folder: Path, install: Callable[[str], None], kind: str
) -> None:
    outputs, prompt, metric = OUTPUTS[kind]
    name = f"mine_{kind[:4].strip('-')}".replace("-", "_")
    Path("rows.csv").write_text(TABLES[kind])
    done("new-benchmark", name, "--from", "rows.csv", "--prompt", "Look closely.")
    Path(f"figlang-{name}".replace("_", "-")).rename(f"figlang-{name}")
    install(name)
    assert done("data", "check", name).endswith("no faults\n")
    done("data", "prompts", "--task", name, "-o", "prompts.jsonl")
    first, _ = [json.loads(line) for line in Path("prompts.jsonl").read_text().splitlines()]
    assert first["prompt"] == prompt
    assert len(first["images"]) == (kind == "choice")

    lines = [json.dumps({"id": str(n), "output": o}) for n, o in enumerate(outputs, start=1)]
    Path("answers.jsonl").write_text("\n".join(lines))
    printed = done("score", "answers.jsonl", "--task", name, "--model", "m", "-o", "scored")
    table = cells(printed)
    assert f"{metric} ↑" in table[0]
    assert table[2][table[0].index(f"{metric} ↑")].startswith("50.0 [")
    # No picture is missing where the question has none.
    assert ("picture" in done("show", "scored")) == (kind == "choice")


# A task by hand, whose records have the number of an option, from 0.
NUMBERS = """
from dataclasses import replace
from figlang_tasks.scoring.simple_tasks import simple_task

LETTERED = simple_task("numbered", "choice", description="Which one?")

def record(doc, output):
    lettered = LETTERED.record(doc, output)
    return {**lettered, "gold": "ABCD".index(doc["answer"]), "predicted": "ABCD".index(output)}

TASK = replace(LETTERED, record=record)
TASKS = (TASK,)
METRICS = TASK.metric_list
"""


def test_show_has_the_letter_of_an_answer_that_is_the_number_of_an_option(
    folder: Path, install: Callable[[str], None]
) -> None:
    Path("rows.csv").write_text(TABLES["choice"])
    done("new-benchmark", "numbered", "--from", "rows.csv")
    Path("figlang-numbered", "figlang_numbered", "tasks.py").write_text(NUMBERS)
    install("numbered")
    Path("answers.jsonl").write_text('{"id": "1", "output": "B"}\n{"id": "2", "output": "B"}\n')
    done("score", "answers.jsonl", "--task", "numbered", "--model", "m", "-o", "scored")
    view = json.loads(done("show", "scored", "--json"))
    answers = [row["answers"][0] for row in view["tasks"][0]["cards"]]
    assert [answer["predicted"] for answer in answers] == ["B", "B"]
    assert [answer["right"] for answer in answers] == [False, True]


REVERSED = """
from dataclasses import replace
from figlang_tasks.scoring import Measure
from figlang_tasks.scoring.evaluation import Measures
from figlang_tasks.scoring.simple_tasks import simple_task

ERRORS = Measure(
    "acc", description="Errors.", source="mine", higher_is_better=False,
    value_of_record=lambda record: float(record["predicted"] != record["gold"]),
)
TASK = simple_task("errors", "choice", description="Which one?")
TASK = replace(TASK, measures=Measures.of(ERRORS))
TASKS = (TASK,)
METRICS = TASK.metric_list
"""


def test_a_metric_that_is_ranked_the_other_way_than_one_of_ours_is_warned_of(
    folder: Path, install: Callable[[str], None]
) -> None:
    Path("rows.csv").write_text(TABLES["choice"])
    done("new-benchmark", "errors", "--from", "rows.csv")
    Path("figlang-errors", "figlang_errors", "tasks.py").write_text(REVERSED)
    install("errors")
    with captured_warnings() as warnings:
        assert measures.measure_of("acc").higher_is_better
    (warning,) = warnings
    assert "two benchmarks have a metric acc, and its direction or unit differs" in warning
    assert warning.endswith("rename the one of mine")


def test_a_card_shows_letters_and_texts_of_options() -> None:
    document = {"id": "1", "question": "Which?", "options": ["x", "y", "z", "w"]}
    record = {"id": "1", "gold": 3, "predicted": 1}
    card = plain_card(DataId.parse("mine/test:0"), [record], document)
    assert card["gold"] == [("gold", "D")]
    assert card["facts"] == [("question", "Which?"), *zip("ABCD", "xyzw", strict=True)]
    answer = plain_answer(record, "predicted", document)
    assert (answer["predicted"], answer["outcome"]) == ("B", "wrong")
    # A number is no option without options, and the labels of yes and no are words.
    assert plain_answer(record, "predicted")["predicted"] == 1
    assert plain_answer({"gold": True, "predicted": True}, "predicted")["predicted"] == "yes"
