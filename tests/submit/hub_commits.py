"""The stand-in of the hub, with what a commit needs: it takes files, and they are there afterwards."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path
from typing import Any

from hub_server import HubError, HubServer, Request, Response, _json


class CommitServer(HubServer):
    """Takes commits to models from `writers`, tokens; pull requests from whoever has a known token.

    Attributes:
        commits: header and files (path to content) of each that was taken, and whether it was a pull request.
    """

    def __init__(self, folder: Path, writers: set[str]) -> None:
        super().__init__()
        self.commits: list[tuple[dict[str, Any], dict[str, bytes], bool]] = []
        self._folder, self._writers = folder, writers

    def add_model(self, repo_id: str, files: dict[str, str]) -> str:
        """Make a model repository with those files; return its commit."""
        return self._add(repo_id, {path: text.encode("utf-8") for path, text in files.items()})

    def content(self, repo_id: str, path: str) -> str:
        """A file of the main branch."""
        repo = self._repos["model", repo_id]
        return repo.commits[repo.branches["main"]][path].local.read_bytes().decode("utf-8")

    def answer(self, request: Request) -> Response:
        segments = request.path.strip("/").split("/")
        try:
            if request.method == "POST" and segments == ["api", "validate-yaml"]:
                return _json({"errors": [], "warnings": []})
            if request.method == "POST" and segments[:2] == ["api", "models"] and len(segments) == 6:
                repo_id = "/".join(segments[2:4])
                if request.token is None or request.token not in self._known_tokens:
                    raise HubError(401, None, f"Invalid credentials: {request.token}")
                if ("model", repo_id) not in self._repos:
                    raise HubError(404, "RepoNotFound", "Repository not found")
                if segments[4] == "preupload":
                    paths = [file["path"] for file in json.loads(request.body)["files"]]
                    shown = [{"path": path, "uploadMode": "regular", "shouldIgnore": False} for path in paths]
                    return _json({"files": shown})
                if segments[4] == "commit":
                    return self._take(repo_id, request)
        except HubError as error:
            return error.response
        return super().answer(request)

    def _take(self, repo_id: str, request: Request) -> Response:
        pull_request = request.query.get("create_pr") == ["1"]
        if request.token not in self._writers and not pull_request:
            # The real hub never repeats a token: this one does, to see that it goes no further.
            raise HubError(403, None, f"Forbidden: the token {request.token} may not write")
        items = [json.loads(line) for line in request.body.splitlines()]
        header = next(item["value"] for item in items if item["key"] == "header")
        files = {
            item["value"]["path"]: base64.b64decode(item["value"]["content"]) for item in items if item["key"] == "file"
        }
        repo = self._repos["model", repo_id]
        now = repo.branches["main"]
        if header.get("parentCommit") not in (None, now):
            raise HubError(412, None, "A commit has happened since. Please refresh and try again.")
        self.commits.append((header, files, pull_request))
        before = {path: entry.local.read_bytes() for path, entry in repo.commits[now].items()}
        commit = "0" * 40 if pull_request else self._add(repo_id, {**before, **files})
        return _json(
            {
                "success": True,
                "commitOid": commit,
                "commitUrl": f"{self.url}/{repo_id}/commit/{commit}",
                "pullRequestUrl": f"{self.url}/{repo_id}/discussions/1" if pull_request else None,
                "hookOutput": "",
            }
        )

    def _add(self, repo_id: str, files: dict[str, bytes]) -> str:
        folder = self._folder / f"{len(self._repos)}-{len(self.commits)}-{repo_id.replace('/', '-')}"
        shutil.rmtree(folder, ignore_errors=True)
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        return self.add_repo(repo_id, folder, repo_type="model", known_tokens=self._writers)
