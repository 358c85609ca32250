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


@pytest.mark.parametrize(
    ("output", "right"),
    [
        # People in the picture are no people with an opinion, and reasons are no conditions.
        ("图中的人像蜡烛一样燃烧自己，所以选B。", "B"),
        ("画面中有人在加班，因此选B。", "B"),
        ("图中许多人在排队，故选B。", "B"),
        ("熬夜容易伤身，所以答案是B。", "B"),
        ("如果人不休息，就会像蜡烛一样燃尽，所以选B。", "B"),
        ("原本应该休息的人却在工作，选B。", "B"),
        ("图中没有停电所以选B。", "B"),
        ("如果图里是医生，那么答案是B。", None),
        ("有人认为图中无电，因此选B。", None),
        ("很多人会选B，这是错的。", None),
        ("出题人可能希望我们选B，但我不同意。", None),
        # A line is no part of the one above, unless it is nothing but a denial.
        ("答案：B\n没有停电的元素。", "B"),
        ("答案\nB", "B"),
        ("B\n不对", None),
        # What replaces an answer, and what stands beside it
        ("一开始我想选A，仔细看后改选B。", "B"),
        ("我最初认为是A，后来改为B。", "B"),
        ("本题容易误选A，正确答案为B。", "B"),
        ("选A不如选B。", "B"),
        ("A不如B贴切，但B也不对。", None),
        ("除了B以外，其他选项都不符合图意。", "B"),
        ("除了A以外，其他选项都没有B好。", None),
        ("我没有十足把握，不过答案应该是B。", "B"),
        ("答案是B，不过我不确定。", "B"),
        ("正确的是B，错误的是A。", "B"),
        ("首选B，次选C。", "B"),
        ("要说最差，是B。", None),
        ("这题选B有问题。", None),
        # Traditional characters
        ("出題人可能希望我們選B，但我不贊成。", None),
        ("本題容易誤選A，正確答案為B。", "B"),
        ("我堅持B。", "B"),
        # Several options that are right
        ("答案：B\n答案：C\n两个都可以。", None),
        ("答案：B\n解析：C也对。", None),
        ("答案：B\n解析：A也对，但不够全面。", "B"),
        ("前者选A，后者选B。", None),
        ("答案不唯一，B和C。", None),
        ("B是对的。C同样正确。", None),
        ("除了B，C也符合。", None),
        ("答案：B\n答案：C\n兩個都可以。", None),
    ],
)
def test_plain_answers_in_chinese_are_read_and_doubtful_ones_are_not(
    output: str, right: str | None
) -> None:
    assert name_read(output, FOUR) == right
