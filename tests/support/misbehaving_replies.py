"""Bodies that servers, gateways and proxies send with HTTP status 200, and what each of them is."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

MODEL = "served-model"


@dataclass(frozen=True)
class Case:
    """A body, and what is to be made of it.

    Attributes:
        name: of the case.
        body: as it is sent.
        text: the answer in it; "" if it says nothing; None if it is no chat completion, or its
            content no text.
        refusal: ``refusal`` or ``content_filter``; "" for an answer.
        fault: words of the message, where `text` is None.
        is_completion: whether it is a chat completion, though its content may be no text.
    """

    name: str
    body: bytes
    text: str | None = None
    refusal: str = ""
    fault: str = ""
    is_completion: bool = field(default=False)


def completion(message: Any, /, **choice: Any) -> dict[str, Any]:
    """A chat completion with this message."""
    given = {"index": 0, "finish_reason": "stop", "message": message, **choice}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [given],
        "usage": usage,
    }


def saying(content: Any, **choice: Any) -> dict[str, Any]:
    """A chat completion with this content."""
    return completion({"role": "assistant", "content": content}, **choice)


def body(value: Any) -> bytes:
    """A value as a server sends it; NaN and halves of surrogate pairs are sent too."""
    return json.dumps(value).encode()


def _answer(name: str, value: Any, text: str, refusal: str = "") -> Case:
    return Case(name, body(value), text, refusal, is_completion=True)


def _fault(name: str, value: Any, fault: str) -> Case:
    return Case(name, value if isinstance(value, bytes) else body(value), fault=fault)


def _no_text(name: str, content: Any, fault: str) -> Case:
    return Case(name, body(saying(content)), fault=fault, is_completion=True)


def _with(value: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**value, **fields}


_YES = saying("Yes.")
_PARTS = [{"type": "text", "text": "Ye"}, {"type": "text", "text": "s."}]

NO_COMPLETION = [
    _fault("nothing", b"", r"it is no JSON\). .* It sent: nothing"),
    _fault("white space", b" \n ", "it is no JSON"),
    _fault(
        "an HTML page",
        b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>",
        "It sent: <!DOCTYPE html><html>",
    ),
    _fault(
        "words", b"upstream connect error", r"it is no JSON\). .* It sent: upstream connect error"
    ),
    _fault("cut JSON", body(_YES)[:-20], "it is no JSON"),
    _fault("two objects", body(_YES) * 2, "it is no JSON"),
    _fault("a stream of events", b"data: " + body(_YES) + b"\n\ndata: [DONE]\n", "It sent: data: "),
    _fault("no UTF-8", b'{"choices": "\xff\xfe\xfa"}', "it is no JSON"),
    _fault("control characters", b"\x1b[2J\x1b]0;title\x07\x00", "it is no JSON"),
    _fault("a number with 5,000 digits", b'{"choices": ' + b"9" * 5000 + b"}", "it is no JSON"),
    _fault("nested 100,000 deep", b"[" * 100_000, "it is nested too deeply"),
    _fault("nested 100,000 deep, in objects", b'{"choices":' * 100_000, "it is nested too deeply"),
    _fault("a list", [_YES], "it is no JSON object"),
    _fault("a text", "Yes.", "it is no JSON object"),
    _fault("null", None, "it is no JSON object"),
    _fault("NaN", b"NaN", "it is no JSON object"),
    _fault("an empty object", {}, "choices: Field required"),
    _fault("of another protocol", {"output": [{"content": "Yes."}]}, "choices: Field required"),
    _fault("choices null", _with(_YES, choices=None), "choices is None: must be a valid list"),
    _fault("choices empty", _with(_YES, choices=[]), r"choices is \[\]: "),
    _fault(
        "choices an object",
        _with(_YES, choices={"0": _YES["choices"][0]}),
        "choices is .*: must be a valid list",
    ),
    _fault(
        "choices a text", _with(_YES, choices="Yes."), "choices is 'Yes.': must be a valid list"
    ),
    _fault(
        "a choice null", _with(_YES, choices=[None]), r"choices.0 is None: must be a valid object\)"
    ),
    _fault("a choice a list", _with(_YES, choices=[["Yes."]]), r"choices.0 is \['Yes.'\]"),
    _fault("deep choices", b'{"choices": ' + b"[" * 300 + b"]" * 300 + b"}", r"choices.0 is \[\["),
    _fault(
        "of the older protocol",
        _with(_YES, choices=[{"text": "Yes.", "index": 0}]),
        "choices.0.message: Field req",
    ),
    _fault(
        "message null", completion(None), r"choices.0.message is None: must be a valid object\)"
    ),
    _fault("message a text", completion("Yes."), "choices.0.message is 'Yes.'"),
    _fault("message a list", completion(["Yes."]), "choices.0.message is "),
    _fault(
        "an error",
        {"error": {"message": "Provider returned error.", "code": 502}},
        "error .*: Provider returned",
    ),
    _fault(
        "an error as a text",
        {"error": "out of memory"},
        "error in place of an answer: out of memory",
    ),
    _fault(
        "an error without words",
        {"error": {"code": 502}},
        "error in place of an answer: {'code': 502}",
    ),
    _fault(
        "an error beside no choices",
        {"error": {"message": "busy"}, "choices": []},
        "of an answer: busy",
    ),
    _fault(
        "an error of 1 MB", {"error": "x" * 1_000_000}, r"error in place of an answer: x{90,}\.\.\."
    ),
    _fault(
        "an error in the choice",
        saying("Ye", error={"message": "lost"}),
        "broke off with an error: lost",
    ),
    _fault(
        "65 MB",
        body(saying("x" * 65_000_000)),
        "sent 65,000,.* bytes, which is more than an answer",
    ),
]

NO_TEXT = [
    _no_text("content a number", 5, "sent 5 as the content"),
    _no_text("content true", True, "sent True as the content"),
    _no_text("content an object", {"text": "Yes."}, "sent {'text': 'Yes.'} as the content"),
    _no_text("content NaN", float("nan"), "sent nan as the content"),
    _no_text("content deep", json.loads("[" * 200 + "]" * 200), "as the content"),
    _no_text("content a list of texts", ["Yes."], "sent 'Yes.' as the content"),
    _no_text("a part null", [None], "sent None as the content"),
    _no_text(
        "a part with a picture", [{"type": "image_url", "image_url": {"url": "x"}}], "'image_url'"
    ),
    _no_text("a part without a text", [{"type": "text", "text": 5}], "as the content"),
    _no_text("a part of no type", [{"type": ["text"], "text": "Yes."}], "as the content"),
]

EMPTY = [
    _answer("content empty", saying(""), ""),
    _answer("content white space", saying(" \n\t"), " \n\t"),
    _answer("content of signs that nobody sees", saying("\u200b\ufeff\x00 "), "\u200b\ufeff\x00 "),
    _answer("content null", saying(None), ""),
    _answer("no content", completion({"role": "assistant"}), ""),
    _answer("content without parts", saying([]), ""),
    _answer("an empty part", saying([{"type": "text", "text": ""}]), ""),
    _answer(
        "a thought alone",
        saying([{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}]),
        "",
    ),
    _answer("tokens spent", saying("", finish_reason="length"), ""),
    _answer(
        "thoughts beside",
        completion({"content": None, "reasoning_content": "Hm, "}, finish_reason="length"),
        "",
    ),
    _answer("an empty refusal", completion({"content": "", "refusal": ""}), ""),
    _answer(
        "a refusal of another type", completion({"content": None, "refusal": {"reason": 1}}), ""
    ),
]

REFUSED = [
    _answer(
        "a refusal",
        completion({"content": None, "refusal": "I can't help."}),
        "I can't help.",
        "refusal",
    ),
    _answer(
        "a refusal beside words",
        completion({"content": "Yes.", "refusal": "I won't."}),
        "I won't.",
        "refusal",
    ),
    _answer(
        "a part with a refusal",
        saying([{"type": "refusal", "refusal": "No way."}]),
        "No way.",
        "refusal",
    ),
    _answer("a filter", saying(None, finish_reason="content_filter"), "", "content_filter"),
    _answer(
        "a filter that cuts",
        saying("Yes, it", finish_reason="content_filter"),
        "Yes, it",
        "content_filter",
    ),
    _answer(
        "a refusal and a filter",
        completion({"content": "", "refusal": "I can't."}, finish_reason="content_filter"),
        "I can't.",
        "refusal",
    ),
]

ANSWERS = [
    _answer("plain", _YES, "Yes."),
    _answer("parts", saying(_PARTS), "Yes."),
    _answer("parts of responses", saying([{"type": "output_text", "text": "Yes."}]), "Yes."),
    _answer(
        "a thought and an answer", saying([{"type": "thinking", "thinking": []}, *_PARTS]), "Yes."
    ),
    _answer("half a surrogate pair", saying("Yes \ud83d"), "Yes \ud83d"),
    _answer("usage a text", _with(_YES, usage="12 tokens"), "Yes."),
    _answer("usage a list", _with(_YES, usage=[1, 2]), "Yes."),
    _answer("usage null", _with(_YES, usage=None), "Yes."),
    _answer(
        "counts as texts",
        _with(_YES, usage={"prompt_tokens": "3", "completion_tokens": None}),
        "Yes.",
    ),
    _answer(
        "counts NaN",
        _with(_YES, usage={"prompt_tokens": float("nan"), "completion_tokens": -1}),
        "Yes.",
    ),
    _answer(
        "counts of 400 digits",
        _with(_YES, usage={"prompt_tokens": 10**400, "completion_tokens": 1}),
        "Yes.",
    ),
    _answer(
        "details a text",
        _with(_YES, usage={"prompt_tokens": 1, "completion_tokens_details": "none"}),
        "Yes.",
    ),
    _answer("model a number", _with(_YES, model=5), "Yes."),
    _answer("model of 1 MB", _with(_YES, model=MODEL + "\ud83d\x1b[2J" * 100_000), "Yes."),
    _answer("no model", {"choices": _YES["choices"]}, "Yes."),
    _answer("an error that is null", _with(_YES, error=None), "Yes."),
    _answer("finish_reason a number", saying("Yes.", finish_reason=7), "Yes."),
    _answer("logprobs a text", saying("Yes.", logprobs="none"), "Yes."),
    _answer("choices of several", _with(_YES, choices=_YES["choices"] * 3), "Yes."),
    _answer("a message of another role", completion({"role": 5, "content": "Yes."}), "Yes."),
    _answer(
        "tool calls of another form", completion({"content": "Yes.", "tool_calls": "none"}), "Yes."
    ),
    _answer(
        "audio of another form",
        completion({"content": "Yes.", "audio": 5, "annotations": 7}),
        "Yes.",
    ),
    Case("a mark of byte order", b"\xef\xbb\xbf" + body(_YES), "Yes.", is_completion=True),
    Case("UTF-16", json.dumps(_YES).encode("utf-16"), "Yes.", is_completion=True),
]

CASES = [*NO_COMPLETION, *NO_TEXT, *EMPTY, *REFUSED, *ANSWERS]


def with_logprobs(logprobs: Any) -> bytes:
    """A reply with these logprobs."""
    return body(saying("Yes", logprobs=logprobs))


def of_tokens(*top_logprobs: Any) -> bytes:
    """A reply with these as the most probable first tokens."""
    return with_logprobs(
        {"content": [{"token": "Yes", "logprob": -1.0, "top_logprobs": list(top_logprobs)}]}
    )


def token(word: Any, logprob: Any) -> dict[str, Any]:
    return {"token": word, "logprob": logprob, "bytes": None}


LOGPROBS = {
    "none": (with_logprobs(None), "gives no logprobs"),
    "empty": (with_logprobs({}), "gives no logprobs"),
    "content null": (with_logprobs({"content": None}), "gives no logprobs"),
    "content empty": (with_logprobs({"content": []}), "gives no logprobs"),
    "of the older protocol": (
        with_logprobs({"tokens": ["Yes"], "token_logprobs": [-1]}),
        "gives no logprobs",
    ),
    "no top_logprobs": (
        with_logprobs({"content": [{"token": "Yes", "logprob": -1}]}),
        "gives no logprobs",
    ),
    "top_logprobs null": (
        with_logprobs({"content": [{"top_logprobs": None}]}),
        "gives no logprobs",
    ),
    "top_logprobs empty": (of_tokens(), "gives no logprobs"),
    "top_logprobs an object": (
        with_logprobs({"content": [{"top_logprobs": {"Yes": -1}}]}),
        "must be a valid list",
    ),
    "top_logprobs texts": (of_tokens("Yes"), "top_logprobs.0 is 'Yes': must be a valid object"),
    "a text": (with_logprobs("none"), "unknown logprobs: must be a valid object"),
    "a number": (with_logprobs(5), "unknown logprobs"),
    "content a text": (with_logprobs({"content": "Yes"}), "content is 'Yes': must be a valid list"),
    "content numbers": (with_logprobs({"content": [5]}), "content.0 is 5"),
    "logprob NaN": (
        of_tokens(token("Yes", float("nan")), token("No", -1.0)),
        "sent nan as the logprob of 'Yes'",
    ),
    "logprob infinite": (
        of_tokens(token("Yes", float("inf")), token("No", -1.0)),
        "sent inf as the logprob",
    ),
    "logprob 800": (
        of_tokens(token("Yes", -1.0), token("No", 800)),
        "sent 800 as the logprob of 'No'",
    ),
    "logprob 0.5": (of_tokens(token("Yes", 0.5)), "sent 0.5 as the logprob"),
    "a probability": (of_tokens(token("Yes", 0.9), token("No", 0.1)), "sent 0.9 as the logprob"),
    "logprob of another token": (
        of_tokens(token("Yes", -1.0), token("The", float("nan"))),
        "sent nan as the logprob",
    ),
    "logprob a text": (
        of_tokens(token("Yes", "-1.0")),
        "logprob is '-1.0': must be a valid number",
    ),
    "logprob true": (of_tokens(token("Yes", True)), "logprob is True: must be a valid number"),
    "logprob null": (of_tokens(token("Yes", None)), "logprob is None: must be a valid number"),
    "logprob a list": (of_tokens(token("Yes", [-1.0])), r"logprob is \[-1.0\]"),
    "logprob of 400 digits": (of_tokens(token("Yes", -(10**400))), "must be a valid number"),
    "no logprob": (of_tokens({"token": "Yes"}), "logprob: Field required"),
    "token null": (of_tokens(token(None, -1.0)), "token is None: must be a valid string"),
    "token a number": (of_tokens(token(5, -1.0)), "token is 5: must be a valid string"),
    "other words": (
        of_tokens(token("The", -1.0)),
        "neither 'Yes' nor 'No' is among the first tokens: 'The' -1.00",
    ),
    "impossible words": (
        of_tokens(token("Yes", -1e999), token("No", -1e999)),
        "neither 'Yes' nor 'No'",
    ),
    "no words": (body(saying("")), "gives no logprobs"),
    "a page": (b"<html>", "no chat completion"),
    "an error": (body({"error": {"message": "busy"}}), "an error in place of an answer: busy"),
    "no choices": (body({"choices": []}), "no chat completion"),
}
"""Replies to a score request that give no score, with words of the message."""

SCORES = {
    "plain": (of_tokens(token("Yes", -1.0), token("No", -2.0)), 0.7310585786300049),
    "whole numbers": (of_tokens(token("Yes", -1), token("No", -1)), 0.5),
    "a certain word": (of_tokens(token("Yes", 1e-6), token("No", -14)), 1 - 8.315280276641321e-07),
    "one word": (of_tokens(token("Yes", -1.0), token("The", -2.0)), 1.0),
    "one impossible word": (of_tokens(token("Yes", -1e999), token("No", -2.0)), 0.0),
    "both improbable": (
        of_tokens(token("The", 0.0), token("Yes", -9999.0), token("No", -9999.0)),
        0.5,
    ),
    "improbable and more so": (
        of_tokens(token("Yes", -1000.0), token("No", -1001.0)),
        0.7310585786300049,
    ),
    "a half of a pair": (
        of_tokens(token("\ud83d", -3.0), token("No", -1.0), token("Yes", -1.0)),
        0.5,
    ),
    "no numbers of tokens": (
        body(_with(json.loads(of_tokens(token("Yes", -1.0), token("No", -1.0))), usage="none")),
        0.5,
    ),
}
"""Replies to a score request with their score, computed by hand: 1 / (1 + exp(no - yes))."""
