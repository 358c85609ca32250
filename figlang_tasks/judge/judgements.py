"""What annotators of explanations say, as tables, and what they have not said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from figlang_tasks.judge.key import ExplanationKey
from figlang_tasks.judge.sheet import NO_PREFERENCE
from figlang_tasks.scoring.explained import LABEL_NAMES


@dataclass(frozen=True)
class Judgements:
    """What annotators say of explanations; each table has a column per annotator.

    An empty cell of a table is a judgement that an annotator lacks.

    Attributes:
        label: the label of each item.
        adequate: whether the explanation of each item and letter is adequate, ``yes`` or ``no``.
        error: what is wrong with it; empty too if it is adequate.
        preferred: of each item the letter of the best explanation; after `of_counted` the name of
            its system, "" for no preference. None with a single system, as nothing is to prefer.
    """

    label: pd.DataFrame
    adequate: pd.DataFrame
    error: pd.DataFrame
    preferred: pd.DataFrame | None

    def of_annotators(self, annotators: Sequence[str]) -> Judgements:
        """The judgements of some annotators alone."""
        columns = list(annotators)
        preferred = None if self.preferred is None else self.preferred[columns]
        return Judgements(
            self.label[columns], self.adequate[columns], self.error[columns], preferred
        )

    def of_counted(self, items: pd.Index, explanations: pd.DataFrame) -> Judgements:
        """The judgements of the items that count, with preferred systems in place of letters.

        Labels are kept of all items.

        Args:
            items: the numbers of the items that count.
            explanations: the table of `explanations_table`, of all items.
        """
        is_counted = explanations.index.isin(items, level="item")
        counted = explanations.index[is_counted]
        preferred = None
        if self.preferred is not None:
            preferred_letters = self.preferred.loc[items]
            preferred = _preferred_systems(preferred_letters, explanations["system"])
        return Judgements(
            label=self.label,
            adequate=self.adequate.loc[counted],
            error=self.error.loc[counted],
            preferred=preferred,
        )


def explanations_table(key: ExplanationKey) -> pd.DataFrame:
    """A table of the explanations: `system`, ExplanationScore `score` and right label `gold`.

    Its index is the item and the letter.
    """
    rows: list[dict[str, object]] = []
    for item in key["items"]:
        for letter, system in item["systems"].items():
            rows.append(
                {
                    "item": str(item["number"]),  # a text, like all cells of sheets
                    "letter": letter,
                    "system": system,
                    "score": item["scores"][letter],
                    "gold": LABEL_NAMES[item["gold"]],
                }
            )
    columns = ["item", "letter", "system", "score", "gold"]
    return pd.DataFrame(rows, columns=columns).set_index(["item", "letter"])


def one_cell_per_item(cells: Any) -> Any:
    """The first cell of each item that is not empty, by item: of a column, or of each column.

    Args:
        cells: a column or a table, with a row for each item and letter.
    """
    return cells.groupby(level="item", sort=False).first()


def _preferred_systems(letters: pd.DataFrame, systems: pd.Series) -> pd.DataFrame:
    """The table of preferred letters with the names of systems in their place.

    "" stands for no preference, and None for a missing judgement.

    Args:
        letters: the preferred letter of each item, with a column per annotator.
        systems: the name of the system behind each item and letter.
    """
    name_of_letter = systems.to_dict()  # by item and letter
    for item in letters.index:
        name_of_letter[item, NO_PREFERENCE] = ""

    names_by_annotator: dict[Any, list[str | None]] = {}
    for annotator, letters_of_annotator in letters.items():
        names: list[str | None] = []
        for item, letter in letters_of_annotator.items():
            names.append(name_of_letter.get((item, letter)))  # a missing letter has no name
        names_by_annotator[annotator] = names
    return pd.DataFrame(names_by_annotator, index=letters.index, dtype=object)


def missing_judgements(
    judgements: Judgements, annotator: str, gold: pd.Series, *, includes_wrong_labels: bool
) -> list[str]:
    """List the judgements that an annotator lacks: ``item 1 label``, ``item 1 A adequate``.

    In the paper annotators who chose a wrong label did not see the rest of the item: without
    `includes_wrong_labels` nothing else is expected from them.

    Args:
        judgements: those of all annotators.
        annotator: the name of the annotator.
        gold: the right label of each item; its index is that of the labels in `judgements`.
        includes_wrong_labels: whether the rest of an item is also expected from annotators who
            chose a wrong label for it.
    """
    label = judgements.label[annotator]
    adequate = judgements.adequate[annotator]
    error = judgements.error[annotator]
    expected_items = gold.index
    if not includes_wrong_labels:
        # Whoever has not given a label yet may still choose the right one.
        expected_items = gold.index[label.isna() | label.eq(gold)]
    is_expected = adequate.index.isin(expected_items, level="item")
    lacks_error = adequate.eq("no") & error.isna()

    missing = [f"item {item} label" for item in gold.index[label.isna()]]
    for item, letter in adequate.index[is_expected & adequate.isna()]:
        missing.append(f"item {item} {letter} adequate")
    for item, letter in adequate.index[is_expected & lacks_error]:
        missing.append(f"item {item} {letter} error")
    if judgements.preferred is not None:
        preferred = judgements.preferred[annotator].loc[expected_items]
        missing += [f"item {item} preferred" for item in expected_items[preferred.isna()]]
    return missing
