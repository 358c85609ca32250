"""A local stand-in for the Hugging Face hub: serves folders as repositories over real HTTP.

It speaks the read endpoints that `huggingface_hub`, `datasets` and `transformers` call, with the
hub's status codes and headers, so that the real libraries run against it without a network.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote, urlsplit

from typing_extensions import Self

# Kinds of file that the hub keeps in LFS whatever their size.
LFS_SUFFIXES = {
    ".arrow",
    ".bin",
    ".gz",
    ".jpeg",
    ".jpg",
    ".npy",
    ".parquet",
    ".png",
    ".pt",
    ".safetensors",
    ".zip",
}
# What follows a repository id in an API path; also how ids of one segment ("gpt2") are told apart.
API_ACTIONS = {"auth-check", "revision", "tree"}
FOREIGN = re.compile(
    r"(HF|HUGGING_?FACE\w*|TRANSFORMERS)_.*|(https?|all|no)_proxy|XDG_CACHE_HOME", re.IGNORECASE
)


class RepoFile:
    """A file of a repository, with the id that git or LFS gives it."""

    def __init__(self, path: Path) -> None:
        self.content, self.in_lfs = path.read_bytes(), path.suffix in LFS_SUFFIXES
        self.size = len(self.content)
        as_git = hashlib.sha1(b"blob %d\0" % self.size + self.content)
        self.etag = (hashlib.sha256(self.content) if self.in_lfs else as_git).hexdigest()


@dataclass
class Repo:
    """A repository: its commits (each the files by path), the newest, and who may read it."""

    repo_id: str
    gated: bool
    commits: dict[str, dict[str, RepoFile]] = field(default_factory=dict)
    newest: str = ""
    granted_tokens: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Request:
    """What the answer depends on."""

    path: str
    token: str | None


@dataclass(frozen=True)
class Response:
    """An answer; `sent` gives its body in pieces."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    sent: Callable[[bytes], Iterable[bytes]] = lambda body: [body]


Spoil = Callable[[Response], Response]


@dataclass
class Fault:
    """What happens to the first `times` requests that ask for `part` of a path."""

    part: str
    spoil: Spoil
    times: int = 1_000_000

    def hits(self, request: Request) -> bool:
        if self.times <= 0 or self.part not in request.path:
            return False
        self.times -= 1
        return True


class HubError(Exception):
    """An error answer in the hub's form: status, `X-Error-Code` and `X-Error-Message`."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        headers = {"Content-Type": "application/json", "X-Error-Message": message}
        headers |= {"X-Error-Code": code} if code else {}
        self.response = Response(status, headers, json.dumps({"error": message}).encode())


class HubServer:
    """Serves repositories on 127.0.0.1, and spoils answers by the first of `faults` that hits; a
    context manager.
    """

    def __init__(self, *faults: Fault) -> None:
        self.faults = list(faults)
        self.requests: list[Request] = []
        self._repos: dict[tuple[str, str], Repo] = {}
        self._known_tokens: set[str] = set()
        self._lfs: dict[str, RepoFile] = {}
        self._server = QuietServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": self}))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop serving; the log and `env` stay usable."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def add_repo(
        self,
        repo_id: str,
        folder: Path,
        *,
        repo_type: str = "dataset",
        commit: str | None = None,
        gated: bool = False,
        granted_tokens: Collection[str] = (),
        known_tokens: Collection[str] = (),
    ) -> str:
        """Serve `folder` as `repo_id` and return the commit; adding a repository again adds a
        commit to it.

        `known_tokens` belong to users without access to this repository, `granted_tokens` to users
        with access; the hub answers 401 to any other token.
        """
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        files = {path.relative_to(folder).as_posix(): RepoFile(path) for path in paths}
        names = "\n".join(f"{name} {file.etag}" for name, file in files.items())
        repo = self._repos.setdefault((repo_type, repo_id), Repo(repo_id, gated))
        repo.newest = commit or hashlib.sha1(names.encode()).hexdigest()
        repo.commits[repo.newest] = files
        repo.granted_tokens.update(granted_tokens)
        self._known_tokens.update(granted_tokens, known_tokens)
        self._lfs.update({file.etag: file for file in files.values() if file.in_lfs})
        return repo.newest

    def env(self, home: Path, token: str | None = None, *, offline: bool = False) -> dict[str, str]:
        """Return the environment of a process whose hub is this server and whose caches lie under
        `home`.
        """
        # Inherited settings could lead elsewhere: another cache, a logged-in user's token, a proxy.
        env = {name: value for name, value in os.environ.items() if not FOREIGN.fullmatch(name)}
        env |= {
            "HF_ENDPOINT": self.url,
            "HF_HOME": str(home / "huggingface"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "HF_HUB_OFFLINE": "1" if offline else "0",
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_UPDATE_CHECK": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "NO_PROXY": "*",
        }
        return env if token is None else env | {"HF_TOKEN": token}

    def answer(self, request: Request) -> Response:
        """Return the hub's answer to a request."""
        try:
            response = self._answer(request)
        except HubError as error:
            response = error.response
        fault = next((fault for fault in self.faults if fault.hits(request)), None)
        return fault.spoil(response) if fault else response

    def _answer(self, request: Request) -> Response:
        segments = [unquote(segment) for segment in request.path.strip("/").split("/")]
        if (
            segments[0] == "lfs" and segments[1] in self._lfs
        ):  # whoever asks: on the hub the address itself is signed
            return _content(self._lfs[segments[1]], {})
        if request.token is not None and request.token not in self._known_tokens:
            raise HubError(401, "", "Invalid credentials in Authorization header")
        if segments == ["api", "whoami-v2"]:
            access = {
                "type": "access_token",
                "accessToken": {"displayName": "test", "role": "read"},
            }
            return _json(
                {"type": "user", "name": "tester", "fullname": "Tester", "orgs": [], "auth": access}
            )
        if segments[0] == "api" and len(segments) > 2 and segments[1] in ("datasets", "models"):
            end = 3 if len(segments) == 3 or segments[3] in API_ACTIONS else 4
            repo = self._repo(segments[1][:-1], "/".join(segments[2:end]))
            return self._api(repo, segments[end:], request)
        if "resolve" in segments[1:4]:
            repo_type = "dataset" if segments[0] == "datasets" else "model"
            at = segments.index("resolve", 1)
            repo = self._repo(repo_type, "/".join(segments[repo_type == "dataset" : at]))
            return self._resolve(repo, segments[at + 1], "/".join(segments[at + 2 :]), request)
        raise HubError(404, "", "Sorry, we can't find the page you are looking for.")

    def _repo(self, repo_type: str, repo_id: str) -> Repo:
        if repo := self._repos.get((repo_type, repo_id)):
            return repo
        # The hub hides from strangers whether a repository exists and sends no code with this 401;
        # the client then takes it for RepoNotFound, but only over https. With the code it does the
        # same over http.
        raise HubError(401, "RepoNotFound", "Invalid username or password.")

    def _check_access(self, repo: Repo, request: Request) -> None:
        about = f"Access to {repo.repo_id} is restricted"
        if repo.gated and request.token is None:
            raise HubError(
                401, "GatedRepo", f"{about}. You must be authenticated to access it. Please log in."
            )
        if repo.gated and request.token not in repo.granted_tokens:
            raise HubError(403, "GatedRepo", f"{about} and you are not in the authorized list.")

    def _files(self, repo: Repo, revision: str) -> tuple[str, dict[str, RepoFile]]:
        commit = repo.newest if revision == "main" else revision
        if commit not in repo.commits:
            raise HubError(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return commit, repo.commits[commit]

    def _api(self, repo: Repo, action: list[str], request: Request) -> Response:
        """Endpoints under `/api/{datasets|models}/{id}`. As on the hub, gating leaves the metadata
        public.
        """
        if action == ["auth-check"]:
            self._check_access(repo, request)
            return _json({})
        commit, files = self._files(repo, action[1] if action else "main")
        if action[:1] != ["tree"]:
            siblings = [{"rfilename": name} for name in files]
            about = {
                "id": repo.repo_id,
                "sha": commit,
                "private": False,
                "tags": [],
                "siblings": siblings,
            }
            return _json(about | {"gated": "auto" if repo.gated else False})
        if action[
            2:
        ]:  # of a folder; the clients ask for one that only checkpoints with several templates have
            raise HubError(404, "EntryNotFound", "Entry not found")
        tree = (
            {"type": "file", "oid": file.etag, "size": file.size, "path": name}
            for name, file in files.items()
        )
        return _json(list(tree))

    def _resolve(self, repo: Repo, revision: str, path: str, request: Request) -> Response:
        commit, files = self._files(repo, revision)
        # The card of a gated repository is public: people must read it before they ask for access.
        if path != "README.md":
            self._check_access(repo, request)
        if path not in files:
            raise HubError(404, "EntryNotFound", "Entry not found")
        file, headers = files[path], {"X-Repo-Commit": commit}
        if not file.in_lfs:
            return _content(file, headers)
        headers |= {
            "X-Linked-Etag": f'"{file.etag}"',
            "X-Linked-Size": str(file.size),
            "ETag": '"of-the-redirect"',
        }
        # The content of LFS files comes from another host, as on the hub.
        elsewhere = self.url.replace("127.0.0.1", "localhost")
        return Response(302, headers | {"Location": f"{elsewhere}/lfs/{file.etag}"})


class QuietServer(ThreadingHTTPServer):
    """A server that a client may leave in the middle of an answer.

    Its thread would print the broken connection into what another test captures.
    """

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the error in flight, unless it is a broken connection."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """By HTTP/1.0, so that no connection outlives its request."""

    hub: HubServer

    def do_GET(self) -> None:
        token = self.headers.get("Authorization", "").partition("Bearer ")[2].strip() or None
        request = Request(urlsplit(self.path).path, token)
        response = self.hub.answer(request)
        self.hub.requests.append(request)
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        for piece in response.sent(response.body) if self.command != "HEAD" else ():
            self.wfile.write(piece)

    do_HEAD = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """The request log takes the place of lines on standard error."""


def _content(file: RepoFile, headers: dict[str, str]) -> Response:
    return Response(200, headers | {"ETag": f'"{file.etag}"'}, file.content)


def ask_the_hub_at_once() -> None:
    """Let the hub's client ask in vain as often as it does, for 23 seconds a time, without its
    pauses.
    """
    from huggingface_hub.utils import _http

    pause = time.sleep
    _http.time = SimpleNamespace(
        **vars(time) | {"sleep": lambda seconds: pause(min(seconds, 0.05))}
    )  # type: ignore[assignment]


def _json(content: Any) -> Response:
    return Response(200, {"Content-Type": "application/json"}, json.dumps(content).encode())
