"""``--use_cache`` knows which commit a name at the hub stands for (over real HTTP)."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import warm
from hub_server import Fault, HubServer, Response
from huggingface_hub import constants, hf_hub_download
from safetensors.torch import load_file, save_file

from figlang_tasks import FigLangError
from figlang_tasks.core import hub
from figlang_tasks.harness import identity
from figlang_tasks.harness.identity import model_key, require_loaded
from figlang_tasks.mini import DEMO_MODEL_DIR
from figlang_tasks.models.baselines import Random

MODEL = "org/model"
ADAPTER = "org/lora.adapter"
OTHER = "another-org/processor"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A hub with three repositories, which this process asks from now on; its cache is empty."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    hub.clear_caches()
    with HubServer() as running:
        monkeypatch.setattr(constants, "ENDPOINT", running.url)
        addresses = f"{running.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", addresses)
        for name in (MODEL, ADAPTER, OTHER):
            publish(running, tmp_path, name, "first")
        yield running
    hub.clear_caches()


def commits_of_hub_ids(model: str, model_args: Any) -> dict[str, str]:
    return identity.commits_of(identity.find_checkpoints(model, model_args))


def publish(server: HubServer, tmp_path: Path, name: str, weights: str) -> str:
    """Add a commit to a repository."""
    folder = tmp_path / "repository" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"weights": weights}))
    return server.add_repo(name, folder, repo_type="model")


def download(name: str, revision: str = "main") -> str:
    """Put a file of a repository into the cache; return the commit."""
    return Path(hf_hub_download(name, "config.json", revision=revision)).parent.name


def test_each_argument_that_names_a_repository_is_looked_up(
    server: HubServer, tmp_path: Path
) -> None:
    model = publish(server, tmp_path, MODEL, "a")
    adapter = publish(server, tmp_path, ADAPTER, "b")
    arguments: dict[str, Any] = {
        "pretrained": MODEL,
        "peft": ADAPTER,
        "processor": OTHER,
        "draft": {"model": MODEL},
    }
    commits = commits_of_hub_ids("figlang_vlm", arguments)
    assert commits.pop("processor").startswith(f"{OTHER}@")
    assert commits == {
        "pretrained": f"{MODEL}@{model}",
        "peft": f"{ADAPTER}@{adapter}",
        "draft.model": f"{MODEL}@{model}",
    }
    as_text = f"pretrained={MODEL},peft={ADAPTER},speculative_config={json.dumps({'model': OTHER})}"
    assert commits_of_hub_ids("figlang_vlm", as_text).keys() == {
        "pretrained",
        "peft",
        "speculative_config.model",
    }
    assert commits_of_hub_ids("figlang_clip", f"pretrained={MODEL}") == {
        "pretrained": f"{MODEL}@{model}"
    }


@pytest.mark.parametrize("argument", ["pretrained", "peft", "processor", "tokenizer", "weights"])
def test_the_key_changes_when_the_repository_does(
    argument: str, server: HubServer, tmp_path: Path
) -> None:
    arguments = f"{argument}={MODEL}"
    keys: list[str] = []
    for weights in ("a", "a", "b"):
        publish(server, tmp_path, MODEL, weights)
        commits = commits_of_hub_ids("figlang_vlm", arguments)
        keys.append(model_key("figlang_vlm", arguments, commits))
    assert keys[0] == keys[1] != keys[2]


def test_a_revision_that_does_not_move(server: HubServer, tmp_path: Path) -> None:
    first = publish(server, tmp_path, MODEL, "a")
    newest = publish(server, tmp_path, MODEL, "b")
    requests_before = len(server.requests)
    for revision, commit in ((first, first), ("main", newest), (newest, newest)):
        commits = commits_of_hub_ids("figlang_clip", f"pretrained={MODEL},revision={revision}")
        assert commits == {"pretrained": f"{MODEL}@{commit}"}
    assert len(server.requests) == requests_before + 2, "a commit is not asked for"
    for name, key in (("tokenizer", "tokenizer_revision"), ("peft", "peft_revision")):
        commits = commits_of_hub_ids("figlang_clip", {name: MODEL, key: first, "revision": newest})
        assert commits == {name: f"{MODEL}@{first}"}
    with pytest.raises(FigLangError, match=f"{MODEL} has no revision v9: see http"):
        commits_of_hub_ids("figlang_clip", f"pretrained={MODEL},revision=v9")


@pytest.mark.parametrize("outage", ["offline", "stopped", "broken"])
def test_without_a_hub_the_commit_in_the_cache(
    outage: str, server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = publish(server, tmp_path, MODEL, "a")
    assert download(MODEL) == first
    publish(server, tmp_path, MODEL, "b")
    if outage == "offline":
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    elif outage == "stopped":
        server.stop()
    else:
        server.faults.append(Fault("/api/", lambda _: Response(503)))
    hub.clear_caches()
    assert commits_of_hub_ids("figlang_clip", f"pretrained={MODEL}") == {
        "pretrained": f"{MODEL}@{first}"
    }
    assert commits_of_hub_ids("figlang_clip", {"processor": OTHER}) == {}
    for name in ("pretrained", "peft"):
        with pytest.raises(
            FigLangError,
            match=f"^figlang_tasks: {OTHER}@main is not on this machine.*local folder$",
        ):
            commits_of_hub_ids("figlang_vlm", {name: OTHER})


def test_a_gated_repository_is_loaded_from_the_cache_by_who_has_no_access(
    server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gated"
    folder.mkdir()
    commits = []
    for weights in ("old", "new"):
        (folder / "config.json").write_text(weights)
        commits.append(
            server.add_repo(
                "org/gated", folder, repo_type="model", gated=True, granted_tokens={"hf_good"}
            )
        )
        if weights == "old":
            hf_hub_download("org/gated", "config.json", token="hf_good")
    assert commits_of_hub_ids("figlang_vlm", "pretrained=org/gated") == {
        "pretrained": f"org/gated@{commits[0]}"
    }
    monkeypatch.setenv("HF_TOKEN", "hf_good")
    hub.clear_caches()
    assert commits_of_hub_ids("figlang_vlm", "pretrained=org/gated") == {
        "pretrained": f"org/gated@{commits[1]}"
    }


@pytest.mark.parametrize("moved", [False, True])
def test_another_commit_is_loaded_than_the_hub_named_before(
    moved: bool, server: HubServer, tmp_path: Path
) -> None:
    """`moved`: the hub got a new one meanwhile. Otherwise transformers takes the cache's, because
    the hub does not answer again.
    """
    lm = Random()
    old = publish(server, tmp_path, MODEL, "old")
    download(MODEL)
    named_by_hub = publish(server, tmp_path, MODEL, "new")
    checkpoints = identity.find_checkpoints("figlang_clip", f"pretrained={MODEL}")
    loaded = old
    if moved:
        loaded = publish(server, tmp_path, MODEL, "newest")
        assert download(MODEL) == loaded
    with pytest.raises(
        FigLangError,
        match=f"{MODEL} was loaded at commit {loaded}, but .* named {named_by_hub}. Run the same",
    ):
        require_loaded(lm, checkpoints)
    if not moved:
        # A class of others may have a cache of its own.
        require_loaded(object(), checkpoints)
    checkpoints = identity.find_checkpoints("figlang_clip", f"pretrained={MODEL}")
    download(MODEL)
    require_loaded(lm, checkpoints)
    require_loaded(lm, {})


@pytest.mark.parametrize(
    ("model", "arguments"),
    [
        ("figlang_openai", f"model={MODEL},base_url=http://localhost:1,api_key=none"),
        ("openai", f"model_version={MODEL}"),
        ("async_openai", f"model={MODEL},pretrained={MODEL}"),
        ("litellm", f"model={MODEL}"),
        ("figlang_random", ""),
        ("figlang_probe", "probe=org/results"),
        ("figlang_vlm", "dtype=float32,device=cpu,attn_implementation=sdpa,device_map=auto"),
        ("figlang_vlm", "hf_token=org/model,token=org/model,api_secret=org/model"),
    ],
)
def test_what_is_no_id_of_the_hub(model: str, arguments: str, server: HubServer) -> None:
    requests_before = len(server.requests)
    assert commits_of_hub_ids(model, arguments) == {}
    has_form_of_id = "probe" in arguments  # the hub is asked for nothing else
    assert has_form_of_id or len(server.requests) == requests_before


def test_a_folder_is_not_looked_up(
    server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / MODEL).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert commits_of_hub_ids("figlang_vlm", f"pretrained={MODEL}") == {}
    assert commits_of_hub_ids("figlang_vlm", "pretrained=~/model,peft=./org/model") == {}


def test_ids_in_lists_and_with_a_prefix(server: HubServer, tmp_path: Path) -> None:
    commit = publish(server, tmp_path, MODEL, "a")
    for adapters in ([MODEL, "no id!"], json.dumps([MODEL])):
        assert commits_of_hub_ids("figlang_vlm", {"adapters": adapters}) == {
            "adapters.0": f"{MODEL}@{commit}"
        }
    assert commits_of_hub_ids("figlang_vlm", {"encoder": f"hf-hub:{MODEL}"}) == {
        "encoder": f"{MODEL}@{commit}"
    }


def test_a_class_of_others_without_a_hub(
    server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have a cache of its own, and names that are no ids of the hub."""
    commit = publish(server, tmp_path, MODEL, "a")
    hf_hub_download(MODEL, "config.json", cache_dir=tmp_path / "own")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    hub.clear_caches()
    arguments = {"pretrained": MODEL, "cache_dir": str(tmp_path / "own")}
    assert commits_of_hub_ids("internvl", arguments) == {"pretrained": f"{MODEL}@{commit}"}
    assert commits_of_hub_ids("internvl", {"pretrained": "ViT-B/32"}) == {}


def test_a_default_of_the_class_is_looked_up(server: HubServer, tmp_path: Path) -> None:
    """lmms-eval's qwen2_vl loads Qwen/Qwen2-VL-7B-Instruct where no checkpoint is named."""
    default = "Qwen/Qwen2-VL-7B-Instruct"
    commit = publish(server, tmp_path, default, "a")
    assert commits_of_hub_ids("qwen2_vl", "")["pretrained"] == f"{default}@{commit}"
    assert commits_of_hub_ids("qwen2_vl", f"pretrained={MODEL}")["pretrained"].startswith(
        f"{MODEL}@"
    )


def test_another_version_of_a_package_is_another_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Versions are those of the installations that Python finds first."""
    keys = [model_key("figlang_vlm", "")]
    for package in ("transformers", "lmms_eval", "figlang_tasks", "torch"):
        info = tmp_path / package / f"{package}-99.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 99.0\n")
        with monkeypatch.context() as patched:
            patched.syspath_prepend(str(tmp_path / package))
            keys.append(model_key("figlang_vlm", ""))
    assert len(set(keys)) == 4 and keys[0] == keys[4], "torch's decides no answer"


TWO_PROCESSES = """
import sys
from torch import distributed
from figlang_tasks import FigLangError
from figlang_tasks.harness.identity import Checkpoint, in_agreement

distributed.init_process_group("gloo")
rank = distributed.get_rank()

def find():
    if sys.argv[1] == "fails":
        raise FigLangError(f"rank {rank} has no hub")
    return {"pretrained": Checkpoint("org/model", "main", f"{rank}" * 40, None)}

try:
    print(in_agreement(find)["pretrained"].commit)
except FigLangError as error:
    print(error)
distributed.destroy_process_group()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hub_state", "printed"), [("answers", "0" * 40), ("fails", "rank 0 has no hub")]
)
def test_two_processes_agree_on_what_the_first_finds(
    hub_state: str, printed: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", TWO_PROCESSES, hub_state]
    ranks = warm.run_ranks(2, command, env=os.environ, cwd=tmp_path)
    assert [rank.communicate()[0].strip() for rank in ranks] == [printed, printed]


@pytest.mark.slow
def test_answers_of_other_weights_are_not_given(tmp_path: Path) -> None:
    """Results name the hub's newest commit; offline the one that was downloaded last."""
    repository = tmp_path / "repository"
    shutil.copytree(DEMO_MODEL_DIR, repository)
    with HubServer() as server:
        first = server.add_repo("org/demo", repository, repo_type="model")
        assert run_with_cache(server, tmp_path) == (2, f"org/demo@{first}")
        stored, commit = run_with_cache(server, tmp_path)
        assert (stored, commit) == (2, f"org/demo@{first}"), "both answers were stored before"
        (weights,) = repository.glob("*.safetensors")
        changed_weights: dict[str, torch.Tensor] = {}
        for name, weight in load_file(weights).items():
            changed_weights[name] = weight + 0.1 * torch.ones_like(weight)
        save_file(changed_weights, weights, metadata={"format": "pt"})
        second = server.add_repo("org/demo", repository, repo_type="model")
        assert run_with_cache(server, tmp_path) == (4, f"org/demo@{second}")
        assert run_with_cache(server, tmp_path, offline=True) == (4, f"org/demo@{second}")
        without_a_cache = warm.run(
            COMMAND, cwd=tmp_path, env=server.env(home=tmp_path / "new", offline=True)
        )
    assert without_a_cache.returncode == 1
    last_line = without_a_cache.stderr.strip().splitlines()[-1]
    assert last_line.startswith(
        "figlang_tasks: org/demo@main is not on this machine, and HF_HUB_OFFLINE is set."
    )
    assert "Traceback" not in without_a_cache.stderr


COMMAND = ["lmms_eval", "--tasks", "figlang_mini", "--limit", "2", "--model", "figlang_vlm"]
COMMAND += ["--model_args", "pretrained=org/demo,device=cpu", "--gen_kwargs", "max_new_tokens=4"]
COMMAND += ["--use_cache", "answers", "--output_path", "out"]


def run_with_cache(server: HubServer, folder: Path, offline: bool = False) -> tuple[int, str]:
    """Run the command; return how many answers are stored then, and the commit in the results."""
    env = server.env(home=folder, offline=offline) | {"FIGLANG_SCORER": "off"}
    done = warm.run(COMMAND, cwd=folder, env=env)
    assert done.returncode == 0, done.stderr[-3000:]
    with sqlite3.connect(folder / "answers" / "figlang_0.db") as database:
        (stored,) = database.execute("SELECT count(*) FROM answers").fetchone()
    (path,) = (folder / "out").rglob("*_results.json")
    commit = json.loads(path.read_text(encoding="utf-8"))["config"]["commits"]["pretrained"]
    shutil.rmtree(folder / "out")
    return stored, commit
