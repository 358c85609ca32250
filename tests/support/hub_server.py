"""A local stand-in for the Hugging Face hub: serves folders as repositories over real HTTP.

It speaks the read endpoints that `huggingface_hub`, `datasets` and `transformers` call, with the hub's status codes and
headers, so that the real libraries can be run against it without a network::

    with HubServer() as hub:
        commit = hub.add_repo("org/name", folder, gated=True, granted_tokens={"hf_good"})
        subprocess.run([...], env=hub.env(home=tmp_path, token="hf_good"))
        assert hub.requests[0].status == 200

Both libraries read HF_ENDPOINT when they are imported: use it from a subprocess.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

# Kinds of file that the hub keeps in LFS whatever their size; anything else goes there from 10 MB on.
LFS_SUFFIXES = {".arrow", ".bin", ".gz", ".jpeg", ".jpg", ".npy", ".parquet", ".png", ".pt", ".safetensors", ".zip"}
LFS_THRESHOLD = 10_000_000
# What follows a repository id in an API path; also how ids of one segment ("gpt2") are told apart.
API_ACTIONS = {"auth-check", "commits", "discussions", "revision", "tree"}
CHUNK = 1 << 16


@dataclass(frozen=True)
class LoggedRequest:
    """One answered request. `host` is "hub", or "cdn" for the content of LFS files."""

    method: str
    path: str
    query: str
    status: int
    has_token: bool
    range: str | None
    host: str


@dataclass(frozen=True)
class RepoFile:
    """A file of a repository at one commit, with the ids that git and LFS give it."""

    path: str
    local: Path
    size: int
    oid: str
    sha256: str | None

    @property
    def etag(self) -> str:
        return self.sha256 or self.oid

    @classmethod
    def read(cls, path: str, local: Path) -> RepoFile:
        size = local.stat().st_size
        if local.suffix not in LFS_SUFFIXES and size < LFS_THRESHOLD:
            return cls(path, local, size, _git_blob_id(local.read_bytes()), None)
        digest = hashlib.sha256()
        with local.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
        sha256 = digest.hexdigest()
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n".encode()
        return cls(path, local, size, _git_blob_id(pointer), sha256)


@dataclass
class Repo:
    """A repository: its commits (each a listing of files), where its branches point, and who may read it."""

    repo_type: str
    repo_id: str
    gated: bool
    granted_tokens: set[str]
    commits: dict[str, dict[str, RepoFile]] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)

    def resolve(self, revision: str) -> str | None:
        return revision if revision in self.commits else self.branches.get(revision)


@dataclass(frozen=True)
class Request:
    """What the routing needs to know of an HTTP request."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes
    token: str | None

    def flag(self, name: str) -> bool:
        return self.query.get(name, ["false"])[0].lower() == "true"


@dataclass(frozen=True)
class Response:
    """An answer: a body in memory, or bytes `start` to `start + length` of a local file."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | Path = b""
    start: int = 0
    length: int = 0

    @property
    def content_length(self) -> int:
        return len(self.body) if isinstance(self.body, bytes) else self.length

    def chunks(self) -> Iterator[bytes]:
        if isinstance(self.body, bytes):
            yield self.body
            return
        with self.body.open("rb") as stream:
            stream.seek(self.start)
            left = self.length
            while left > 0 and (chunk := stream.read(min(CHUNK, left))):
                left -= len(chunk)
                yield chunk


class HubError(Exception):
    """An error answer in the hub's form: status, `X-Error-Code` and `X-Error-Message`."""

    def __init__(self, status: int, code: str | None, message: str, commit: str | None = None) -> None:
        super().__init__(message)
        headers = {"Content-Type": "application/json; charset=utf-8", "X-Error-Message": message}
        if code:
            headers["X-Error-Code"] = code
        if commit:
            headers["X-Repo-Commit"] = commit
        self.response = Response(status, headers, json.dumps({"error": message}).encode())


class HubServer:
    """Serves repositories on 127.0.0.1, on two ports: the hub and, as a second origin, the CDN that holds LFS files."""

    def __init__(self) -> None:
        self.requests: list[LoggedRequest] = []
        self._repos: dict[tuple[str, str], Repo] = {}
        self._known_tokens: set[str] = set()
        self._lfs: dict[str, RepoFile] = {}
        self._servers = [_Server(self, "hub"), _Server(self, "cdn")]
        self.url = self._servers[0].url
        self.cdn_url = self._servers[1].url
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> HubServer:
        for server in self._servers:
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
            thread.start()
            self._threads.append(thread)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop serving and cut what connections are still open; the log and `env` stay usable."""
        while self._threads:
            server = self._servers[len(self._threads) - 1]
            server.shutdown()
            server.server_close()
            self._threads.pop().join()

    def add_repo(
        self,
        repo_id: str,
        folder: str | os.PathLike[str],
        *,
        repo_type: str = "dataset",
        commit: str | None = None,
        gated: bool = False,
        granted_tokens: Collection[str] = (),
        known_tokens: Collection[str] = (),
        branch: str = "main",
    ) -> str:
        """Serve `folder` as `repo_id` and return the commit.

        `known_tokens` belong to users without access to this repository, `granted_tokens` to users with access; the hub
        answers 401 to any other token. Adding a repository again adds a commit to it and moves `branch` there: give
        each commit a folder of its own, and do not change a folder while it is served.
        """
        if repo_type not in ("dataset", "model"):
            raise ValueError(f"repo_type must be 'dataset' or 'model', not {repo_type!r}")
        root = Path(folder)
        local_files = sorted(path for path in root.rglob("*") if path.is_file())
        files = {path.relative_to(root).as_posix(): path for path in local_files}
        listing = {name: RepoFile.read(name, path) for name, path in files.items()}
        commit = commit or _sha1("\n".join(f"{name} {entry.etag}" for name, entry in listing.items()).encode())
        if not re.fullmatch("[0-9a-f]{40}", commit):
            raise ValueError(f"not a full commit: {commit!r}")
        repo = self._repos.setdefault((repo_type, repo_id), Repo(repo_type, repo_id, gated, set()))
        repo.gated = gated
        repo.granted_tokens.update(granted_tokens)
        repo.commits[commit] = listing
        repo.branches[branch] = commit
        self._known_tokens.update(granted_tokens, known_tokens)
        self._lfs.update({entry.sha256: entry for entry in listing.values() if entry.sha256})
        return commit

    def env(self, home: str | os.PathLike[str], token: str | None = None, *, offline: bool = False) -> dict[str, str]:
        """Environment for a subprocess whose hub is this server and whose caches lie under `home`."""
        # Inherited settings could lead elsewhere: another cache, a logged-in user's token, a proxy.
        foreign = re.compile(
            r"(HF|HUGGING_?FACE\w*|TRANSFORMERS)_.*|(https?|all|no)_proxy|XDG_CACHE_HOME", re.IGNORECASE
        )
        env = {name: value for name, value in os.environ.items() if not foreign.fullmatch(name)}
        cache = Path(home) / "huggingface"
        env |= {
            "HF_ENDPOINT": self.url,
            "HF_HOME": str(cache),
            "HF_HUB_CACHE": str(cache / "hub"),
            "HF_DATASETS_CACHE": str(cache / "datasets"),
            "HF_XET_CACHE": str(cache / "xet"),
            "HF_MODULES_CACHE": str(cache / "modules"),
            "XDG_CACHE_HOME": str(Path(home) / "cache"),
            "HF_HUB_OFFLINE": "1" if offline else "0",
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_UPDATE_CHECK": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "DO_NOT_TRACK": "1",
            "NO_PROXY": "*",
        }
        if token is not None:
            env["HF_TOKEN"] = token
        return env

    def answer(self, request: Request) -> Response:
        """The hub's answer to a request."""
        try:
            if request.token is not None and request.token not in self._known_tokens:
                raise HubError(401, None, "Invalid credentials in Authorization header")
            segments = [unquote(segment) for segment in request.path.strip("/").split("/")]
            if segments == ["api", "whoami-v2"]:
                return self._whoami(request)
            if segments[0] == "api" and len(segments) > 2 and segments[1] in ("datasets", "models"):
                id_length = 1 if len(segments) == 3 or segments[3] in API_ACTIONS else 2
                end = 2 + id_length
                repo = self._repo(segments[1][:-1], "/".join(segments[2:end]), request)
                return self._api(repo, segments[end:], request)
            if "resolve" in segments[1:4]:
                repo_type = "dataset" if segments[0] == "datasets" else "model"
                if repo_type == "dataset":
                    segments = segments[1:]
                at = segments.index("resolve", 1)
                repo = self._repo(repo_type, "/".join(segments[:at]), request)
                if len(segments) > at + 2:
                    return self._resolve(repo, segments[at + 1], "/".join(segments[at + 2 :]), request)
            raise HubError(404, None, "Sorry, we can't find the page you are looking for.")
        except HubError as error:
            return error.response

    def answer_cdn(self, request: Request) -> Response:
        """The CDN's answer: the content of an LFS file, whoever asks (on the hub the address itself is signed)."""
        entry = self._lfs.get(request.path.rpartition("/")[2])
        return _content(entry, request, {}) if entry else Response(403)

    def _repo(self, repo_type: str, repo_id: str, request: Request) -> Repo:
        repo = self._repos.get((repo_type, repo_id))
        if repo is not None:
            return repo
        if request.token is None:
            # The hub hides from strangers whether a repository exists and sends no code with this 401; the client then
            # takes it for RepoNotFound, but only over https. With the code it does the same over http.
            raise HubError(401, "RepoNotFound", "Invalid username or password.")
        raise HubError(404, "RepoNotFound", "Repository not found")

    def _check_access(self, repo: Repo, request: Request) -> None:
        if not repo.gated or request.token in repo.granted_tokens:
            return
        about = f"Access to {repo.repo_type} {repo.repo_id} is restricted"
        if request.token is None:
            text = f"{about}. You must have access to it and be authenticated to access it. Please log in."
            raise HubError(401, "GatedRepo", text)
        page = f"https://huggingface.co/{'datasets/' if repo.repo_type == 'dataset' else ''}{repo.repo_id}"
        text = f"{about} and you are not in the authorized list. Visit {page} to ask for access."
        raise HubError(403, "GatedRepo", text)

    def _commit(self, repo: Repo, revision: str) -> str:
        commit = repo.resolve(revision)
        if commit is None:
            raise HubError(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return commit

    def _whoami(self, request: Request) -> Response:
        if request.token is None:
            raise HubError(401, None, "Invalid username or password.")
        access = {"displayName": "test", "role": "read"}
        auth = {"type": "access_token", "accessToken": access}
        return _json({"type": "user", "name": "tester", "fullname": "Tester", "orgs": [], "auth": auth})

    def _api(self, repo: Repo, action: list[str], request: Request) -> Response:
        """Endpoints under `/api/{datasets|models}/{id}`. As on the hub, gating leaves the metadata public."""
        match action:
            case []:
                return _json(_repo_info(repo, self._commit(repo, "main")))
            case ["revision", revision]:
                return _json(_repo_info(repo, self._commit(repo, revision)))
            case ["tree", revision, *path]:
                return self._tree(repo, self._commit(repo, revision), "/".join(path), request)
            case ["auth-check"]:
                self._check_access(repo, request)
                return _json({})
        raise HubError(404, None, "Not Found")

    def _tree(self, repo: Repo, commit: str, path: str, request: Request) -> Response:
        items = _tree_items(repo, commit, path, request.flag("recursive"))
        if path and not items:
            raise HubError(404, "EntryNotFound", f"{path} does not exist on {commit!r}", commit)
        return _json(items)

    def _resolve(self, repo: Repo, revision: str, path: str, request: Request) -> Response:
        commit = self._commit(repo, revision)
        # The card of a gated repository is public: people must read it before they ask for access.
        if path != "README.md":
            self._check_access(repo, request)
        entry = repo.commits[commit].get(path)
        if entry is None:
            raise HubError(404, "EntryNotFound", "Entry not found", commit)
        headers = {"X-Repo-Commit": commit}
        if entry.sha256 is None:
            return _content(entry, request, headers)
        location = f"{self.cdn_url}/lfs/{entry.sha256}"
        headers |= {"Location": location, "X-Linked-Etag": f'"{entry.sha256}"', "X-Linked-Size": str(entry.size)}
        text = f"Found. Redirecting to {location}".encode()
        return Response(302, {**headers, "ETag": f'"{_sha1(text)}"', "Content-Type": "text/plain"}, text)


class _Server(ThreadingHTTPServer):
    """One listening port; keeps its open connections, so that stopping it also ends those a client holds alive."""

    def __init__(self, hub: HubServer, role: str) -> None:
        self.hub = hub
        self.role = role
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that hang up; show any other error."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        super().server_close()
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body are separate writes: without this each answer waits for a delayed acknowledgement.
    disable_nagle_algorithm = True
    server: _Server

    def _handle(self) -> None:
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        headers = {name.lower(): value for name, value in self.headers.items()}
        known = token.strip() if scheme.lower() == "bearer" else None
        request = Request(self.command, url.path, parse_qs(url.query), headers, body, known)
        hub = self.server.hub
        response = hub.answer(request) if self.server.role == "hub" else hub.answer_cdn(request)
        self._respond(request, url.query, response)

    do_GET = do_HEAD = do_POST = _handle

    def _respond(self, request: Request, query: str, response: Response) -> None:
        """Log and write an answer. Every byte that leaves either server passes here."""
        has_token = "authorization" in request.headers
        range_header = request.headers.get("range")
        self.server.hub.requests.append(
            LoggedRequest(
                request.method, request.path, query, response.status, has_token, range_header, self.server.role
            )
        )
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(response.content_length))
        self.end_headers()
        if request.method != "HEAD":
            for chunk in response.chunks():
                self.wfile.write(chunk)

    def log_message(self, format: str, *args: Any) -> None:
        """The request log takes the place of lines on standard error."""


def _content(entry: RepoFile, request: Request, headers: dict[str, str]) -> Response:
    """The content of a file, or the range of it that was asked for."""
    headers = headers | {
        "Accept-Ranges": "bytes",
        "Content-Type": "application/octet-stream",
        "ETag": f'"{entry.etag}"',
        "Content-Disposition": f'inline; filename="{quote(Path(entry.path).name)}"',
    }
    wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", request.headers.get("range", ""))
    if wanted is None or wanted.groups() == ("", ""):
        return Response(200, headers, entry.local, 0, entry.size)
    first, last = wanted.groups()
    start = int(first) if first else max(entry.size - int(last), 0)
    end = min(int(last) + 1, entry.size) if first and last else entry.size
    if start >= end:
        return Response(416, headers | {"Content-Range": f"bytes */{entry.size}"})
    headers["Content-Range"] = f"bytes {start}-{end - 1}/{entry.size}"
    return Response(206, headers, entry.local, start, end - start)


def _repo_info(repo: Repo, commit: str) -> dict[str, Any]:
    siblings = [{"rfilename": entry.path} for entry in repo.commits[commit].values()]
    gated = "auto" if repo.gated else False
    return {"id": repo.repo_id, "sha": commit, "private": False, "gated": gated, "tags": [], "siblings": siblings}


def _tree_items(repo: Repo, commit: str, path: str, recursive: bool) -> list[dict[str, Any]]:
    """Files and folders below `path`, or only its direct children, in the form of the tree endpoint."""
    prefix = f"{path}/" if path else ""
    items: dict[str, dict[str, Any]] = {}
    for name, entry in repo.commits[commit].items():
        if not name.startswith(prefix):
            continue
        below = name[len(prefix) :].split("/")
        for depth in range(1, len(below)):
            folder = prefix + "/".join(below[:depth])
            items.setdefault(folder, {"type": "directory", "oid": _sha1(folder.encode()), "size": 0, "path": folder})
        item: dict[str, Any] = {"type": "file", "oid": entry.oid, "size": entry.size, "path": name}
        if entry.sha256:
            item["lfs"] = {"oid": entry.sha256, "size": entry.size, "pointerSize": 134}
        items[name] = item
    return [item for item in items.values() if recursive or "/" not in item["path"][len(prefix) :]]


def ask_the_hub_at_once() -> None:
    """Let the hub's client ask in vain as often as it does, for 23 seconds a time, without its pauses."""
    from huggingface_hub.utils import _http

    pause = time.sleep
    _http.time = SimpleNamespace(**vars(time) | {"sleep": lambda seconds: pause(min(seconds, 0.05))})  # type: ignore[assignment]


def _json(content: Any) -> Response:
    body = json.dumps(content).encode()
    return Response(200, {"Content-Type": "application/json; charset=utf-8"}, body)


def _sha1(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


def _git_blob_id(content: bytes) -> str:
    return _sha1(b"blob %d\0" % len(content) + content)
