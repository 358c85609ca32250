"""Results of an older version are taken for those of other data if this fails: the field ``data``
has changed.
"""

from __future__ import annotations

import pytest

from figlang_tasks.core.data_id import DataId

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TEXTS = {
    "V-FLUTE/test:0123456789ab": DataId("V-FLUTE", "test", "0123456789ab"),
    f"IRFL/idiom-detection-task@{COMMIT}:0123456789ab": DataId(
        "IRFL", "idiom-detection-task", "0123456789ab", revision=COMMIT
    ),
    "NYK-MS/nyk_s:0123456789ab+NewYorkerCaptionContest:508076d8e54f": DataId(
        "NYK-MS", "nyk_s", "0123456789ab", joined="NewYorkerCaptionContest:508076d8e54f"
    ),
    "MetaCLUE/retrieve_random50@local:0123456789ab+ba9876543210": DataId(
        "MetaCLUE", "retrieve_random50", "0123456789ab+ba9876543210", revision="local"
    ),
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_of_each_benchmark(text: str) -> None:
    assert DataId.parse(text) == TEXTS[text]
    assert str(TEXTS[text]) == text


@pytest.mark.parametrize(
    "text",
    ["", "/test:ff", "IRFL/x@:ff", "IRFL/x@a@b:ff", "V-FLUTE/test:ff\n", "NYK-MS/nyk_m:ff+Other:"],
)
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="does not name data") as told:
        DataId.parse(text)
    assert repr(text) in str(told.value)


def test_copies_of_the_same_texts() -> None:
    text = "NYK-MS/nyk_m:0123456789ab"
    joined = [
        DataId.parse(f"{text}+NewYorkerCaptionContest:{revision}")
        for revision in ("local", "508076d8e54f")
    ]
    assert {each.texts for each in joined} == {DataId.parse(text)}
    one, other = (
        DataId.parse(f"MetaCLUE/retrieve_swap@local:ff+{digest}") for digest in ("aa", "bb")
    )
    assert one.texts != other.texts, "other candidates"
