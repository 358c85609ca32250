"""If these fail, the field ``data`` has changed, and older results are taken for other data."""

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
def test_the_text_of_each_benchmark_is_read_and_written_back(text: str) -> None:
    assert DataId.parse(text) == TEXTS[text]
    assert str(TEXTS[text]) == text


@pytest.mark.parametrize(
    "text",
    ["", "/test:ff", "IRFL/x@:ff", "IRFL/x@a@b:ff", "V-FLUTE/test:ff\n", "NYK-MS/nyk_m:ff+Other:"],
)
def test_a_text_that_is_no_identity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="does not name data") as raised:
        DataId.parse(text)
    assert repr(text) in str(raised.value)


def test_data_with_other_joined_pictures_has_the_same_texts() -> None:
    text = "NYK-MS/nyk_m:0123456789ab"
    for revision in ("local", "508076d8e54f"):
        joined = DataId.parse(f"{text}+NewYorkerCaptionContest:{revision}")
        assert joined.texts == DataId.parse(text)


def test_data_with_other_candidates_has_other_texts() -> None:
    candidates_a = DataId.parse("MetaCLUE/retrieve_swap@local:ff+aa")
    candidates_b = DataId.parse("MetaCLUE/retrieve_swap@local:ff+bb")
    assert candidates_a.texts != candidates_b.texts
