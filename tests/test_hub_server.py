"""The stand-in hub, used by the real libraries in processes of their own."""

from __future__ import annotations

import hashlib
import http.client
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
import warm
from hub_server import HubServer
from vflute_hub import REPO_ID, REVISION, synthetic_rows, write_vflute_repo

ROWS = {"train": 6, "validation": 3, "test": 5}
MODEL = "org/model"


def run(code: str, env: dict[str, str]) -> Any:
    """Run code in a process of its own and return what it prints as its last line, read as JSON."""
    done = warm.run([sys.executable, "-c", code], cwd=Path(env["HF_HOME"]).parent, env=env, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def dataset_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dataset")
    write_vflute_repo(folder, {split: synthetic_rows(split, count) for split, count in ROWS.items()}, image_size=16)
    return folder


@pytest.fixture(scope="module")
def newer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("newer")
    write_vflute_repo(folder, {"test": synthetic_rows("test", 9)}, image_size=16)
    return folder


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    (folder / "config.json").write_text('{"model_type": "test"}\n')
    (folder / "model.safetensors").write_bytes(random.Random(0).randbytes(300_000))
    (folder / "sub" / "deeper").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "deeper/ü c.txt"):
        (folder / "sub" / name).write_text(name)
    return folder


@pytest.fixture
def hub(dataset_folder: Path, model_folder: Path) -> Iterator[HubServer]:
    with HubServer(page_size=2) as server:
        server.add_repo(
            REPO_ID,
            dataset_folder,
            commit=REVISION,
            gated=True,
            granted_tokens={"hf_good"},
            known_tokens={"hf_other"},
        )
        server.add_repo("org/open", dataset_folder)
        server.add_repo(MODEL, model_folder, repo_type="model")
        yield server


LOAD = f"""
import json
import datasets
data = datasets.load_dataset({REPO_ID!r}, split="test", revision={REVISION!r})
print(json.dumps({{
    "rows": data.num_rows,
    "features": {{name: repr(feature) for name, feature in data.features.items()}},
    "image": [type(data[0]["image"]).__name__, data[0]["image"].size],
    "claims": data["claim"][:],
}}))
"""


def test_dataset_loads_by_name_at_the_pinned_revision_and_offline_from_the_cache(
    hub: HubServer, dataset_folder: Path, newer_folder: Path, tmp_path: Path
) -> None:
    hub.add_repo(REPO_ID, newer_folder, gated=True)
    loaded = run(LOAD, hub.env(tmp_path, "hf_good"))
    assert loaded["rows"] == ROWS["test"]
    assert loaded["claims"] == [row.claim for row in synthetic_rows("test", ROWS["test"])]
    assert list(loaded["features"]) == ["image", "claim", "label", "explanation", "phenomenon", "source_dataset"]
    assert loaded["image"] == ["PngImageFile", [16, 16]]

    on_hub = [request for request in hub.requests if request.host == "hub"]
    assert all(REVISION in request.path and request.has_token for request in on_hub)
    on_cdn = [request for request in hub.requests if request.host == "cdn"]
    assert on_cdn and not any(request.has_token for request in on_cdn), "a token must not leave the hub"

    cached = tmp_path / "huggingface" / "hub" / "datasets--ColumbiaNLP--V-FLUTE"
    parquet = cached / "snapshots" / REVISION / "data" / "test-00000-of-00001.parquet"
    content = (dataset_folder / "data" / parquet.name).read_bytes()
    assert parquet.read_bytes() == content
    assert parquet.resolve().name == hashlib.sha256(content).hexdigest(), "LFS files are kept by their sha256"
    assert (cached / ".no_exist" / REVISION / "dataset_infos.json").exists()

    hub.stop()
    assert run(LOAD, hub.env(tmp_path, offline=True)) == loaded


def test_datasets_gives_another_revision_from_its_cache_when_offline(hub: HubServer, tmp_path: Path) -> None:
    """Why a caller that pins a revision cannot leave the check of it to `datasets`."""
    load = LOAD.replace(REPO_ID, "org/open")
    loaded = run(load.replace(REVISION, "main"), hub.env(tmp_path))
    hub.stop()
    assert run(load.replace(REVISION, "0" * 40), hub.env(tmp_path, offline=True)) == loaded


@pytest.mark.parametrize(
    ("token", "repo_id", "revision", "kind", "message"),
    [
        (None, REPO_ID, REVISION, "DatasetNotFoundError", "is a gated dataset on the Hub. You must be authenticated"),
        (
            "hf_other",
            REPO_ID,
            REVISION,
            "DatasetNotFoundError",
            f"Visit the dataset page at .*{REPO_ID} to ask for access",
        ),
        (
            "hf_bad",
            REPO_ID,
            REVISION,
            "HfHubHTTPError",
            "401 .*Unauthorized.*Invalid credentials in Authorization header",
        ),
        (
            None,
            "org/none",
            REVISION,
            "DatasetNotFoundError",
            "'org/none' doesn't exist on the Hub or cannot be accessed",
        ),
        ("hf_good", "org/none", REVISION, "DatasetNotFoundError", "'org/none' doesn't exist on the Hub or cannot be"),
        ("hf_good", REPO_ID, "0" * 40, "DatasetNotFoundError", "Revision '0{40}' doesn't exist for dataset"),
    ],
    ids=["no-token", "no-access", "bad-token", "no-repo-anonymous", "no-repo", "no-revision"],
)
def test_refusals_reach_the_user_of_datasets(
    hub: HubServer, tmp_path: Path, token: str | None, repo_id: str, revision: str, kind: str, message: str
) -> None:
    code = """
import datasets, json
try:
    datasets.load_dataset({!r}, split="test", revision={!r})
except Exception as error:
    print(json.dumps([type(error).__name__, str(error)]))
"""
    raised, text = run(code.format(repo_id, revision), hub.env(tmp_path, token))
    assert raised == kind
    assert re.search(message, text, re.DOTALL), text


def test_gated_repository_shows_its_card_and_listing_but_no_file(hub: HubServer, tmp_path: Path) -> None:
    code = f"""
import json
from huggingface_hub import HfApi, hf_hub_download
api, out = HfApi(), {{}}
out["info"] = [api.dataset_info({REPO_ID!r}, token=False).gated, api.dataset_info({REPO_ID!r}, token=False).sha]
out["card"] = hf_hub_download({REPO_ID!r}, "README.md", repo_type="dataset", token=False)
for token in (False, "hf_other", "hf_bad", "hf_good"):
    attempts = {{
        "check": lambda: api.auth_check({REPO_ID!r}, repo_type="dataset", token=token),
        "file": lambda: hf_hub_download({REPO_ID!r}, ".gitattributes", repo_type="dataset", token=token),
    }}
    for name, attempt in attempts.items():
        try:
            attempt()
            out[f"{{token}} {{name}}"] = "ok"
        except Exception as error:
            out[f"{{token}} {{name}}"] = [type(error).__name__, error.response.status_code, str(error).splitlines()[-1]]
out["whoami"] = api.whoami(token="hf_other")["name"]
print(json.dumps(out))
"""
    out = run(code, hub.env(tmp_path))
    log_in = "You must have access to it and be authenticated to access it. Please log in."
    ask = f"Visit https://huggingface.co/datasets/{REPO_ID} to ask for access."
    restricted = f"Access to dataset {REPO_ID} is restricted"
    assert out["info"] == ["auto", REVISION]
    assert Path(out["card"]).read_text().startswith("---")
    for name in ("check", "file"):
        assert out[f"False {name}"] == ["GatedRepoError", 401, f"{restricted}. {log_in}"]
        assert out[f"hf_other {name}"] == [
            "GatedRepoError",
            403,
            f"{restricted} and you are not in the authorized list. {ask}",
        ]
        assert out[f"hf_bad {name}"] == ["HfHubHTTPError", 401, "Invalid credentials in Authorization header"]
        assert out[f"hf_good {name}"] == "ok"
    assert out["whoami"] == "tester"


def test_model_repository_is_downloaded_whole_and_by_file(hub: HubServer, model_folder: Path, tmp_path: Path) -> None:
    code = f"""
import json
from dataclasses import asdict
from huggingface_hub import HfApi, hf_hub_download, snapshot_download
out = {{"snapshot": snapshot_download({MODEL!r}), "file": hf_hub_download({MODEL!r}, "model.safetensors")}}
out["some"] = snapshot_download({MODEL!r}, allow_patterns="sub/*", cache_dir={str(tmp_path / "some")!r})
api = HfApi()
out["refs"] = [asdict(ref) for ref in api.list_repo_refs({MODEL!r}).branches]
out["paths"] = [item.path for item in api.get_paths_info({MODEL!r}, ["config.json", "sub", "absent"], expand=True)]
out["top"] = sorted(item.path for item in api.list_repo_tree({MODEL!r}))
out["sizes"] = {{item.rfilename: item.size for item in api.model_info({MODEL!r}, files_metadata=True).siblings}}
print(json.dumps(out))
"""
    out = run(code, hub.env(tmp_path))
    expected = {path.relative_to(model_folder).as_posix(): path for path in model_folder.rglob("*") if path.is_file()}
    snapshot = Path(out["snapshot"])
    got = {path.relative_to(snapshot).as_posix(): path for path in snapshot.rglob("*") if path.is_file()}
    assert {name: path.read_bytes() for name, path in got.items()} == {
        name: path.read_bytes() for name, path in expected.items()
    }
    assert out["file"] == str(snapshot / "model.safetensors")
    assert sorted(path.name for path in (Path(out["some"]) / "sub").iterdir()) == ["a.txt", "b.txt", "deeper"]
    assert not (Path(out["some"]) / "config.json").exists()

    cached = snapshot.parents[1]
    commit = snapshot.name
    assert (cached / "refs" / "main").read_text() == commit
    assert out["refs"] == [{"name": "main", "ref": "refs/heads/main", "target_commit": commit}]
    config = model_folder / "config.json"
    git_id = hashlib.sha1(b"blob %d\0" % config.stat().st_size + config.read_bytes()).hexdigest()
    assert got["config.json"].resolve().name == git_id, "small files are kept by their git id"

    assert out["paths"] == ["config.json", "sub"]
    assert out["top"] == ["config.json", "model.safetensors", "sub"]
    assert out["sizes"] == {name: path.stat().st_size for name, path in expected.items()}
    assert any("cursor=" in request.query for request in hub.requests), "a long listing comes in pages"


def test_range_requests_resume_a_download(hub: HubServer, model_folder: Path, tmp_path: Path) -> None:
    content = (model_folder / "model.safetensors").read_bytes()
    part = tmp_path / "part"
    part.write_bytes(content[:100_000])
    code = f"""
import json
from huggingface_hub import HfFileSystem, hf_hub_url
from huggingface_hub.file_download import http_get
with open({str(part)!r}, "ab") as stream:
    http_get(hf_hub_url({MODEL!r}, "model.safetensors"), stream, resume_size=100_000, expected_size=300_000)
with HfFileSystem().open("{MODEL}/model.safetensors", "rb", block_size=1000) as stream:
    stream.seek(250_000)
    print(json.dumps(stream.read(10).hex()))
"""
    assert run(code, hub.env(tmp_path)) == content[250_000:250_010].hex()
    assert part.read_bytes() == content
    ranges = [(request.range, request.status) for request in hub.requests if request.host == "cdn"]
    assert ranges[0] == ("bytes=100000-", 206)
    assert len(ranges) == 2 and ranges[1][0] and ranges[1][0].startswith("bytes=250000-") and ranges[1][1] == 206


@pytest.mark.parametrize(
    ("header", "status", "content_range", "kept"),
    [
        ("bytes=0-9", 206, "bytes 0-9/300000", slice(0, 10)),
        ("bytes=299990-400000", 206, "bytes 299990-299999/300000", slice(299_990, None)),
        ("bytes=-5", 206, "bytes 299995-299999/300000", slice(-5, None)),
        ("bytes=300000-", 416, "bytes */300000", slice(0, 0)),
        ("lines=1-2", 200, None, slice(None)),
    ],
)
def test_range_header(
    hub: HubServer, model_folder: Path, header: str, status: int, content_range: str | None, kept: slice
) -> None:
    content = (model_folder / "model.safetensors").read_bytes()
    connection = http.client.HTTPConnection(urlsplit(hub.cdn_url).netloc, timeout=600)
    path = f"/lfs/{hashlib.sha256(content).hexdigest()}"
    for method in ("HEAD", "GET"):  # over one connection: a HEAD must leave nothing behind in it
        connection.request(method, path, headers={"Range": header})
        answer = connection.getresponse()
        body = answer.read()
        assert (answer.status, answer.getheader("Content-Range")) == (status, content_range)
        assert answer.getheader("Accept-Ranges") == "bytes"
        assert answer.getheader("Content-Length") == str(len(content[kept]))
        assert body == (content[kept] if method == "GET" else b"")
    connection.close()


def test_stop_cuts_open_connections(hub: HubServer) -> None:
    connection = http.client.HTTPConnection(urlsplit(hub.url).netloc, timeout=600)
    connection.request("GET", f"/api/models/{MODEL}/refs")
    assert connection.getresponse().read()
    hub.stop()
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        connection.request("GET", f"/api/models/{MODEL}/refs")
        connection.getresponse()


def test_env_takes_nothing_from_its_surroundings(
    hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE", "https_proxy"):
        monkeypatch.setenv(name, "1")
    env = hub.env(tmp_path)
    assert not {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_DATASETS_OFFLINE", "https_proxy"} & env.keys()
    assert "TRANSFORMERS_OFFLINE" not in env and env["HF_HUB_OFFLINE"] == "0"
    assert env["HF_ENDPOINT"] == hub.url
    assert hub.env(tmp_path, "hf_good")["HF_TOKEN"] == "hf_good"


def test_runs_by_hand(model_folder: Path) -> None:
    script = Path(__file__).with_name("hub_server.py")
    command = [sys.executable, str(script), f"{model_folder}=models/{MODEL}@{REVISION}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            assert server.stdout.readline() == f"# model models/{MODEL} at {REVISION}\n"
            endpoint = server.stdout.readline().removeprefix("export HF_ENDPOINT=").strip()
            with urlopen(f"{endpoint}/{MODEL}/resolve/main/config.json", timeout=600) as answer:
                assert answer.headers["X-Repo-Commit"] == REVISION
                assert answer.read() == (model_folder / "config.json").read_bytes()
        finally:
            server.terminate()
