"""What a file of predictions for a task must hold, as ``figlang score --columns`` prints it."""

from __future__ import annotations

from figlang_tasks.core.row_files import brief
from figlang_tasks.results.predictions.columns import USUAL_NAMES
from figlang_tasks.scoring.task_file import TaskFile


def columns_text(task_file: TaskFile) -> str:
    """What a file of predictions for a task must hold, with three ids: ``--columns``."""
    ids = [document["id"] for document in task_file.documents]
    examples = "\n".join(f"  {row_id}" for row_id in ids[:3])
    id_names = ", ".join(USUAL_NAMES["id"])
    number_names = ", ".join(USUAL_NAMES["row number"])
    output_names = ", ".join(USUAL_NAMES["output"])
    paragraphs = [
        f"{task_file.name}: {len(ids):,} rows; a prediction for each",
        f"which row ({id_names}): an id such as\n{examples}",
        f"or its number, from 0 ({number_names})",
        f"what the model said ({output_names}): its whole output",
    ]
    kind = task_file.kind
    if kind.record_of_label is not None:
        paragraphs.append(
            f"or in its place a label ({', '.join(USUAL_NAMES['label'])}), and its explanation"
            f" ({', '.join(USUAL_NAMES['explanation'])}): both are taken as they are, and a number"
            " counts as 1 = entailment, 0 = contradiction"
        )
    if kind.record_of_scores is not None:
        candidates = task_file.documents[0][kind.candidates]
        names = "\n".join(f"  {brief(candidate)}" for candidate in candidates)
        paragraphs.append(
            "or in its place scores: a JSON list with a number for each candidate (or score_1,"
            f" score_2, ...), in this order for the first row:\n{names}"
        )
    if kind.picture_location is not None:
        paragraphs.append("an output is the path of a picture, from the folder of the file")
    if task_file.has_two_rounds:
        paragraphs.append('an output is {"scene_graph": "...", "answer": "..."}')
    return "\n\n".join(paragraphs)
