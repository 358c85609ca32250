"""Images and pairs that wait for a network of ``figlang_clip`` until a batch is full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import torch
from PIL import Image

from .ahead import BatchRunner
from .dual_comparisons import (
    Comparison,
    Pair,
    row_of_image,
    row_of_pair,
    with_errors_naming_rows,
)
from .dual_networks import Floats, Matcher, Network


class ImageEncoder:
    """Encodes each distinct image of the comparisons once, and lets go of it.

    `add` makes the images of a comparison wait; `encode_waiting` encodes all that wait, and moves
    them from `waiting` to `features`. The caller says when, and calls it once more at the end.

    Attributes:
        comparisons: those that were added.
        features: float32 [width], by the key of an image.
        waiting: images that are not encoded yet, by key.
    """

    def __init__(self, network: Network, batch_runner: BatchRunner) -> None:
        self._network = network
        self._batch_runner = batch_runner
        self.comparisons: list[Comparison] = []
        self.features: dict[str, Floats] = {}
        self.waiting: dict[str, Image.Image] = {}

    def add(self, comparison: Comparison, images: Sequence[Image.Image]) -> None:
        """Let the images of a comparison wait, unless they were encoded before."""
        self.comparisons.append(comparison)
        for image_key, image in zip(comparison.image_keys, images, strict=True):
            if image_key not in self.features:
                self.waiting[image_key] = image

    def encode_waiting(self) -> None:
        """Encode the images that wait."""
        step = with_errors_naming_rows(self._encode, partial(row_of_image, self.comparisons))
        for image_keys, features in self._batch_runner.run(list(self.waiting), step):
            self.features.update(zip(image_keys, features, strict=True))
        self.waiting.clear()

    def _encode(self, image_keys: Sequence[str]) -> Floats:
        """The features of a batch of images, [n, width]."""
        return self._network.image_features([self.waiting[key] for key in image_keys])


class PairMatcher:
    """Matches each distinct pair of the comparisons once, and lets go of its image.

    `add` makes the pairs of a comparison wait; `match_waiting` scores all that wait, and moves them
    from `waiting` to `scores`. The caller says when, and calls it once more at the end.

    Attributes:
        comparisons: those that were added.
        scores: by pair.
        waiting: the image of each pair that is not matched yet.
    """

    def __init__(
        self, network: Matcher, image_runner: BatchRunner, pair_runner: BatchRunner
    ) -> None:
        self._network = network
        self._image_runner = image_runner
        self._pair_runner = pair_runner
        self.comparisons: list[Comparison] = []
        self.scores: dict[Pair, float] = {}
        self.waiting: dict[Pair, Image.Image] = {}

    def add(self, comparison: Comparison, images: Sequence[Image.Image]) -> None:
        """Let the pairs of a comparison wait, unless they were matched before."""
        self.comparisons.append(comparison)
        image_by_key = dict(zip(comparison.image_keys, images, strict=True))
        for pair in comparison.pairs():
            if pair not in self.scores:
                self.waiting[pair] = image_by_key[pair.image_key]

    def match_waiting(self) -> None:
        """Score the pairs that wait.

        First the network prepares a batch of images (`Matcher.look`), then it matches all pairs of
        these images, in batches of pairs. So each image is prepared once for all of its texts.
        """
        image_by_key = {pair.image_key: image for pair, image in self.waiting.items()}

        def look(image_keys: Sequence[str]) -> Mapping[str, torch.Tensor]:
            """What the model needs of a batch of images."""
            return self._network.look([image_by_key[key] for key in image_keys])

        named_look = with_errors_naming_rows(look, partial(row_of_image, self.comparisons))
        for image_keys, image_inputs in self._image_runner.run(list(image_by_key), named_look):
            self._match_pairs_of(image_keys, image_inputs)
        self.waiting.clear()

    def _match_pairs_of(
        self, image_keys: Sequence[str], image_inputs: Mapping[str, torch.Tensor]
    ) -> None:
        """Add the scores of all waiting pairs of some images to `scores`.

        Args:
            image_keys: the images.
            image_inputs: what `Matcher.look` returned for them.
        """
        pairs = [pair for pair in self.waiting if pair.image_key in image_keys]
        match = partial(self._match, image_keys, image_inputs)
        named_match = with_errors_naming_rows(match, partial(row_of_pair, self.comparisons))
        for matched_pairs, scores in self._pair_runner.run(pairs, named_match):
            self.scores.update(zip(matched_pairs, scores, strict=True))

    def _match(
        self,
        image_keys: Sequence[str],
        image_inputs: Mapping[str, torch.Tensor],
        pairs: Sequence[Pair],
    ) -> list[float]:
        """The scores of a batch of pairs, in their order.

        Args:
            image_keys: some images.
            image_inputs: what `Matcher.look` returned for them, in the order of the keys.
            pairs: pairs of these images.
        """
        image_indices = [image_keys.index(pair.image_key) for pair in pairs]
        texts = [pair.text for pair in pairs]
        return self._network.match(image_inputs, image_indices, texts)
