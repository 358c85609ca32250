"""An answer in other words or languages is read wrongly, if this fails."""

from __future__ import annotations

import pytest
from text_readers import FOUR, NUMBERS, PICTURES, UNREAD, name_read

from figlang_tasks.answers.choices import Choices


@pytest.mark.parametrize(
    ("output", "choices", "right"),
    [
        ("答案是 B", FOUR, "B"),
        ("正确答案为C", FOUR, "C"),
        ("选项D", FOUR, "D"),
        ("答案：A", FOUR, "A"),
        ("我选择B。", FOUR, "B"),
        ("因此，正确答案是（C）。", FOUR, "C"),
        ("图B", FOUR, "B"),
        ("应该选 D。", FOUR, "D"),
        ("B选项最符合成语的意思。", FOUR, "B"),
        ("这张图片表达的是成语的比喻义，所以选A。", FOUR, "A"),
        ("最佳答案是选项 C：一个人在画蛇添足。", FOUR, "C"),
        ("图片A和图片B都是字面意思，只有图片D表达了比喻义。", FOUR, "D"),
        ("答案不是A。", FOUR, None),
        ("正确选项：B", FOUR, "B"),
        ("综上所述，答案选C", FOUR, "C"),
        ("【答案】D", FOUR, "D"),
        ("故选：A", FOUR, "A"),
        pytest.param("第二张图片", PICTURES, "B", marks=UNREAD),
        pytest.param("正确答案是第三张图。", PICTURES, "C", marks=UNREAD),
        ("Resposta: D", FOUR, "D"),
        ("A resposta correta é B", FOUR, "B"),
        ("A resposta é a letra C.", FOUR, "C"),
        ("A opção correta é a A, pois o homem está muito ocupado.", FOUR, "A"),
        ("A imagem que melhor representa a expressão é a imagem D.", FOUR, "D"),
        ("Letra B", FOUR, "B"),
        ("Alternativa C", FOUR, "C"),
        ("A alternativa correta é a letra B.", FOUR, "B"),
        ("A imagem mostra um homem que chora.", FOUR, None),
        ("A resposta correta é a imagem em que o homem", FOUR, None),
        ("La respuesta correcta es la C.", FOUR, "C"),
        ("Respuesta: B", FOUR, "B"),
        ("La opción D representa mejor el modismo.", FOUR, "D"),
        ("La réponse est B.", FOUR, "B"),
        ("Réponse : C", FOUR, "C"),
        ("La bonne réponse est la D.", FOUR, "D"),
        ("Die richtige Antwort ist B.", FOUR, "B"),
        ("Antwort: C", FOUR, "C"),
        ("Ich würde Bild A wählen.", FOUR, "A"),
        ("La risposta corretta è la B.", FOUR, "B"),
        ("Ответ: B", FOUR, "B"),
        ("正解はBです。", FOUR, "B"),
        ("答えは C です。", FOUR, "C"),
        ("정답은 B입니다.", FOUR, "B"),
        ("정답: D", FOUR, "D"),
        ("Answer -> B", FOUR, "B"),
        ("By elimination, C.", FOUR, "C"),
        ("Only D shows it.", FOUR, "D"),
        ("It has to be A.", FOUR, "A"),
        ("B rather than D", FOUR, "B"),
        ("Not A. Not C. So B.", FOUR, "B"),
        ("A - No\nB - Yes", FOUR, "B"),
        ("Correct: B", FOUR, "B"),
        ("Solution: C", FOUR, "C"),
        ("Image b", FOUR, "B"),
        ("Figure B", FOUR, "B"),
        ("No. 2", NUMBERS, "2"),
        ("Jawaban: A", FOUR, "A"),
        ("Answer => D", FOUR, "D"),
        ("Answer → C", FOUR, "C"),
        pytest.param("Ans. D", FOUR, "D", marks=UNREAD),
        pytest.param("Definitely C!", FOUR, "C", marks=UNREAD),
    ],
)
def test_options_in_other_words_and_languages_are_read(
    output: str, choices: Choices, right: str | None
) -> None:
    assert name_read(output, choices) == right


CANDLE = Choices(
    3,
    texts=(
        "停电的时候，蜡烛比电灯可靠。",
        "透支健康去工作，终会把自己耗尽。",
        "健康不是一切。",
    ),
)


@pytest.mark.parametrize(
    ("output", "right"),
    [
        ("透支健康去工作，终会把自己耗尽。", "B"),
        ("答案：透支健康去工作，终会把自己耗尽。", "B"),
        ("答案：C。健康不是一切。", "C"),  # The "不" of the text denies nothing.
        ("答案：B，因为A不符合", "B"),
        ("答案：B. 停电的时候，蜡烛比电灯可靠。", None),
        ("不应选B", None),
        ("选项B不正确。", None),
    ],
)
def test_texts_of_options_in_chinese_are_read(output: str, right: str | None) -> None:
    assert name_read(output, CANDLE) == right
