# Epistle. CONTRIBUTING.md describes the targets; `make` alone builds build/epistle.
MAKEFLAGS += --no-builtin-rules --no-print-directory
SHELL := /bin/bash

prefix ?= /usr/local
bindir ?= $(prefix)/bin
datadir ?= $(prefix)/share
mandir ?= $(datadir)/man
PYTHON ?= /usr/bin/python3
B ?= build

CC ?= gcc
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes \
	-Wwrite-strings -Wpointer-arith -Wcast-qual -Wundef -Wformat=2 -Wno-format-nonliteral
# _FORTIFY_SOURCE wants optimisation and quarrels with the sanitizers: `make asan` empties FORTIFY.
FORTIFY ?= -D_FORTIFY_SOURCE=3
HARDENING := $(FORTIFY) -fstack-protector-strong -fstack-clash-protection -fPIE
OPT ?= -O2 -g
CFLAGS_ALL = -std=c17 -D_GNU_SOURCE -I. $(OPT) $(WARNINGS) $(HARDENING) $(CFLAGS)
LDFLAGS_ALL = -pie -Wl,-z,relro,-z,now,-z,noexecstack $(LDFLAGS)
# Plain -letpan: pkg-config's answer for libetpan makes a program that is not position-independent.
LIBS := -letpan -lcurl -lsystemd -lsqlite3 -lsodium -licui18n -licuuc -lcmark -linih -lseccomp -ljansson

CORE_SRC := $(wildcard core/*/*.c)
DAEMON_SRC := $(filter-out daemon/main.c,$(wildcard daemon/*.c daemon/*/*.c))
CORE_OBJ := $(CORE_SRC:%.c=$(B)/obj/%.o)
DAEMON_OBJ := $(DAEMON_SRC:%.c=$(B)/obj/%.o)
MAN := $(wildcard docs/*.[1578])

.PHONY: all
all: $(B)/epistle

link = $(CC) $(LDFLAGS_ALL) $(OPT) $(CFLAGS) -o $@

$(B)/epistle: $(B)/obj/daemon/main.o $(B)/libdaemon.a $(B)/libcore.a
	$(link) $^ $(LIBS)

$(B)/libcore.a: $(CORE_OBJ)
	rm -f $@ && ar rcs $@ $^
$(B)/libdaemon.a: $(DAEMON_OBJ)
	rm -f $@ && ar rcs $@ $^

$(B)/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<
$(B)/obj/daemon/verbs/first_configuration.o: config/epistle.conf.example

# ---- what must be installed ----

.PHONY: deps test-deps
deps:
	tools/deps.sh build
test-deps: deps
	tools/deps.sh test
# `make deps demo` and `make test-deps test` install before they compile, with -j too.
INSTALLING := $(filter deps test-deps,$(MAKECMDGOALS))
ifneq ($(INSTALLING),)
$(CORE_OBJ) $(DAEMON_OBJ) $(B)/obj/daemon/main.o: | $(INSTALLING)
endif

.PHONY: demo
demo: all
	$(B)/epistle demo

# ---- tests ----

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(B)/tests/%)
CRASH_BIN := $(patsubst tests/crash/%.c,$(B)/tests/%,$(wildcard tests/crash/*.c))
CHESS_BIN := $(patsubst tests/chess/%.c,$(B)/tests/%,$(wildcard tests/chess/*.c))
SIMULATE_SRC := $(filter-out tests/simulate/test_%.c,$(wildcard tests/simulate/*.c))
SIMULATE_BIN := $(patsubst tests/simulate/%.c,$(B)/tests/%,$(wildcard tests/simulate/test_power.c tests/simulate/simulate.c))
TEST_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(wildcard tests/*/*.c))
.SECONDARY: $(TEST_OBJ)
ifneq ($(INSTALLING),)
$(TEST_OBJ): | $(INSTALLING)
endif

# Tests named test_core_* link core and libc alone, as core promises.
$(B)/tests/test_core_%: $(B)/obj/tests/unit/test_core_%.o $(B)/libcore.a
	@mkdir -p $(@D)
	$(link) $^ -lcmocka
$(B)/tests/test_%: $(B)/obj/tests/unit/test_%.o $(B)/libdaemon.a $(B)/libcore.a
	@mkdir -p $(@D)
	$(link) $^ $(LIBS) -lcmocka
$(CRASH_BIN): $(B)/tests/%: $(B)/obj/tests/crash/%.o $(B)/libdaemon.a $(B)/libcore.a
	@mkdir -p $(@D)
	$(link) $^ $(LIBS)
# Programs that prove the chess from outside: core and libc alone.
$(CHESS_BIN): $(B)/tests/%: $(B)/obj/tests/chess/%.o $(B)/libcore.a
	@mkdir -p $(@D)
	$(link) $^
$(B)/tests/test_power: $(B)/obj/tests/simulate/test_power.o $(B)/obj/tests/simulate/vfs_power.o
	@mkdir -p $(@D)
	$(link) $^ -lsqlite3
$(B)/tests/simulate: $(SIMULATE_SRC:%.c=$(B)/obj/%.o) $(B)/libdaemon.a $(B)/libcore.a
	@mkdir -p $(@D)
	$(link) $^ $(LIBS)

.PHONY: tests unit test
tests: all $(UNIT_BIN) $(CRASH_BIN) $(CHESS_BIN) $(SIMULATE_BIN)

unit: $(UNIT_BIN)
	@set -e; for t in $(sort $(UNIT_BIN)); do echo "== $${t##*/}"; timeout 600 $$t; done

# -p no:cacheprovider: tests leave nothing in the tree. Files of tests run side by side where pytest-xdist is installed.
JOBS ?= $(shell nproc)
parallel = $$($(PYTHON) -c 'import xdist' 2>/dev/null && echo "-n $(JOBS) --dist loadfile")
pytest = B=$(abspath $(B)) PYTHONDONTWRITEBYTECODE=1 timeout $(1) $(PYTHON) -m pytest -q -p no:cacheprovider $(parallel) $(2)
test: tests unit
	$(call pytest,3600,tests)

.PHONY: crash simulate mutants bench
crash: tests
	CRASH_ALL=1 $(call pytest,86400,tests/crash)
# SEEDS=A-B chooses others; one seed with its story: build/tests/simulate SEED
simulate: SEEDS ?= 1-5000
simulate: tests
	$(B)/tests/test_power 100
	$(B)/tests/simulate --seeds $(SEEDS)
mutants:
	$(PYTHON) tests/mutants/mutants.py
bench: all $(CHESS_BIN)
	B=$(abspath $(B)) $(PYTHON) tests/bench/bench.py

# ---- the same program, built in other ways ----

.PHONY: dev asan fuzz
dev:
	$(MAKE) B=build-dev CC=gcc CFLAGS=-Werror tests
	$(MAKE) B=build-clang CC=clang CFLAGS=-Werror tests core-run

# tests/crash traces its processes, which the leak checker cannot bear, and tests/mail/test_many.py measures memory and traces; two of the
# long games and outages in real time show nothing more here than the others do;
# they run without the sanitizers.
ASAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
asan:
	$(MAKE) B=build-asan CC=gcc FORTIFY=-U_FORTIFY_SOURCE OPT="-O1 -g" CFLAGS="$(ASAN)" asan-run
.PHONY: asan-run
asan-run: tests unit
	EPISTLE_ASAN=1 $(call pytest,3600,tests --ignore=tests/crash --ignore=tests/simulate --ignore=tests/mail/test_many.py \
		--ignore=tests/mail/test_outages.py --ignore=tests/mail/test_served_games.py)

# Which of core's branches its own tests take, with every program linked with core alone; fails below 95 of 100.
.PHONY: coverage coverage-run valgrind core-run
CORE_TESTS = $(filter $(B)/tests/test_core_%,$(UNIT_BIN))
core-run: $(CORE_TESTS)
	@set -e; for t in $(CORE_TESTS); do echo "== $${t##*/}"; $$t; done
coverage:
	$(MAKE) B=build-coverage CC=gcc FORTIFY=-U_FORTIFY_SOURCE OPT="-O0 -g" CFLAGS=--coverage coverage-run
coverage-run: $(CORE_TESTS) $(CHESS_BIN)
	find $(B) -name '*.gcda' -delete
	set -e; for t in $(CORE_TESTS); do $$t >$(B)/coverage.log 2>&1 || { cat $(B)/coverage.log; exit 1; }; done
	gcovr --root . --object-directory $(B) --filter core/ --branches --sort-percentage --fail-under-branch 95 --txt $(B)/coverage.txt \
		--html-details $(B)/coverage.html $(B)/obj/core; status=$$?; cat $(B)/coverage.txt; exit $$status
VALGRIND := valgrind -q --error-exitcode=9 --leak-check=full
valgrind:
	$(MAKE) B=build-valgrind CFLAGS=-DSLOW=1 valgrind-run
.PHONY: valgrind-run
valgrind-run: $(CORE_TESTS) $(CHESS_BIN)
	@set -e; for t in $(CORE_TESTS); do echo "== $${t##*/}"; $(VALGRIND) $$t; done
	$(VALGRIND) $(B)/tests/perft_suite --nodes-max 300 tests/data/chess/perft-own.epd
	$(VALGRIND) $(B)/tests/moves_suite tests/data/chess/moves-standard.tsv
	$(VALGRIND) $(B)/tests/moves_suite --chess960 tests/data/chess/moves-chess960.tsv

# The chess in full: ten million plies against stockfish (some 45 minutes; PLIES=, SEED= choose others), every depth of the files of node counts.
.PHONY: oracle perft notations mating
oracle: PLIES ?= 10000000
oracle: SEED ?= 960
oracle: tests
	$(B)/tests/oracle --plies $(PLIES) --seed $(SEED)
perft: tests
	PERFT_ALL=1 $(call pytest,14400,tests/chess/test_perft.py)
notations: tests
	NOTATIONS_ALL=1 $(call pytest,14400,tests/chess/test_notations.py)
mating: tests
	MATING_ALL=1 $(call pytest,86400,tests/chess/test_mating.py)

FUZZ_SECONDS ?= 60
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=$(B)/tests/%)
fuzz:
	$(MAKE) B=build-fuzz CC=clang FORTIFY=-U_FORTIFY_SOURCE OPT="-O1 -g" \
		CFLAGS="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined" fuzz-run
$(FUZZ_BIN): $(B)/tests/%: $(B)/obj/tests/fuzz/%.o $(B)/libdaemon.a $(B)/libcore.a
	@mkdir -p $(@D)
	$(link) -fsanitize=fuzzer $^ $(LIBS)
.PHONY: fuzz-run
# New inputs are kept in the build folder; what crashes is written there too and named in the output.
fuzz-run: $(FUZZ_BIN)
	@set -e; for t in $(FUZZ_BIN); do name=$${t##*/fuzz_}; seeds=tests/fuzz/corpus/$$name; \
		mkdir -p $(B)/corpus/$$name; [ -d $$seeds ] || seeds=; echo "== fuzz_$$name"; \
		$$t -max_total_time=$(FUZZ_SECONDS) -timeout=10 -artifact_prefix=$(B)/ -print_final_stats=1 $(B)/corpus/$$name $$seeds; done

# ---- rules of the house ----

.PHONY: lint
lint: $(B)/libcore.a
	B=$(B) CC=$(CC) tools/lint.sh

# ---- installing ----

# Under /usr and /usr/local alike systemd looks into lib/systemd/system, lib/sysusers.d and lib/tmpfiles.d.
libdir ?= $(prefix)/lib
unitdir ?= $(libdir)/systemd/system
TEMPLATES := $(shell find templates -type f)
ours = $(DESTDIR)$(bindir)/epistle $(DESTDIR)$(datadir)/doc/epistle/epistle.conf.example $(DESTDIR)$(datadir)/doc/epistle/own-account.md \
	$(DESTDIR)$(unitdir)/epistle.service $(DESTDIR)$(libdir)/sysusers.d/epistle.conf $(DESTDIR)$(libdir)/tmpfiles.d/epistle.conf \
	$(TEMPLATES:%=$(DESTDIR)$(datadir)/epistle/%) $(foreach page,$(MAN),$(DESTDIR)$(mandir)/man$(subst .,,$(suffix $(page)))/$(notdir $(page)))

.PHONY: install uninstall clean
install: all
	install -D -m 755 $(B)/epistle $(DESTDIR)$(bindir)/epistle
	set -e; for file in $(TEMPLATES); do install -D -m 644 $$file $(DESTDIR)$(datadir)/epistle/$$file; done
	set -e; for page in $(MAN); do install -D -m 644 $$page $(DESTDIR)$(mandir)/man$${page##*.}/$${page##*/}; done
	install -D -m 644 config/epistle.conf.example $(DESTDIR)$(datadir)/doc/epistle/epistle.conf.example
	install -D -m 644 docs/own-account.md $(DESTDIR)$(datadir)/doc/epistle/own-account.md
	install -D -m 644 config/epistle.service $(DESTDIR)$(unitdir)/epistle.service
	sed -i 's|^ExecStart=/usr/bin/|ExecStart=$(bindir)/|' $(DESTDIR)$(unitdir)/epistle.service
	install -D -m 644 config/sysusers.d/epistle.conf $(DESTDIR)$(libdir)/sysusers.d/epistle.conf
	install -D -m 644 config/tmpfiles.d/epistle.conf $(DESTDIR)$(libdir)/tmpfiles.d/epistle.conf
# Configuration, store and user stay; so does what somebody else put beside ours.
uninstall:
	rm -f $(ours)
	rmdir $(sort $(dir $(TEMPLATES:%=$(DESTDIR)$(datadir)/epistle/%))) $(DESTDIR)$(datadir)/epistle/templates $(DESTDIR)$(datadir)/epistle \
		$(DESTDIR)$(datadir)/doc/epistle 2>/dev/null || true

clean:
	rm -rf build build-*

-include $(shell find $(B) -name '*.d' 2>/dev/null)
