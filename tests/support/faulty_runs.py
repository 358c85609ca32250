"""Runs of the models of faulty_model.py: in this process, and by the command line."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
from collections.abc import Mapping, Sequence
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
        told = {name.upper(): str(value) for name, value in fault.items()}
        return {"FAULTY_LOG": str(self.log), "FIGLANG_SCORER": "off", "HF_HUB_OFFLINE": "1"} | told

    def here(
        self, task: str = TASK, cached: bool = True, fault: Mapping[str, object] | None = None, **options: Any
    ) -> dict[str, Any]:
        """Evaluate in this process; `options` are of ``demo_runs.evaluate``, `fault` as in faulty_model.py."""
        module = faulty_model.__name__
        lmms_eval.models.MODEL_REGISTRY_V2.register_manifest(faulty_model.manifest(module), overwrite=True)
        with patch.dict(os.environ, self.environment(fault or {})), self._noting():
            return demo_runs.evaluate(task, "faulty", use_cache=str(self.cache) if cached else None, **options)

    def command(
        self,
        *options: str,
        launch: tuple[str, ...] | None = None,
        largest_file: int | None = None,
        **how: Any,
    ) -> subprocess.Popen[str] | warm.Process:
        """Start ``lmms_eval`` without its imports, or by a `launch` of its own; `how` as for :meth:`_prepared`.

        Args:
            options: of the command.
            largest_file: bytes that no file that it writes may exceed.
        """
        arguments, environment = self._prepared(*options, **how)
        if not launch:
            process = warm.Process(["lmms_eval", *arguments], cwd=self.folder, env=environment)
            if largest_file:
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (largest_file, largest_file))
            return process
        return subprocess.Popen(
            [*launch, *arguments],
            env=environment,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def _prepared(
        self,
        *options: str,
        fault: Mapping[str, object] | None = None,
        more_path: Sequence[str] = (),
        task: str = TASK,
    ) -> tuple[list[str], dict[str, str]]:
        """Arguments and environment of a command; folders of `more_path` are looked into for modules first."""
        arguments = ["--tasks", task, "--model", "faulty", "--verbosity", "WARNING", *options]
        arguments += ["--use_cache", str(self.cache), "--log_samples", "--output_path", str(self.folder / "out")]
        given = [path for path in [os.environ.get("PYTHONPATH")] if path]
        path = os.pathsep.join([*more_path, faulty_model.install(self.folder / "plugin"), *given])
        own = self.environment(fault or {}) | {"PYTHONPATH": path, "FIGLANG_CACHE": "off", "ACCELERATE_USE_CPU": "true"}
        return arguments, os.environ | own

    def in_two_processes(self, launch: tuple[str, ...] | None, fault: Mapping[str, object] | None = None) -> int:
        """Run ``lmms_eval`` in two processes to their end, without their imports or by `launch`; return the status."""
        if launch:
            return self.by_command(launch=launch, fault=fault).returncode
        arguments, environment = self._prepared(fault=fault)
        with self._noting():
            ranks = warm.run_ranks(2, ["lmms_eval", *arguments], cwd=self.folder, env=environment)
        return max(abs(rank.wait()) for rank in ranks)

    def wait_for_the_fault(self, process: subprocess.Popen[str] | warm.Process) -> None:
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
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return demo_runs.metrics(found, TASK)

    def _noting(self) -> _Noting:
        return _Noting(self)


class _Noting:
    """Adds what was asked meanwhile to `asked`."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def __enter__(self) -> None:
        self._runs.log.write_text("")

    def __exit__(self, *_: object) -> None:
        self._runs.asked.append(self._runs.log.read_text().splitlines())
