"""The files of the package that ``figlang new-benchmark`` writes."""

from __future__ import annotations

import json
from string import Template

from figlang_tasks.cli.new_benchmark_rows import Table
from figlang_tasks.scoring.simple_rows import Kind

SUMMARIES: dict[Kind, str] = {
    "choice": "multiple choice",
    "yes-no": "questions of yes or no",
    "free": "questions with short answers",
}
"""What is asked, by the kind of question, for the list of benchmarks."""

_DESCRIPTIONS: dict[Kind, str] = {
    "choice": "Which option answers the question?",
    "yes-no": "Is the answer to the question yes or no?",
    "free": "What is the answer to the question, in a few words?",
}
_INSTRUCTIONS: dict[Kind, str] = {
    "choice": "Answer with the letter of one option.",
    "yes-no": "Answer Yes or No.",
    "free": "Answer in a few words, without an explanation.",
}
_METRICS: dict[Kind, str] = {
    "choice": "`acc`: the share of right answers",
    "yes-no": "`acc`: the share of right answers",
    "free": (
        "`relaxed_em`: the share of answers that equal the right one, without case, surrounding"
        " punctuation and a leading article"
    ),
}

_PROJECT = Template("""\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "$distribution"
version = "1.0"
dependencies = ["figlang-tasks"]

[project.entry-points."figlang_tasks.benchmarks"]
$name = "$package"

[tool.hatch.build]
ignore-vcs = true  # rows and pictures are built in, whatever a .gitignore says

[tool.hatch.build.targets.wheel]
packages = ["$package"]
""")

_README = Template("""\
# $name

A benchmark for figlang_tasks: $summary, $count rows. The card is $package/card.md.

```sh
pip install -e .
figlang data check $name
figlang tasks $name
```
""")

_BENCHMARK = Template('''\
"""Name, version and data of $name."""

from pathlib import Path

from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.hub import Source

BENCHMARK = Benchmark(
    name="$name",
    version="1-0",  # raise the first number when rows, prompt or metric change
    summary="$summary",
    citation="",  # the BibTeX of your paper, for `figlang cite`
    sources=(
        Source(
            name="$name",
            splits={"test": $count},  # the number of rows
            folder=Path(__file__).parent / "data",
        ),
    ),
)
''')

_TASKS = Template('''\
"""The task of $name."""

from figlang_tasks.scoring.simple_tasks import simple_task

TASK = simple_task("$name", "$kind", description="$description")
TASKS = (TASK,)
METRICS = TASK.metric_list
''')

_CHOICE = Template('''\
"""What a question offers, for `figlang judge read`."""

from figlang_tasks.scoring.simple_tasks import choice_of as choice_of
''')

_TASK_FILE = Template("""\
# Asks: $description
task: $name  # the name of this file
dataset_name: $name,split=test
generation_kwargs: {max_new_tokens: 128, until: []}
metric_list: !function $package.tasks.METRICS
doc_to_text: !function figlang_tasks.scoring.simple_tasks.doc_to_text
doc_to_visual: !function figlang_tasks.scoring.simple_tasks.doc_to_visual
doc_to_target: !function figlang_tasks.scoring.simple_tasks.doc_to_target
# What follows is the same in every task file.
dataset_path: json
dataset_kwargs: !function figlang_tasks.core.task_files.STUB
test_split: test
process_docs: !function figlang_tasks.core.benchmark.process_docs
process_results: !function figlang_tasks.scoring.process_results
output_type: generate_until
num_fewshot: 0
model_specific_generation_kwargs: {default: {}}
lmms_eval_specific_kwargs: {default: {}}
""")

_CARD = Template("""\
# $name

$summary, $count rows.

## Data access and licence

The rows are part of this package. Say here where they are from, and under which licence.

## Tasks

`$name`: $description The prompt is `prompts/question.jinja`.

## Metrics

$metric; no answer is a wrong answer. `parse_rate`: the share of outputs with an answer.

## Changelog

* 1-0: first version.
""")


def package_files(name: str, table: Table, prompt: str | None) -> dict[str, str]:
    """The text of each file of the package, by its path below the folder of the package.

    Args:
        name: of the benchmark.
        table: its questions.
        prompt: words to stand before each question; None for none.
    """
    package = f"figlang_{name}"
    kind = table.kind
    values = {
        "name": name,
        "package": package,
        "distribution": package.replace("_", "-"),
        "kind": kind,
        "count": str(len(table.rows)),
        "summary": SUMMARIES[kind],
        "description": _DESCRIPTIONS[kind],
        "metric": _METRICS[kind],
    }
    lines = [json.dumps(row, ensure_ascii=False) for row in table.rows]
    files = {
        "pyproject.toml": _PROJECT.substitute(values),
        "README.md": _README.substitute(values),
        f"{package}/__init__.py": f'"""The benchmark {name}."""\n',
        f"{package}/benchmark.py": _BENCHMARK.substitute(values),
        f"{package}/tasks.py": _TASKS.substitute(values),
        f"{package}/card.md": _CARD.substitute(values),
        f"{package}/prompts/question.jinja": _template(kind, prompt if table.has_questions else ""),
        f"{package}/task_yamls/lmms_eval/{name}.yaml": _TASK_FILE.substitute(values),
        f"{package}/data/test.jsonl": "\n".join(lines) + "\n",
    }
    if kind != "free":
        files[f"{package}/choice.py"] = _CHOICE.substitute(values)
    return files


def _template(kind: Kind, prompt: str | None) -> str:
    """The template of the prompt, every word that a model reads."""
    lines = ["{# question: text. options: texts by their letters. #}"]
    if prompt:
        lines.append(prompt)
    lines.append("{{ question }}")
    if kind == "choice":
        lines += [
            "{% for letter, text in options.items() %}",
            "{{ letter }}. {{ text }}",
            "{% endfor %}",
        ]
    lines.append(_INSTRUCTIONS[kind])
    return "\n".join(lines) + "\n"
