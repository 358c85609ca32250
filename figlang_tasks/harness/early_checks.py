"""Checks of a command line before anything large is imported: what is known within a second.

A check is a function of a `Command` that returns its faults; `CHECKS` lists them. You are told all
faults at once. Nothing here imports the harness, torch or datasets, and nothing asks the hub. The
checks of `figlang_tasks.harness.preflight` come later, see more, and also serve ``lmms-eval`` and
the Python API.
"""

from __future__ import annotations

import argparse
import difflib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from figlang_tasks import models
from figlang_tasks.core import hub, redaction, task_files
from figlang_tasks.core.benchmark import benchmarks, of_dataset, parse_request, source_of
from figlang_tasks.core.errors import DataError, FigLangError
from figlang_tasks.core.needed_files import missing_files
from figlang_tasks.core.request import Request
from figlang_tasks.core.task_files import ALL_TASKS
from figlang_tasks.core.text import did_you_mean, listing
from figlang_tasks.harness import command_checks, installed
from figlang_tasks.harness.command_line import LISTS, Command, read_commands
from figlang_tasks.harness.faults import Fault, raise_faults
from figlang_tasks.models import arguments as model_arguments
from figlang_tasks.models.signatures import Signature, read_signature

_MOST_FILES = 4
"""How many missing files a message names."""


def check_command_line(arguments: Sequence[str]) -> None:
    """Check the arguments of ``lmms_eval`` for an evaluation.

    Raises:
        FigLangError: something is wrong; its message has all faults.
        SystemExit: an option has no value, or one of a wrong type.
    """
    faults: list[Fault] = []
    for command in read_commands(arguments):
        redaction.remember(command.options.model_args)
        if command.options.tasks in LISTS:
            continue
        for check in CHECKS:
            faults += check(command)
    raise_faults(faults)


def check_options(options: argparse.Namespace) -> None:
    """Check the options of an evaluation that a caller in Python asks for, as the command does.

    Which model classes there are is left to the harness, which the caller has imported.

    Raises:
        FigLangError: something is wrong; its message has all faults.
    """
    command = Command(options)
    faults: list[Fault] = []
    for check in CHECKS:
        if check is not check_model and options.tasks not in LISTS:
            faults += check(command)
    raise_faults(faults)


# --- tasks ---


def check_task_names(command: Command) -> Iterator[Fault]:
    """Faults if no task is named, a benchmark, or a name that is almost that of a task of ours.

    No task of the harness has such a name. Whether other names exist, only the harness knows.
    """
    if not command.options.tasks:
        yield Fault("name a task with --tasks NAME (`figlang tasks '*'` lists ours)")
    if command.has_own_tasks:
        return
    our_tasks = task_files.files("lmms_eval")
    for name in command.task_names:
        # The harness also takes patterns, and the paths of task files.
        if name in our_tasks or "*" in name or Path(name).exists():
            continue
        if name in benchmarks():
            yield Fault(f"{name} is a benchmark, no task: `figlang tasks {name}` lists its tasks")
        elif difflib.get_close_matches(name, our_tasks, cutoff=0.8):
            yield Fault(f"no task {name!r}{did_you_mean(name, our_tasks)}. {ALL_TASKS}")


def check_task_files(command: Command) -> Iterator[Fault]:
    """Faults in the user's task files, and folders of ``--include_path`` that do not exist.

    The harness reads every task file of such a folder, also those that are not selected.
    """
    for folder in command.include_folders:
        if not os.path.isdir(folder):
            yield Fault(f"--include_path {folder}: there is no such folder")
    for file in command.user_task_files:
        try:
            task_files.read(file.resolve())
        except task_files.NoTaskFile:
            continue  # The harness may read it.
        except FigLangError as error:
            yield Fault(str(error))


def check_data(command: Command) -> Iterator[Fault]:
    """Faults of our tasks whose data is not on this machine, where no hub could have it."""
    if command.sets_environment:
        return
    tasks_by_request: dict[Request, list[str]] = {}
    for config in command.our_tasks:
        try:
            _, request = parse_request(config.get("dataset_name"))
            hub.check_without_hub(source_of(request.dataset))
            tasks_by_request.setdefault(request, []).append(config["task"])
        except DataError as error:
            yield Fault(str(error), (config["task"],), is_of_data=True)
    yield from _faults_of_folders(tasks_by_request)


def _faults_of_folders(tasks_by_request: Mapping[Request, Sequence[str]]) -> Iterator[Fault]:
    """A fault for each dataset whose folder in ``FIGLANG_DATA_DIR`` lacks files of some tasks."""
    datasets = dict.fromkeys(request.dataset for request in tasks_by_request)
    for dataset in datasets:
        source = source_of(dataset)
        folder = hub.local_folder(source)
        if folder is None:
            continue
        requests = [request for request in tasks_by_request if request.dataset == dataset]
        files: dict[str, None] = {}  # each once, in the order of the tasks
        tasks: list[str] = []
        for request, missing in missing_files(source, folder, requests).items():
            if missing:
                files.update(dict.fromkeys(missing))
                tasks += tasks_by_request[request]
        if files:
            remedy = f"`figlang data check {of_dataset(dataset).name}` says more"
            message = f"{folder} has no {listing(files, _MOST_FILES)}: {remedy}"
            yield Fault(message, tuple(tasks), is_of_data=True)


# --- the model ---


def check_model(command: Command) -> Iterator[Fault]:
    """A fault if no model class is named, or one that no package has."""
    if command.model is None:
        yield Fault(
            "name a model class with --model NAME (`lmms_eval models` lists those of lmms-eval;"
            " docs/models.md has ours)"
        )
        return
    names = installed.model_names()
    names.update(model_class.name for model_class in models.OUR_CLASSES)
    message = command_checks.model_fault(command.model, names)
    # Only their code knows which classes other packages add.
    may_be_of_others = installed.has_other_plugins() or os.environ.get("LMMS_EVAL_PLUGINS")
    if message and not may_be_of_others:
        yield Fault(message)


def check_model_arguments(command: Command) -> Iterator[Fault]:
    """A fault if ``--model_args`` has arguments that our class does not take."""
    class_path = models.class_path(command.model or "")
    if class_path is None or command.model_args is None:
        return
    signature = read_signature(class_path)
    unknown = _unknown_arguments(command.model_args, signature)
    if unknown:
        names = list(signature.defaults)
        yield Fault(model_arguments.unknown_message(str(command.model), unknown, names))


def _unknown_arguments(arguments: Mapping[str, object], signature: Signature) -> list[str]:
    """The arguments that a class does not take, as far as that is known before it loads a model.

    With a checkpoint, it may take any option of the checkpoint's image processor. Then only
    arguments are unknown that are almost one of the class itself.
    """
    known_names = {*signature.defaults, *model_arguments.HARNESS_ARGUMENTS}
    may_be_of_pictures = signature.takes_image_options and bool(arguments.get("pretrained"))
    unknown: list[str] = []
    for name in arguments:
        if name in known_names:
            continue
        is_near_miss = bool(difflib.get_close_matches(name, known_names, cutoff=0.8))
        if is_near_miss or not may_be_of_pictures:
            unknown.append(name)
    return unknown


def check_model_source(command: Command) -> Iterator[Fault]:
    """Faults if what a model is loaded from is missing: its checkpoint, its probe, or its key.

    Of classes that are not ours, only ``pretrained`` is known, and not whether they need it.
    """
    arguments = command.model_args
    if command.model is None or arguments is None:
        return
    class_path = models.class_path(command.model)
    defaults: Mapping[str, object] = {}
    if class_path is not None:
        signature = read_signature(class_path)
        if _unknown_arguments(arguments, signature):
            return  # One of them may be the misspelt name of what is missing.
        defaults = signature.defaults
    try:
        if class_path is None:
            model_arguments.require_checkpoint_of_others(command.model, arguments.get("pretrained"))
        elif "pretrained" in defaults:
            checkpoint = arguments.get("pretrained", defaults["pretrained"])
            model_arguments.require_checkpoint(command.model, checkpoint)
        if "probe" in defaults:
            model_arguments.require_probe(arguments.get("probe"))
        if command.model == "figlang_openai" and not _may_have_other_keys(command):
            model_arguments.require_api_key(arguments)
    except FigLangError as error:
        yield Fault(str(error))


def _may_have_other_keys(command: Command) -> bool:
    """Whether variables may be set later on: by a configuration, or by the harness.

    lmms-eval 0.7.3 reads the first file ``.env`` in a folder above its class.
    """
    if command.sets_environment:
        return True
    return any((folder / ".env").exists() for folder in [*installed.folder().parents])


# --- other options ---


def check_pairs(command: Command) -> Iterator[Fault]:
    """Faults if ``--model_args`` or ``--gen_kwargs`` are not pairs of a name and a value."""
    yield from command_checks.check_pairs(command.evaluation)


def check_rows(command: Command) -> Iterator[Fault]:
    """Faults if ``--limit`` or ``--offset`` cannot be numbers of rows."""
    messages = [
        command_checks.limit_fault(command.options.limit),
        command_checks.offset_fault(command.options.offset),
    ]
    for message in messages:
        if message:
            yield Fault(message)


def check_num_fewshot(command: Command) -> Iterator[Fault]:
    """A fault if ``--num_fewshot`` is given for tasks of ours."""
    if command.our_tasks:
        yield from command_checks.check_num_fewshot(command.evaluation)


def check_output(command: Command) -> Iterator[Fault]:
    """A fault if samples are wanted without a folder for them, or if it cannot be written to."""
    options = command.options
    if options.output_path:
        message = command_checks.output_text_fault(options.output_path)
        message = message or command_checks.output_path_fault(options.output_path)
        if message:
            yield Fault(message)
    elif options.log_samples or options.predict_only:
        yield Fault("--log_samples and --predict_only need --output_path FOLDER")


Check = Callable[[Command], Iterable[Fault]]

CHECKS: tuple[Check, ...] = (
    check_task_names,
    check_task_files,
    check_model,
    check_pairs,
    check_model_arguments,
    check_model_source,
    check_rows,
    check_num_fewshot,
    check_output,
    check_data,
)
"""All checks, in the order of their messages."""
