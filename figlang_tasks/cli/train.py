"""``figlang train``: the systems that papers trained on their own benchmark."""

from __future__ import annotations

from figlang_tasks.cli import own_commands

app = own_commands.of_functions("trainer", "train")


@app.callback()
def train() -> None:
    """Train the system that a paper trained on its own benchmark, and test it.

    It writes a folder, which runs as a model: lmms_eval --model figlang_probe --model_args probe=FOLDER.

    \b
    figlang train irfl --encoder openai/clip-vit-base-patch32 --seeds 5 --output probe
    """
