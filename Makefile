# Epistle. The targets are described in CONTRIBUTING.md; `make` alone builds build/epistle.
MAKEFLAGS += --no-builtin-rules
SHELL := /bin/bash

prefix ?= /usr/local
sysconfdir ?= /etc
PYTHON ?= /usr/bin/python3
B ?= build

CC ?= gcc
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes \
	-Wwrite-strings -Wpointer-arith -Wcast-qual -Wundef -Wformat=2 -Wno-format-nonliteral
HARDENING := -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection -fPIE
OPT ?= -O2 -g
CFLAGS_ALL := -std=c17 -D_GNU_SOURCE -I. $(OPT) $(WARNINGS) $(HARDENING) $(CFLAGS)
LDFLAGS_ALL := -pie -Wl,-z,relro,-z,now,-z,noexecstack $(LDFLAGS)
ICU_LIBS := -licui18n -licuuc
LIBS := -letpan -lsqlite3 -lsodium $(ICU_LIBS) -lcmark -linih -lseccomp -ljansson

CORE_SRC := $(wildcard core/*/*.c)
DAEMON_SRC := $(filter-out daemon/main.c,$(wildcard daemon/*.c daemon/*/*.c))
CORE_OBJ := $(CORE_SRC:%.c=$(B)/%.o)
DAEMON_OBJ := $(DAEMON_SRC:%.c=$(B)/%.o)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(B)/tests/%)

.PHONY: all
all: $(B)/epistle

$(B)/epistle: $(B)/daemon/main.o $(B)/libdaemon.a $(B)/libcore.a
	$(CC) $(LDFLAGS_ALL) $(OPT) $(CFLAGS) -o $@ $^ $(LIBS)

$(B)/libcore.a: $(CORE_OBJ)
	rm -f $@ && ar rcs $@ $^
$(B)/libdaemon.a: $(DAEMON_OBJ)
	rm -f $@ && ar rcs $@ $^

$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# Tests named test_core_* link core and libc alone, as core promises.
$(B)/tests/test_core_%: $(B)/tests/unit/test_core_%.o $(B)/libcore.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) $(OPT) $(CFLAGS) -o $@ $^ -lcmocka
$(B)/tests/test_%: $(B)/tests/unit/test_%.o $(B)/libdaemon.a $(B)/libcore.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) $(OPT) $(CFLAGS) -o $@ $^ $(LIBS) -lcmocka

.PHONY: unit
unit: $(UNIT_BIN)
	@set -e; for t in $(UNIT_BIN); do echo "== $$t"; $$t; done

.PHONY: clean
clean:
	rm -rf build

-include $(shell find $(B) -name '*.d' 2>/dev/null)
