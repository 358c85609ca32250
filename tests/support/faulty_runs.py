"""Runs of the models of faulty_model.py, in this process and by the command line."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import demo_runs
import faulty_model
import lmms_eval.models
import warm

TASK = "figlang_mini"
ROWS = 76


@dataclass
class Runs:
    """Runs with one cache of answers, below `folder`.

    `asked`: of each run, the documents that the model was asked about.
    """

    folder: Path
    asked: list[list[str]] = field(default_factory=list)

    @property
    def log(self) -> Path:
        return self.folder / "asked.log"

    @property
    def cache(self) -> Path:
        return self.folder / "answers"

    def environment(self, fault: Mapping[str, object]) -> dict[str, str]:
        variables = {"FAULTY_LOG": str(self.log), "FIGLANG_SCORER": "off", "HF_HUB_OFFLINE": "1"}
        for name, value in fault.items():
            variables[name.upper()] = str(value)
        return variables

    def here(
        self,
        task: str = TASK,
        cached: bool = True,
        fault: Mapping[str, object] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Evaluate in this process; `options` are of ``demo_runs.evaluate``, `fault` as in
        faulty_model.py.
        """
        (manifest,) = faulty_model.manifests()
        lmms_eval.models.MODEL_REGISTRY_V2.register_manifest(manifest, overwrite=True)
        with patch.dict(os.environ, self.environment(fault or {})), self._noting():
            return demo_runs.evaluate(
                task, "faulty", use_cache=str(self.cache) if cached else None, **options
            )

    def command(self, *options: str, largest_file: int | None = None, **how: Any) -> warm.Process:
        """Start ``lmms_eval``; no file that it writes may exceed `largest_file` bytes."""
        process = warm.Process(**self._prepared(*options, **how))
        if largest_file:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (largest_file, largest_file))
        return process

    def _prepared(
        self,
        *options: str,
        launch: Sequence[str] = ("lmms_eval",),
        fault: Mapping[str, object] | None = None,
        task: str = TASK,
    ) -> dict[str, Any]:
        """Command, environment and folder of a process."""
        command = [
            *launch,
            "--tasks",
            task,
            "--model",
            "faulty",
            "--verbosity",
            "WARNING",
            *options,
        ]
        command += [
            "--use_cache",
            str(self.cache),
            "--log_samples",
            "--output_path",
            str(self.folder / "out"),
        ]
        python_path = faulty_model.install(self.folder / "plugin")
        if os.environ.get("PYTHONPATH"):
            python_path += os.pathsep + os.environ["PYTHONPATH"]
        variables = {
            **os.environ,
            **self.environment(fault or {}),
            "PYTHONPATH": python_path,
            "FIGLANG_CACHE": "off",
            "ACCELERATE_USE_CPU": "true",
        }
        return {"command": command, "env": variables, "cwd": self.folder}

    def in_two_processes(
        self,
        launch: tuple[str, ...] | None,
        *options: str,
        fault: Mapping[str, object] | None = None,
    ) -> int:
        """Run ``lmms_eval`` in two processes to their end, or by `launch`; return the status."""
        if launch:
            return self.by_command(*options, launch=launch, fault=fault).returncode
        with self._noting():
            ranks = warm.run_ranks(2, **self._prepared(*options, fault=fault))
        return max(abs(rank.wait()) for rank in ranks)

    def wait_for_the_fault(self, process: warm.Process) -> None:
        """Until a model that waits does so."""
        waiting = self.log.with_suffix(".waiting")
        for _ in range(3000):
            if waiting.exists() or process.poll() is not None:
                break
            time.sleep(0.1)
        assert waiting.exists(), process.communicate()

    def by_command(self, *options: str, **how: Any) -> subprocess.CompletedProcess[str]:
        """Run ``lmms_eval`` to its end, as :meth:`command`."""
        with self._noting():
            process = self.command(*options, **how)
            out, err = process.communicate(timeout=600)
        return subprocess.CompletedProcess(process.args, process.wait(), out, err)

    def files(self, pattern: str) -> list[Path]:
        return sorted((self.folder / "out").rglob(pattern))

    def written(self) -> dict[str, Any]:
        """Metrics of the one results file, without the harness's own standard errors."""
        (path,) = self.files("*_results.json")
        results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return demo_runs.metrics(results, TASK)

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """Add what is asked meanwhile to `asked`."""
        self.log.write_text("")
        try:
            yield
        finally:
            self.asked.append(self.log.read_text().splitlines())
