"""The Chinese words by which an answer announces, affirms or denies an option, and its signs.

All patterns are in simplified characters and for the text that `chinese_signs` returns: there "。"
and "、" stay as they are, since the first ends a sentence without a blank after it, and the second
joins what "，" would set apart.

Patterns that end in ``\\Z`` are searched in the text before an option, and so end where it begins.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from figlang_tasks.answers.text import QUOTED, Answer
from figlang_tasks.answers.words import IN_LOOPS

_HAN = re.compile(r"[\u3400-\u9fff]")
_KANA_OR_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")

# Each traditional character of the patterns below, and the simplified one after it.
_TRADITIONAL = (
    "選选項项擇择應应該该當当為为認认覺觉錯错誤误對对沒没無无關关確确綜综雖虽結结論论準准貼贴體体現现與与還还評评"
    "較较優优題题畫画圖图傾倾於于這这個个說说達达傳传諷讽隱隐義义從从終终僅仅會会請请難难斷断來来總总後后過过離离"
    "別别餘余據据見见種种單单問问嗎吗麼么並并給给鎖锁決决顯显實实導导擾扰類类觸触適适違违牽牵強强係系"
    "將将時时話话歡欢轉转換换讓让邏逻輯辑誰谁聯联繫系絕绝屬属護护際际點点標标憑凭須须偽伪稱称談谈處处參参據据"
    "則则卻却訴诉將将圍围廣广陳陈狹狭繼继續续進进層层獨独盡尽幾几條条張张簡简況况餘余雙双輕轻執执測测"
    "檢检視视觀观識识別别樣样態态動动機机滿满價价閱阅讀读寫写語语詞词"
    "們们懷怀寬宽調调設设諸诸許许釋释針针頗颇籠笼統统勝胜徵征內内夠够儘尽刪删猶犹證证純纯棄弃眾众隻只"
    "贊赞堅坚懸悬舊旧細细復复譜谱淺浅網网學学詮诠寧宁區区備备註注補补兩两"
)
_SIMPLIFIED = dict(
    zip(map(ord, _TRADITIONAL[::2]), _TRADITIONAL[1::2], strict=True),
)


def is_chinese(text: str) -> bool:
    """Whether a text is mostly Chinese: it has as many Chinese characters as English words.

    A text with signs of Japanese or Korean is not.
    """
    n_characters = len(_HAN.findall(text))
    if n_characters == 0 or _KANA_OR_HANGUL.search(text):
        return False
    return n_characters >= len(_LATIN_WORD.findall(text))


def has_chinese(text: str) -> bool:
    """Whether a text has a Chinese character."""
    return _HAN.search(text) is not None


def simplified(text: str) -> str:
    """A text of the same length with simplified characters, where the patterns here have them."""
    return text.translate(_SIMPLIFIED)


def chinese_signs(answer: Answer) -> str:
    """The text of an answer, of the same length, in the signs that the patterns here know."""
    signs: list[str] = []
    for plain_sign, sign in zip(answer.text, answer.raw, strict=True):
        # A dash sets a judgement off from its option: "A——不符合".
        kept_sign = "," if sign in "\u2014\u2026" else plain_sign
        signs.append(sign if sign in "。、" else kept_sign)
    return simplified("".join(signs))


# --- sentences and clauses ---

SENTENCE_END: Final = re.compile(r"[。!?\n\x00]|\.(?=[\"')\]\s]|\Z)")
CLAUSE_END: Final = re.compile(r"[,;:。!?\n]|\.(?=\s|\Z)")

_NO_DENIAL = re.compile(
    r"不(?:仅|但|只|单|光|难|妨|言而喻|得不|愧|可否认|容置疑|言自明)|毫?无疑问?义?|毫不|非常|没错|没毛病|没有问题|无误"
    r"|没有?(?:疑问|悬念)|错不了|不会有?错|不是吗"
    r"|无论|无非|莫过于|未来|未必不|排除法|错位|错综|不少|不断|不同(?!意)|不久|不知不觉|无限|无数|无私"
)


def without_affirming(text: str) -> str:
    """A text of the same length without words that have a sign of denial and deny nothing."""
    return _NO_DENIAL.sub(lambda word: "\u3000" * len(word[0]), text)


# --- the option itself ---

OPENS: Final = r"[\s:(\"'\[\]<{\u3000]{0,6}"
"""Signs before the letter of an option."""
NOUN_BEFORE: Final = r"(?:(?:选项|选择项|图片?|[Oo]ption|[Cc]hoice)[\s:]?)?"
NOUN_AFTER: Final = re.compile(
    r"[)\]\"'>}]{0,3}[^\S\n]?(?:(?:这一|这个|此)?(?:选项|项|答案)|图)?[)\]\"'>}]{0,3}"
)

_OR = (
    r"(?:但|不过|然而)?"
    r"(?:和|或者?|或是|与|及|以及|还是|跟|同|到|至|也|亦|又|要么|或许|也许|可能|[-~])"
)
_MAY_BE = r"(?:者|也)?(?:有)?(?:可能|可以|能)?(?:是|为|选择?)?"
JOIN: Final = re.compile(
    rf"(?:选项|项)?[)\]\"'\s]{{0,3}}(?:[、/&+]|,?{_OR}{{1,2}}){_MAY_BE}\s?(?:选项|图片?)?[(\[\"'\s]{{0,3}}"
)
"""Between two options that are joined: "和", "、", "，也可能是"; or nothing, as in "BC"."""
COMMA: Final = re.compile(r"(?:选项|项)?[)\]\"']{0,2}(?:\s?,)?[^\S\n]?(?:选项|图片?)?[(\[\"']{0,2}")
"""Between two options of which nothing more is said: "B，C"."""

TICKS: Final = "√\u2713\u2714\u2705"
"""Signs that affirm an option."""
CROSSES: Final = "×\u2717\u2718\u274c"
"""Signs that deny an option."""

# --- what announces an option ---

_ADVERB = (
    r"(?:[\s\"]|应该?|应当|就|当然|当|显然|无疑|肯定|必定|必然|可能|大概|也许|只能|可以|我|个人|认为|觉得|最终|如下|选项|字母"
    r"|确实|其实|明显|才|便|则|最|很|更|有|倾向于?|会|仍然?|依[然旧]|还是|能|要|判断|推断|推测|毫"
    r"|绝对|[八九]成|十有八九|百分之百|敢|似乎|好像|貌似|\u3000)"
)
_IS = r"(?:是|(?<![因认以作])为|属于?|即|选择?|:|=)"
_END = rf"{NOUN_BEFORE}{OPENS}{NOUN_BEFORE}{OPENS}\Z"
_TOPIC = r"[^,。;:!?\nA-Z]"
_BEST = (
    r"(?:最(?![先初后终早大多少小])|更|正确|符合|合适|恰当|贴切|准确|匹配"
    r"|契合|吻合|接近|相符|贴合|首选|合理|对的)"
)
_MEANS = r"(?:表达|传达|说明|反映|讽刺|体现|寓意|隐喻|含义|主题|意思|意义|内涵|暗示|揭示|象征|解释)"
_THUS = (
    r"(?:因此|所以|故而?|综上(?:所述)?|总之|总的来[说看]|总体(?:而言|来[看说])|由此(?:可见|可知)?|可见|于是|因而|最终|最后"
    r"|综合[^,。:\n]{0,8}|那么)"
)
ANNOUNCED: Final = re.compile(
    # "答案：", "答案应该是选项", "【答案】"
    rf"(?:(?:答案|回答|正解|结论|答)(?:{_ADVERB}{{0,6}}{_IS})?"
    # "故选", "我会选择", "选的是"; the 选 of 选项 is none
    r"|(?:(?<![候备次误错漏可])|(?<=宁可))选(?:择|取|定|出)?了?"
    r"(?:的?(?:答案|选项)?(?:应该?|应当)?(?:是|为))?|锁定|保留|坚持"
    # "后来改为"
    r"|改(?:为|成)了?"
    # "我认为是", "应该是"
    rf"|(?:认为|觉得|推测|推断|判断|相信|看来|倾向于?|猜测?)(?:答案|{_ADVERB}){{0,5}}(?:是|为|选择?)|倾向于"
    r"|应(?:该|当)?(?:就)?(?:是|为|选择?)"
    # "最能体现隐喻的是", "正确选项："
    rf"|{_BEST}{_TOPIC}{{0,30}}?{_ADVERB}{{0,4}}{_IS}"
    r"|最(?:接近|符合|匹配|契合|吻合|贴近|贴合|恰当)"
    # "图片的隐喻是", "说明的是"
    rf"|{_MEANS}{_TOPIC}{{0,12}}?(?:是|(?<![因认以作])为|即)"
    # "不是A，而是"
    r"|而(?:应该?|应当)?(?:是|选择?)|\\f?boxed\s?\{(?:\\text\s?)?)"
    rf"{_END}"
)
"""Text before an option, in its clause, that announces it: "答案应该是", "故选", "最符合的是"."""
CONCLUDES: Final = re.compile(rf"{_THUS}[,:]?\s?(?:{_ADVERB}|本题|这道?题){{0,4}}(?:是|为)?{_END}")
"""Text before an option, in its sentence, that concludes it where nothing follows: "因此，"."""
IT_IS: Final = re.compile(
    rf"(?:\A|[,;])\s?(?:但|而|选项)?(?:那?就|应该?|应当|当然|显然|实则|实际上|其实"
    rf"|只能|大概|可能|也许|最可能|我|敢|肯定|绝对|[八九]成|十有八九|百分之百){{0,3}}是{_END}"
)
"""Text before an option, in its sentence, that has no other words than "是"."""
APPOSITION: Final = re.compile(
    rf"(?:答案|含义|意思|主题|隐喻|寓意)(?:应该?|就)?(?:[是为选]|:)[^,。;:!?\nA-Z不非没除]{{1,30}}[,(]\s?(?:也就是|就是|即){_END}"
)
"""Text before an option, in its sentence, that announces it in other words: "答案是后者，即"."""
ONLY: Final = re.compile(rf"(?:只有|唯有|唯独|只剩下?|剩下的?(?:选项)?(?:只有|就是|是)?){_END}")
"""Text before an option that sets it apart from all others: "只有"."""
MATCHES: Final = re.compile(rf"(?:对应(?:的是|于|着)?|指向|支持|符合){_END}")
"""Text before an option with which something agrees: "图片对应选项"."""
_ANALYSES = re.compile(
    rf"(?<!综合)(?:分析|解析|解释|说明|释义|点评|评析|补充|备注|注|理由|原因|逐[项一个]|看|关于|对于|针对){_END}"
)

# --- what denies an option, compares it or leaves it open ---

_DENIED_BEFORE = re.compile(
    rf"(?:[不非没未无勿别]|排除|剔除|否定|否决|删除|去掉|[错误]|除了?|与其|干扰|混淆|其次|相比|相较|比起|比|虽然?|尽管|即使|即便"
    rf"|像|例如|比如|诸如|乍|初看|起初|一开始|表面|看似|以为|怀疑|难以|难说|最[差弱]|离谱|本来|原本){_TOPIC}*(?::{OPENS}{NOUN_BEFORE})?\Z"
)
# "除了B以外，其他都不符合"
_EXCEPT = re.compile(rf"除了?{_END}")
_NO_OTHER = re.compile(
    r"\s?(?:[以之]?外)?,?(?:其[他它余]|别的|剩下|余下)[^。;!?\n也还]*?"
    r"(?:不[符合对正切够贴能行]|未(?!必)|(?<![没不])错|无关|无法|排除|偏离)"
)
_ALSO = re.compile(r"[^。;!?\n]*?(?:也|还有)")
_NAMED_BESIDE = re.compile(rf"(?:与|和|跟|同|对比|相对于){_END}")
_COMPARED_AFTER = re.compile(r"\s?(?:相比|比较|比起来|不同|相反|的(?:区别|差别|不同))")
_CONDITION = re.compile(
    r"如果|假如|(?<![宛仿倘似好犹])若(?![干隐有])|假设|倘若|要是|除非|即使|即便|哪怕"
)
# "有人认为是A" is no answer, but "图中有人在加班" is no opinion.
_OPINION = re.compile(
    r"(?:有的?|别|他|些|多|数)人[^,。;]{0,6}?(?:会|可能|认为|说|觉得|以为|选|误|看成|猜)"
    r"|大家都会?选|有(?:同学|读者|网友|观点)|人们?(?:都|也|可能)?会(?:选|认为|觉得|以为|误|说)"
)
# "一开始选A" and "容易误选A" are no answers, but in "一开始选A，后来改选B" the second is.
_FIRST_THOUGHT = re.compile(
    r"(?:一开始|起初|本来|原本|最初|乍)[^,。]{0,8}?(?:选|[认以]为|觉得|想|看|判断|倾向|是)|容易(?:[误错被把选]|让人|使人|混淆|看成)"
)
_LATER = re.compile(
    r"[,;。\s][^,;。]{0,6}?(?:改[选为成]|最[终后]|再|仔细|细看|反复|重新|后来|之后|现在|正确)"
)
# "A不如B", "不如选B"
_RATHER = re.compile(rf"不如(?=选?{_END})")
_NO_CONDITION = re.compile(
    r"(?:如果|若|假如|要是)我?(?:(?:必须|一定|非|只能|硬)+要?|要)我?(?:选|说|从|挑)"
)
# What stands before "所以" is a reason: "图中没有停电所以选B" denies nothing of B.
_THEREFORE = re.compile(r"(?<![能会应要该非是])(?:所以|因此|因而|故(?=[选答])|综上)")
# "最不合适的一个，是B"
_WORST = re.compile(rf"(?:最[差弱不]|错误|无关|不符)[^,。]*,\s?(?:那?就)?是{_END}")
_BUT = re.compile(r"但是?|然而|不过|可是|其实|实际上|后来|实则")
# After an announced option, in its clause: "选B是不对的", "答案是B的可能性很小", "选B的话"
_TAKEN_BACK = re.compile(
    r"[^,。;:!?\n]*?(?:[不没未非错误否欠]|有问题|吗|么\Z|的话|的人|可能性[^,]{0,3}[小低]|才怪)"
)
_REASON_IN_CLAUSE = re.compile(
    r"是?因为|是?由于|的(?:理由|原因)|而[不非]|并[不非]|不是|不选|排除|其[他它余]|、|\("
)

DENIES_NEXT: Final = re.compile(
    rf"[,;(]?\s?(?:而|并|也|都)?(?:不(?:是|该|应该?|能|会|可)?选?|非){_END}"
)
"""Text between two options that denies the second: "选B而不是A"."""

# --- what judges an option ---

_AFFIRMS = (
    r"(?:(?:正确|合适|合理|恰当|适合|准确)(?!的[^选答解理。,])|符合|吻合|契合|相符|一致|贴切|匹配|贴合|成立|可取|对的|到位|当选"
    rf"|(?<![相针面绝反不应])对(?=\Z|[了,。!;])|[{TICKS}])"
)
_SUPERLATIVE = re.compile(
    r"\bis (?:the )?(?:best|correct|right|answer)\b|优于|胜过|好于|首选"
    r"|(?:最|更)(?:为|加|具)?(?:能?(?:好|够)?地?(?:体现|反映|概括|传达|表达|说明|代表|解释|诠释|准|符|贴|全面)|好|佳|优|完整|深刻"
    r"|可能|接近|合|恰|匹|契|吻|到位|有道理|有说服力|适)"
    r"|唯一(?:正确|符合|合适)|可能性最[大高]|才(?:是(?:正确|最|对|答案|本题)|符合|对(?=\Z|[,。]))"
    r"|(?:是|为|就是)\s?[\u4e00-\u9fff]{0,6}答案|正确(?!的[^选答解理。,])|比较?(?:好|合适)"
)
_AFFIRMED = re.compile(_AFFIRMS)
_LEADS_VERDICT = (
    r"(?:\s|所以|因此|故|完全|非常|基本|很|较|比较|最|更|这|该|此|选项|一?项|描述|说法|显然|明显|也|是|即|能够?|地"
    r"|[与和][^,]{1,12}?)"
)
# All of a clause after the text of an option: "符合", "与画面相符", "最符合图片的主题"
_BARE_VERDICT = re.compile(
    rf"\W*{_LEADS_VERDICT}{{0,6}}(?:{_AFFIRMS}\s?){{1,2}}(?:[^,]{{0,12}}(?:内容|含义|寓意|隐喻|主题|意思|[题图]意|画面|图片"
    r"|要求|答案|选项|选择|解释))?(?:的|了)?\W*\Z"
)
# The text between an option and what judges it: 'B选项"..."最符合'
_ITS_TEXT = re.compile(rf"\A\s?[\"'(]{{0,2}}{QUOTED}+[\"')]{{0,2}}(?=[\u4e00-\u9fff])")
_SEPARATES = re.compile(r"[)\]\"'*\s]{0,3}(?:[.:、(,\ufffc]|\s)")
_DENIED = re.compile(
    rf"[不没未非否错误{CROSSES}]|无(?!意|声|情)|排除|片面|偏离|偏题|偏颇|过于|太|牵强|表层|浅层|欠|有问题|矛盾|相反|相悖|违背|缺乏|忽略"
    r"|干扰|字面|反面|笼统|宽泛|弱|差|只(?:是|强调|提|说|描述|关注|涉及|谈)|仅"
)
_PARTLY = re.compile(
    r"部分|一定|某种|虽然?|尽管|看似|似乎|表面|勉强|有些|有点|基本|大致|可能(?!性)|如果|若|乍|是否|之一|很容易|道理"
)
_OTHERS = re.compile(r"\s?(?:而|且|并且)?(?:其[他它余]|别的|另外|剩下|余下|另)")
_REASON = re.compile(r"\s?(?:这是|是)?(?:因为?|由于|原因|理由)")
_BARE_DENIAL = re.compile(
    r"\W*(?:(?:显然|明显|完全|似乎|恐怕|也|都|这?是)?"
    r"(?:不(?!过|太?确定|敢)|错(?!误?的?(?:选项|是))|[没误排无])"
    r"|(?:(?:但|然而|不过|可)是?)?(?:我|这)?(?:认为|觉得)?(?:却|并|是)?"
    r"(?:不(?:同意|认同|赞[同成]|支持|这[么样]|对|正确)|错(?!误?的?(?:选项|是))))[^,。;!?\n]{0,5}(?:[,。;!?\n]|\Z)"
)
_CONTRASTS = re.compile(r"\s?(?:而|并)?(?:不是|非)")

# --- several options ---

TURNS: Final = re.compile(r"[不没错但却改实宁才更]|然而|还是|后来|最[后终]|现在|因此|所以|故|综")
"""Text between two announced options after which the second replaces the first."""
ALSO_RIGHT: Final = re.compile(
    r"\s?(?:选项|项)?(?:其实)?(?:也|同样)(?:是|完全|都)?"
    r"(?:可以|可|行|对|正确|成立|合适|合理)的?(?=[。!)\n]|\Z)"
)
"""Text after an option that calls it right beside another: "C也可以。"."""
BOTH_RIGHT: Final = re.compile(
    r"(?:两|二)(?:个|者|项)?(?:选项|答案)?[都皆均](?:是|完全)?(?:可|行|对|正确|成立|合[适理]|符合)"
)
"""Text that calls two options right: "两个都可以"."""

# --- no option ---

DECLINES: Final = re.compile(
    r"无法(?:判断|确定|回答|识别|查看|看到|得出|选择|提供|辨认|给出)|抱歉|对不起|不能(?:确定|判断|回答|查看)|不确定|不知道|不清楚"
    r"|难以(?:判断|确定|回答)|看不[到见清]|请提供|请上传|答案\W{0,3}(?:是|为)?\W{0,3}(?:无\W*\Z|没有|不确定|未知)"
    r"|(?:以上|上述|所有|这些|[四五六]个|全部)(?:的|选项|答案|都|均|全|皆|\s){0,5}(?:不|没|非|错)"
    r"|没有(?:一个|任何|哪个)?(?:选项|答案|正确|合适|符合)|[A-Z](?:都|均|全|皆)不"
)


@lru_cache(maxsize=IN_LOOPS)
def is_denied_before(clause: str, sentence: str) -> bool:
    """Whether the text before an option denies it, compares it with others or makes it conditional.

    Args:
        clause: the text before it in its clause, without another option.
        sentence: the text before it in its sentence.
    """
    clause = _THEREFORE.split(clause)[-1]
    # "不过" and "不如" have a sign of denial, and deny nothing that follows.
    clause = _RATHER.sub("", _BUT.sub("", clause))
    if _DENIED_BEFORE.search(without_affirming(clause)) or _WORST.search(sentence):
        return True

    since_turn = _BUT.split(sentence)[-1]
    if _OPINION.search(since_turn):
        return True
    first_thought = _FIRST_THOUGHT.search(since_turn)
    if first_thought is not None and not _LATER.search(since_turn, first_thought.end()):
        return True
    since_reasons = _THEREFORE.split(since_turn)[-1]
    return _CONDITION.search(_NO_CONDITION.sub("", since_reasons)) is not None


def is_exception(before: str, after: str) -> bool:
    """Whether an option is the one that is not denied: "除了B以外，其他都不符合"."""
    return _EXCEPT.search(before) is not None and _NO_OTHER.match(after) is not None


def is_one_of_several(before: str, after: str) -> bool:
    """Whether an option is named as one of several: "除了B，C也符合"."""
    return _EXCEPT.search(before) is not None and _ALSO.match(after) is not None


def is_only_analysed(clause: str) -> bool:
    """Whether the text before an option announces no more than words about it: "分析："."""
    return _ANALYSES.search(clause) is not None


def is_compared(before: str, after: str) -> bool:
    """Whether an option is only what another is compared with: "与A相比", "A与B不同"."""
    return _NAMED_BESIDE.search(before) is not None and _COMPARED_AFTER.match(after) is not None


def is_taken_back(after: str) -> bool:
    """Whether the text after an announced option, up to the next, takes it back: "是不对的"."""
    if _SEPARATES.match(after):
        return is_denied_at_once(after)
    reason = _REASON_IN_CLAUSE.search(after)
    clause = CLAUSE_END.split(after, maxsplit=1)[0]
    if reason is not None:
        clause = clause[: reason.start()]
    clause = without_affirming(clause)
    return judgement(clause) == "denied" or _TAKEN_BACK.match(clause) is not None


def is_denied_at_once(after: str) -> bool:
    """Whether the text after an option begins with nothing but its denial: "。不正确。"."""
    return _BARE_DENIAL.match(without_affirming(after)) is not None


@lru_cache(maxsize=IN_LOOPS)
def judgement(after: str) -> str | None:
    """How the text after an option judges it: "best", "fits" or "denied"; None if it does not.

    The last clause that judges counts, up to one about other options or about the reason.

    Args:
        after: the text up to the next option, or to the end of the sentence or item.
    """
    verdict: str | None = None
    after = _ITS_TEXT.sub("", after)
    is_text = _SEPARATES.match(after) is not None  # "B. 选项的文字，符合"
    for number, clause in enumerate(CLAUSE_END.split(without_affirming(after))):
        if _REASON.match(clause) or (number and _OTHERS.match(clause)):
            break
        if number and _CONTRASTS.match(clause):
            continue
        is_affirmed = _AFFIRMED.search(clause) is not None
        if is_text and is_affirmed and not _DENIED.search(clause):
            is_affirmed = _BARE_VERDICT.match(clause) is not None
        if _DENIED.search(clause) or _PARTLY.search(clause):
            # "B最符合，图中没有电灯" still affirms B; "B符合，但不够准确" does not.
            if verdict not in ("best", "fits") or _BUT.search(clause) or is_affirmed:
                verdict = "denied"
        elif _SUPERLATIVE.search(clause) and (is_affirmed or (number == 0 and not is_text)):
            verdict = "best"
        elif is_affirmed and verdict != "best":
            verdict = "fits"
    return verdict
