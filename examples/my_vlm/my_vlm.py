"""An lmms-eval model class in its own package, for any image-text-to-text model of transformers."""

import torch
from lmms_eval.api.instance import GenerationResult, TokenCounts
from lmms_eval.api.model import lmms
from lmms_eval.models.registry_v2 import ModelManifest
from lmms_eval.protocol import ChatMessages
from transformers import AutoModelForImageTextToText, AutoProcessor

from figlang_tasks.core.score_requests import answer, score_request


def manifests():
    return [ModelManifest(model_id="my_vlm", chat_class_path="my_vlm.MyVLM")]


class MyVLM(lmms):
    is_simple = False  # a chat model: each request has a function that builds its messages
    answers_score_requests = ("match",)  # leave this line out if your model answers in words only

    def __init__(self, pretrained, device=None, batch_size=1, **unknown):
        super().__init__()
        if unknown:
            raise ValueError(f"unknown --model_args: {', '.join(unknown)}")
        self.processor = AutoProcessor.from_pretrained(pretrained)
        self.model = AutoModelForImageTextToText.from_pretrained(pretrained, dtype="auto").eval()
        self.model.to(device or ("cuda" if torch.cuda.is_available() else "cpu"))

    @torch.inference_mode()
    def generate_until(self, requests):
        return [self.respond(request) for request in requests]  # in the order of the requests

    def respond(self, request):
        """Answer one request, with a text or with scores as JSON."""
        _, doc_to_messages, settings, doc_id, task, split = request.args
        doc = self.task_dict[task][split][doc_id]
        messages = ChatMessages(messages=doc_to_messages(doc)).to_hf_messages()
        scores_asked = score_request(settings, doc)
        if scores_asked is None:  # the task asks for words
            return self.words(messages, settings)
        return self.scores(messages, yes=scores_asked.yes, no=scores_asked.no)

    def inputs(self, messages):
        inputs = self.processor.apply_chat_template(
            messages,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )
        return inputs.to(self.model.device, self.model.dtype)

    def words(self, messages, settings):
        """Generate a text, and cut it before the first of the `until` strings."""
        inputs = self.inputs(messages)
        output = self.model.generate(
            **inputs,
            max_new_tokens=settings["max_new_tokens"],
            num_beams=settings["num_beams"],
            do_sample=settings["do_sample"],
        )
        tokens = output[0, inputs["input_ids"].shape[1] :]
        text = self.processor.tokenizer.decode(tokens, skip_special_tokens=True)
        for end in settings["until"]:
            text = text.partition(end)[0]
        return GenerationResult(text=text, token_counts=TokenCounts(output_tokens=len(tokens)))

    def first_tokens(self, word):
        """Return the first tokens of a word, with and without a space before it."""
        encode = self.processor.tokenizer.encode
        return {encode(text, add_special_tokens=False)[0] for text in (word, f" {word}")}

    def scores(self, messages, yes, no):
        """Score each image alone with the text: P(yes) / (P(yes) + P(no)) of the first token."""
        tokens_of_yes = self.first_tokens(yes)
        tokens_of_no = self.first_tokens(no)
        tokens_of_both = (
            tokens_of_yes & tokens_of_no
        )  # a first token that both words share tells nothing
        tokens_of_yes = sorted(tokens_of_yes - tokens_of_both)
        tokens_of_no = sorted(tokens_of_no - tokens_of_both)

        match_scores = []
        for image in images_of(messages):
            inputs = self.inputs(with_one_image(messages, image))
            probabilities = self.model(**inputs).logits[0, -1].float().softmax(dim=-1)
            p_yes = probabilities[tokens_of_yes].sum().item()
            p_no = probabilities[tokens_of_no].sum().item()
            match_scores.append(p_yes / (p_yes + p_no))
        token_counts = TokenCounts(output_tokens=len(match_scores))
        return GenerationResult(text=answer(match_scores), token_counts=token_counts)

    def loglikelihood(self, requests):
        raise NotImplementedError("no task of figlang_tasks asks for it")

    def generate_until_multi_round(self, requests):
        raise NotImplementedError("no task of figlang_tasks asks for it")


def images_of(messages):
    """Return the images of chat turns, in order."""
    images = []
    for turn in messages:
        images += [part["image"] for part in turn["content"] if part["type"] == "image"]
    return images


def with_one_image(messages, image):
    """Return the chat turns with all their texts, but with only this image."""
    turns = []
    for turn in messages:
        parts = []
        for part in turn["content"]:
            if part["type"] != "image" or part["image"] is image:
                parts.append(part)
        turns.append({**turn, "content": parts})
    return turns
