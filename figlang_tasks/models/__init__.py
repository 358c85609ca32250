"""Model classes for lmms-eval: the list that the entry point hands over, and questions about them.

Nothing heavy is imported at the top: lmms-eval 0.7.3 calls the entry point, and so imports this
package, whenever it is imported itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from lmms_eval.models.registry_v2 import ModelManifest

DocumentIdsByTask: TypeAlias = dict[str, set[int]]

_LLAVA_CLASS = "figlang_tasks.models.vlm.FigLangLlava"


class ModelClass(NamedTuple):
    """A model class of this package.

    Attributes:
        name: after ``--model``.
        path: of the class, with its module.
        is_chat: whether it takes chat messages; if not, it is of the harness's simple kind.
    """

    name: str
    path: str
    is_chat: bool = False


OUR_CLASSES = (
    ModelClass("figlang_vlm", "figlang_tasks.models.vlm.FigLangVLM", is_chat=True),
    ModelClass("figlang_blind", "figlang_tasks.models.vlm.FigLangBlind", is_chat=True),
    ModelClass("figlang_clip", "figlang_tasks.models.dual_encoder.FigLangCLIP"),
    ModelClass("figlang_probe", "figlang_tasks.models.probe.FigLangProbe"),
    ModelClass("figlang_openai", "figlang_tasks.models.openai_scores.FigLangOpenAI", is_chat=True),
    ModelClass("figlang_random", "figlang_tasks.models.baselines.Random"),
    ModelClass("figlang_majority", "figlang_tasks.models.baselines.Majority"),
    ModelClass("llava_hf", _LLAVA_CLASS, is_chat=True),
    ModelClass("llava", _LLAVA_CLASS, is_chat=True),
)
"""The model classes that this package adds to ``--model``.

lmms-eval 0.7.3 merges those of entry points over its own models, so that the last two replace its
classes of these names. Its `llava_hf` does not import without the package decord, and does not load
a model with its own default of ``device_map`` (an empty text, which transformers 5 refuses).
"""


def class_path(name: str) -> str | None:
    """The path of our class behind ``--model NAME``; None for a name that is not ours."""
    for model_class in OUR_CLASSES:
        if model_class.name == name:
            return model_class.path
    return None


def manifests() -> list[ModelManifest]:
    """`OUR_CLASSES` as the harness takes them from a plugin; none of them is imported."""
    from lmms_eval.models.registry_v2 import ModelManifest

    ours: list[ModelManifest] = []
    for model_class in OUR_CLASSES:
        keyword = "chat_class_path" if model_class.is_chat else "simple_class_path"
        ours.append(ModelManifest(model_class.name, **{keyword: model_class.path}))
    return ours


def only_words(name: str) -> bool:
    """Whether the class behind ``--model NAME`` is known to answer in words alone, without scores.

    That holds for lmms-eval's own classes, and for ours that replace one of them (``llava``). False
    for a name that lmms-eval does not know, such as a user's name for an object of a class of
    theirs.
    """
    from lmms_eval.models import MODEL_REGISTRY_V2

    try:
        path = MODEL_REGISTRY_V2.resolve(name).class_path
    except ValueError:
        return False
    return path.startswith(("lmms_eval.", _LLAVA_CLASS))


def scoring_class(model: object) -> type | None:
    """The class of a model that may give scores; None if it gives none (`only_words`).

    None also for a name that lmms-eval does not know.

    Args:
        model: an object of a model class, or a name after ``--model``.
    """
    from lmms_eval.models import MODEL_REGISTRY_V2

    if not isinstance(model, str):
        return type(model)
    if model not in MODEL_REGISTRY_V2.list_model_names() or only_words(model):
        return None
    model_class: type = MODEL_REGISTRY_V2.get_model_class(model)
    return model_class


def reads_text_alone(model: object, model_args: object) -> bool:
    """Whether ``--model`` with these arguments would load a model that sees no pictures.

    False where that is not known: for an object instead of a name, and for a class that has no
    method ``reads_text_alone``.

    Args:
        model: a name after ``--model``, or an object.
        model_args: the text after ``--model_args`` ("pretrained=gpt2"), or a mapping.
    """
    from lmms_eval.utils import simple_parse_args_string

    if not isinstance(model, str):
        return False
    arguments = model_args or {}
    if isinstance(arguments, str):
        arguments = simple_parse_args_string(arguments)
    # Only `FigLangVLM` has this method: it reads the checkpoint's configuration. `scoring_class` is
    # None for lmms-eval's own classes, and None does not have it either.
    class_reads_text_alone = getattr(scoring_class(model), "reads_text_alone", None)
    if class_reads_text_alone is None:
        return False
    return isinstance(arguments, Mapping) and bool(class_reads_text_alone(**arguments))


def padded_pictures(model: object, of_all_processes: bool) -> DocumentIdsByTask:
    """The numbers of the documents of which a picture was padded with white, by task.

    `FigLangVLM.padded_pictures` has them. Empty for a model class that pads no pictures.

    Args:
        model: the model that answered.
        of_all_processes: gather those of all processes; then each process must call this.
    """
    from torch import distributed

    padded: DocumentIdsByTask | None = getattr(model, "padded_pictures", None)
    if padded is None:
        return {}
    padded_by_process = [padded]
    if of_all_processes and distributed.is_initialized():
        # A place for each process; all_gather_object writes that process's documents into it.
        padded_by_process = [padded] * distributed.get_world_size()
        distributed.all_gather_object(padded_by_process, padded)
    merged: DocumentIdsByTask = {}
    for documents_by_task in padded_by_process:
        for task, documents in documents_by_task.items():
            merged.setdefault(task, set()).update(documents)
    return merged
