# Short commands for people and CI; the work is done by scripts/ and CMake (CMakePresets.json).
PREFIX ?= /usr/local
DATA ?= ../shared/data/uci
MINUTES ?= 10
COUNT ?= 500
DAYS ?= 730
CALLS ?= 10000

# On CI warnings are errors.
WERROR := $(if $(CI),ON,OFF)

.PHONY: build demo test fuzz faults soak calls bench bench-peers profile reproduce install format tidy clean help
.NOTPARALLEL:

build:  ## build the release; the command is then build/bin/accrue
	@scripts/bootstrap build
	cmake --preset release -DACCRUE_TESTS=OFF -DACCRUE_WERROR=$(WERROR)
	cmake --build --preset release

demo: build  ## make an example archive, learn sigma from its early part, verify it on the later part
	@scripts/demo

test:  ## build everything and run all tests
	@scripts/bootstrap test
	cmake --preset release -DACCRUE_TESTS=ON -DACCRUE_WERROR=$(WERROR)
	cmake --build --preset release
	ctest --preset release -j2

fuzz:  ## run all fuzz targets, MINUTES=10 in all; fails when one finds something
	@scripts/bootstrap fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz
	@scripts/fuzz $$(($(MINUTES) * 60))

faults:  ## fail every system call and allocation, kill, fill the disk, limit memory: COUNT=500 of each per command
	@scripts/bootstrap test
	cmake --preset release -DACCRUE_TESTS=ON -DACCRUE_WERROR=$(WERROR)
	cmake --build --preset release --target test_faults
	ACCRUE_FAULTS=$(COUNT) build/bin/test_faults --gtest_brief=1 --gtest_filter='-Soak.*'

soak:  ## DAYS=730 of daily update, predict and monitor with kills and full disks in between; the state must not notice
	@scripts/bootstrap test
	cmake --preset release -DACCRUE_TESTS=ON -DACCRUE_WERROR=$(WERROR)
	cmake --build --preset release --target test_faults
	ACCRUE_SOAK_DAYS=$(DAYS) build/bin/test_faults --gtest_brief=1 --gtest_filter='Soak.*'

calls:  ## CALLS=10000 fits, predictions and evaluations in one process, in C++ and in Python; fails when something grows
	@scripts/bootstrap test
	cmake --preset release -DACCRUE_TESTS=ON -DACCRUE_WERROR=$(WERROR)
	cmake --build --preset release
	ACCRUE_CALLS=$(CALLS) build/bin/test_calls --gtest_brief=1
	ACCRUE_CALLS=$(CALLS) python/tests/run.sh $(CURDIR) $(CURDIR)/build $(CURDIR)/build/python/tests/scratch -s -k leave_nothing

bench:  ## time every hot part beside its scalar reference and the machine's ceilings (FULL=1: fits of 10^6 and 10^7 rows too)
	@scripts/bootstrap bench
	cmake --preset release -DACCRUE_BENCH=ON
	cmake --build --preset release
	@bench/run.py $(if $(FULL),--full)

bench-peers:  ## accrue beside PyTorch, NGBoost, CatBoost, LightGBM, MAPIE and others (DATA=folder of the UCI sets, beside that of solar; BUDGET=seconds per fit)
	@scripts/bootstrap bench-peers
	cmake --preset release -DACCRUE_BENCH=ON
	cmake --build --preset release
	@bench/peers.py --data $(DATA) $(if $(BUDGET),--budget $(BUDGET))
	@build/peers/venv/bin/python bench/distribution_peers.py $(DATA)/..

profile: build  ## where the time of a fit goes: instructions by function, counted by callgrind
	@scripts/bootstrap bench
	@scripts/profile

reproduce: build  ## compute the paper's figures and Table 1 again (DATA=folder of the UCI sets; RUNS=3 for a short one)
	build/bin/accrue reproduce all $(if $(RUNS),--runs $(RUNS)) --data $(DATA) -o reproduce

install: build  ## install headers, library, command and CMake package under PREFIX
	cmake --install build --prefix $(PREFIX)

format:  ## format all C++ files in place
	@scripts/bootstrap test
	@scripts/format

tidy:  ## clang-tidy over the library and the command
	@scripts/bootstrap tidy
	cmake --preset tidy
	cmake --build --preset tidy

clean:  ## remove what the presets and the demo made
	cmake -E rm -rf build build-dev build-asan build-tsan build-fuzz build-tidy demo reproduce

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 20
