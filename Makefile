# symdp_ros without colcon: `make demo`, `make test`, `make setup`.
#
# Where a ROS 2 is sourced, it is used, and the environment sees its packages. Elsewhere real
# ROS 2 is installed from wheels (DISTRO=jazzy or kilted), into an environment of its own.

DISTRO ?= jazzy
PYTHON ?= python3
DURATION ?= 30
EPSILON ?= 2.0
PROTECT ?= 5
MAP ?= config/depot.geojson
ROBOTS ?= 1
# Tests at a time. More than half of their time is waiting, so this is three times the number of cores of
# a small machine.
JOBS ?= 6
MINUTES ?= 10
ROUNDS ?= 100

SOURCED := $(if $(ROS_DISTRO),$(shell $(PYTHON) -c 'import rclpy; print("yes")' 2>/dev/null))
ifeq ($(SOURCED),yes)
VENV := .venv-$(ROS_DISTRO)
VENV_OPTIONS := --system-site-packages
EXTRAS := test,plot
INSTALLED := the packages of Python that it needs
else
VENV := $(if $(filter jazzy,$(DISTRO)),.venv,.venv-$(DISTRO))
EXTRAS := test,plot,$(DISTRO)
INSTALLED := real ROS 2 ($(DISTRO)) and the packages of Python that it needs, 1.2 GB,
# Another environment's ROS must not leak into this one.
unexport LD_LIBRARY_PATH PYTHONPATH AMENT_PREFIX_PATH _ROS_WHEELS_BOOTSTRAP_COMPLETE
endif
export ROS_AUTOMATIC_DISCOVERY_RANGE ?= LOCALHOST
# Tests and demos start many processes: each of them would compile the same modules.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test test-thorough test-studies test-lossy test-often coverage lint fuzz \
    kill soak docs figures experiments tables gains choice visit-rule zones picture why-not optimum \
    coordination compare bench mutate clean
.DEFAULT_GOAL := help

help:
	@echo 'make demo   a simulated robot, made private, in a terminal'
	@echo '            (DURATION=30 PROTECT=5 EPSILON=2.0 MAP=config/depot.geojson ROBOTS=1)'
	@echo 'make test   what says that the privacy holds, in minutes'
	@echo 'make test-thorough'
	@echo '            the same checks on further maps, chains, settings and seeds'
	@echo 'make test-studies'
	@echo '            the tests of bench/ and studies/, which are not installed'
	@echo 'make test-lossy'
	@echo '            the tests of nodes, while many messages of discovery are lost'
	@echo 'make test-often'
	@echo '            the tests that start processes, many times on a busy machine (N=30)'
	@echo 'make coverage'
	@echo '            every test, and which lines and branches they reach, in all processes'
	@echo 'make lint   style, types and licence headers alone'
	@echo 'make docs   the pages and the API as a site, in build/site; a broken link is an error'
	@echo 'make fuzz   the fuzzers for as long as one likes (MINUTES=10)'
	@echo 'make kill   the kill tests as often as one likes (ROUNDS=100)'
	@echo 'make soak   the nodes under load: loss, memory, processor time (MINUTES=10)'
	@echo 'make figures'
	@echo '            put what the last of these three printed into docs/evidence/long-runs.md'
	@echo 'make setup  the environment $(VENV) alone (DISTRO=jazzy, kilted)'
	@echo 'make experiments, make tables, make gains, make zones, make picture, make why-not'
	@echo '            the numbers and figures of docs/'
	@echo 'make optimum'
	@echo '            how far we are from what no mechanism can beat (a quarter of an hour)'
	@echo 'make coordination'
	@echo '            what a team loses by private regions (QUICK=1: in two minutes, into build/)'
	@echo 'make compare'
	@echo '            other mechanisms beside ours (QUICK=1: in two minutes, into build/)'
	@echo 'make bench  every goal of speed, measured side by side (QUICK=1: in a minute)'
	@echo 'make mutate what the tests do not notice when an operator or a constant is changed'
	@echo '            (MODULES="core/privacy release/ledger": of these alone)'
	@echo 'make clean  remove the environment'

# Without PEP 517, a pip that sees setuptools runs `setup.py develop`, and that puts the commands where
# colcon wants them (setup.cfg), not into $(VENV)/bin.
INSTALL = $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --use-pep517 -e

setup: $(VENV)/.done

# Loops in C are built with it.
$(VENV)/.done: setup.py symdp_ros/__init__.py $(shell find symdp_ros -name '*.[ch]')
	@echo 'Once: installs $(INSTALLED) into $(VENV): 1 to 3 minutes …'
	@$(PYTHON) -m venv $(VENV_OPTIONS) $(VENV)
	@$(INSTALL) '.[$(EXTRAS)]'
	@touch $@

demo: setup
	@$(VENV)/bin/symdp demo '$(MAP)' --epsilon '$(EPSILON)' --protect '$(PROTECT)' \
	    --duration '$(DURATION)' --robots '$(ROBOTS)' $(DEMO_OPTIONS)

test: setup
	$(VENV)/bin/python -m pytest -n $(JOBS) --maxschedchunk 8 -m "not linter and not thorough" $(TEST_OPTIONS)

test-thorough: setup
	$(VENV)/bin/python -m pytest -n $(JOBS) --maxschedchunk 8 -m thorough $(TEST_OPTIONS)

test-studies: setup
	$(VENV)/bin/python -m pytest -n $(JOBS) bench studies $(TEST_OPTIONS)

# Many messages by which processes find each other are lost, and sent again (test/ros/lossy.xml).
test-lossy: setup
	SYMDP_TEST_LOSSY=1 $(VENV)/bin/python -m pytest -n 8 -m "not thorough" test/ros $(TEST_OPTIONS)

# As many busy loops as processors, and two suites at once.
N ?= 30
test-often: setup
	$(VENV)/bin/python test/often.py $(N) $(TEST_OPTIONS)

# A process that a test kills leaves a cut file, which is left out.
COVERAGE = $(VENV)/bin/python -m coverage
coverage: setup
	rm -rf build/coverage && mkdir -p build/coverage
	-$(COVERAGE) run -m pytest -n $(JOBS) --maxschedchunk 8 -m "not linter" $(TEST_OPTIONS)
	-$(COVERAGE) combine --quiet
	$(COVERAGE) report
	@for part in core/ ledger/ words/ ''; do echo "symdp_ros/$$part:" \
	    "$$($(COVERAGE) report --format=total --precision=1 --include="symdp_ros/$$part*") %"; done

lint: setup
	$(VENV)/bin/python -m pytest test/package/test_lint.py $(TEST_OPTIONS)

docs: $(VENV)/.docs
	$(VENV)/bin/python -m sphinx -q -W --keep-going -d build/doctrees docs build/site
	@echo 'build/site/index.html'

$(VENV)/.docs: $(VENV)/.done
	$(INSTALL) '.[$(EXTRAS),docs]'
	touch $@

# The tests of each file share the time, and append what they tried to a table in Markdown.
FUZZERS = $(sort $(wildcard test/*/test_fuzz_*.py))
KILLS = $(sort $(wildcard test/*/test_kill*.py))
SOAKS = $(sort $(wildcard test/*/test_soak*.py))
FIGURES = build/figures.md
LONG_RUN = mkdir -p build && printf '| test | tried | result |\n|---|---|---|\n' > $(FIGURES); \
    export SYMDP_FIGURES=$(CURDIR)/$(FIGURES); $(VENV)/bin/python -m pytest
PRINT_FIGURES = status=$$?; cat $(FIGURES); exit $$status

fuzz: setup
	tests=$$($(VENV)/bin/python -m pytest --collect-only -q $(FUZZERS) $(TEST_OPTIONS) | grep -c ::); \
	export SYMDP_FUZZ_SECONDS=$$((60 * $(MINUTES) * $(JOBS) / tests)); \
	$(LONG_RUN) -n $(JOBS) --dist worksteal $(FUZZERS) $(TEST_OPTIONS); $(PRINT_FIGURES)

kill: setup
	export SYMDP_KILL_ROUNDS=$(ROUNDS); \
	$(LONG_RUN) -n $(JOBS) --dist worksteal $(KILLS) $(TEST_OPTIONS); $(PRINT_FIGURES)

soak: setup
	export SYMDP_SOAK_SECONDS=$$((60 * $(MINUTES))); \
	$(LONG_RUN) $(SOAKS) $(TEST_OPTIONS); $(PRINT_FIGURES)

figures: setup
	$(VENV)/bin/python test/core/long_runs.py docs/evidence/long-runs.md $(FIGURES)

experiments: setup
	$(VENV)/bin/python -m studies.paper docs/evidence/experiments

tables: setup
	$(VENV)/bin/python -m studies.tables docs/evidence/tables.md

picture: setup
	$(VENV)/bin/python -m studies.picture docs

why-not: setup
	$(VENV)/bin/python -m studies.why_not docs/why-not.md

zones: setup
	$(VENV)/bin/python -m studies.zones docs/zones.md

choice: setup
	$(VENV)/bin/python -m studies.choice docs/evidence/choice.md

visit-rule: setup
	$(VENV)/bin/python -m studies.visit_rule docs/evidence/visit-rule.md

gains: setup
	$(VENV)/bin/python -m studies.gains docs/evidence/gains.md

# It reads comparison.json: after `make compare`.
optimum: setup
	$(VENV)/bin/python -m studies.optimum docs/evidence/optimum.md

coordination: setup
	$(VENV)/bin/python -m studies.coordination $(if $(QUICK),--quick build,docs/evidence)

compare: setup
	$(VENV)/bin/python -m studies.compare $(if $(QUICK),--quick build,docs/evidence) $(COMPARE_OPTIONS)

bench: $(VENV)/.bench
	$(VENV)/bin/python -m bench $(if $(QUICK),--quick) $(BENCH_OPTIONS)

# With what it is measured against; where that cannot be installed, the rows say so.
$(VENV)/.bench: $(VENV)/.done
	$(INSTALL) '.[$(EXTRAS),bench]' && touch $@ || true

mutate: setup
	nice $(VENV)/bin/python -m mutation $(MODULES) $(MUTATE_OPTIONS)

clean:
	rm -rf $(VENV)
