"""A model class of lmms-eval in a package of its own, for any image-text-to-text model of
transformers.
"""

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
    is_simple = False  # the chat kind: a request has a function that makes messages
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
        """The answer to one request: its text, or numbers as JSON."""
        _, doc_to_messages, settings, doc_id, task, split = request.args
        doc = self.task_dict[task][split][doc_id]
        messages = ChatMessages(messages=doc_to_messages(doc)).to_hf_messages()
        wanted = score_request(settings, doc)  # None if the task asks for words
        return self.words(messages, settings) if wanted is None else self.scores(messages, wanted)

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
        """Generated text, which ends before the first of the `until` strings."""
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

    def scores(self, messages, wanted):
        """For each image alone with the text, P(yes) / (P(yes) + P(no)) of the first token of the
        answer.
        """
        encode = self.processor.tokenizer.encode
        words = [[word, f" {word}"] for word in (wanted.yes, wanted.no)]
        first = [
            {encode(word, add_special_tokens=False)[0] for word in spellings} for spellings in words
        ]
        yes, no = (sorted(tokens - (first[0] & first[1])) for tokens in first)
        found = []
        for image in [
            part["image"]
            for turn in messages
            for part in turn["content"]
            if part["type"] == "image"
        ]:
            alone = [
                {
                    **turn,
                    "content": [
                        part for part in turn["content"] if part.get("image", image) is image
                    ],
                }
                for turn in messages
            ]
            probabilities = self.model(**self.inputs(alone)).logits[0, -1].float().softmax(dim=-1)
            of_yes, of_no = (probabilities[tokens].sum().item() for tokens in (yes, no))
            found.append(of_yes / (of_yes + of_no))
        return GenerationResult(
            text=answer(found), token_counts=TokenCounts(output_tokens=len(found))
        )

    def loglikelihood(self, requests):
        raise NotImplementedError("no task of figlang_tasks asks for it")

    def generate_until_multi_round(self, requests):
        raise NotImplementedError("no task of figlang_tasks asks for it")
