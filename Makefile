# Makefile - builds librondo and the rondo program, and runs every check.
#
#   make                 the library and the program, in build/
#   make test            fetch what is missing, build everything, run all tests
#   make test T=loop     only files of tests with "loop" in their name; if there are none, all tests with it
#   make test SAN=address,undefined    the same under sanitizers (also SAN=thread)
#   make test FAST=1     built quickly: little optimisation, in build/fast
#   make torture         kill the program at every write and 10,000 times in all (KILLS=N);
#                        100,000 short runs by 16 processes on one store (RUNS=N); and more
#   make test-llama      model agents against llama-server, which is built once (minutes) and kept
#   make demo            build, then run the main job
#   make bench           measure; bench-check compares with bench/targets.json,
#                        bench-peers measures other engines and packages beside this one
#   make bench-compare BASE=commit    is a headline figure worse than it was at that commit?
#   make lint            layers, file openings, banned calls, ARCHITECTURE.md
#   make exports         the shared library exports what rondo.h declares, no more
#   make coverage-ids    docs/coverage.md against tests/ids.txt and the tests
#   make mutate          break the code on purpose; the tests have to notice
#   make valgrind        all examples under valgrind, no leak allowed
#   make docs/rondo.schema.json    the JSON Schema of workflow files, from the tables
#   make install         PREFIX=/usr/local DESTDIR= are honoured; uninstall undoes it
#   make clean           remove build/
#
# WERROR=1 turns warnings into errors, V=1 shows the commands.

VERSION := 0.1.0
SO      := librondo.so.$(VERSION)
SONAME  := librondo.so.$(firstword $(subst ., ,$(VERSION)))
PREFIX  ?= /usr/local
DESTDIR ?=
# SQLite comes first: most of the symbols that are looked up when a program starts are its own.
PKGS    := sqlite3 libuv jansson yaml-0.1 libpcre2-8
PEERS   ?= ../shared/bench-peers

# Jobs run in parallel without being asked to, unless one of them is removing build/.
ifeq ($(MAKELEVEL)$(filter clean uninstall,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc) --no-print-directory
endif
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

# Variants.  B holds what is built, O the objects: build/ and build/obj, or for instance
# build/san-thread/ and build/san-thread/obj.
comma := ,
ifeq ($(SAN),1)
override SAN := address,undefined
endif
B := build$(if $(SAN),/san-$(subst $(comma),-,$(SAN)),$(if $(FAST),/fast))
O := $(B)/obj

LIB_SRC   := $(filter-out src/cli/%,$(wildcard src/*/*.c))
LIB_DATA  := $(patsubst %,$(O)/%.o,$(wildcard src/*/*.json))
CLI_SRC   := $(wildcard src/cli/*.c)
TEST_SRC  := $(wildcard tests/unit/test_*.c)
TEST_HELP := $(filter-out %_suite.c,$(wildcard tests/*.c))
SUITES    := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/*_suite.c))
REPLAYS   := $(patsubst tests/fuzz/%.c,$(B)/tests/%,$(wildcard tests/fuzz/fuzz_*.c))
HELPERS   := $(patsubst tests/programs/%.c,$(B)/tests/%,$(wildcard tests/programs/*.c)) $(B)/tests/delay.so
KILLS_SRC := $(wildcard tests/kill/*.c)
HARNESS   := $(if $(KILLS_SRC),$(B)/tests/kills $(B)/tests/killer.so)
SOLIB     := $(if $(LIB_SRC),$(B)/$(SO))
PROGRAM   := $(if $(CLI_SRC),$(B)/rondo)
TESTS     := $(TEST_SRC:tests/unit/%.c=$(B)/tests/%)
EXAMPLES  := $(patsubst examples/c/%.c,$(B)/examples/%,$(wildcard examples/c/*.c))
BENCHES   := $(patsubst bench/%.c,$(B)/bench/%,$(wildcard bench/*.c))

# CFLAGS and LDFLAGS are the user's; what rondo itself needs is added behind them.
# The shared library binds lazily: a short-lived program pays only for what it calls.
CFLAGS   ?= $(if $(SAN)$(FAST),-O1,-O3) -g
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
            -Wno-missing-field-initializers -Wno-unused-parameter $(if $(WERROR),-Werror)
# gcc warns of formats that only its sanitizers make it doubt.
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -Wno-format-truncation)
# Asked for when something is compiled, and not before: help and clean need nothing.
pkg_check  = $(if $(shell pkg-config --exists $(PKGS) libcurl 2>/dev/null && echo yes),,$(error packages that rondo \
             needs are missing: run `make bootstrap` ($(PKGS) libcurl, by pkg-config)))
# libcurl is never linked (src/io/curl.h), but its header is read.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(pkg_check)$$(shell pkg-config --cflags $(PKGS) libcurl))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $$(shell pkg-config --libs $(PKGS)))$(PKG_LIBS)
# What ships is optimised as a whole; tests link the same objects the ordinary, quick way.  Debuggers have their own
# tables for stepping out of functions; those that would be loaded are a tenth of the program.
LEAN     := $(if $(SAN)$(FAST),,-fno-asynchronous-unwind-tables)
# The library is an archive of both code and what -flto needs, and clang makes no such objects.
is_clang  = $(eval is_clang := $$(findstring clang,$$(shell $$(CC) --version)))$(is_clang)
LTO_OBJ   = $(if $(SAN)$(FAST)$(is_clang),,-flto=auto -ffat-lto-objects) $(LEAN)
LTO       = $(if $(SAN)$(FAST)$(is_clang),,-flto=auto) $(LEAN)
# Speed is wanted where passes, expressions and events go through; the rest waits for people and networks and is made small.
COLD     := cli flow io model tool agent
COMPILE  = $(CC) -std=gnu11 $(CFLAGS) $(SMALL) $(LTO_OBJ) -fPIC -fvisibility=hidden $(WARN) $(SANFLAGS) \
           -Iinclude -Isrc -Itests $(PKG_CFLAGS) -MMD -MP
# Pointers in tables are the most of what the loader has to mend; packed, they take a tenth of a megabyte less.
LINK     = $(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) -Wl,-O1 -Wl,--as-needed -Wl,-z,pack-relative-relocs
LIBS     = $(PKG_LIBS) -lm -lpthread -ldl

# Loading a library takes 50 us or more.  So the program, which is started for every run, has those inside that are small and
# used by each of them, if their archives are there.  make ARCHIVES= loads them like the others.
ARCHIVES ?= $(if $(SAN)$(FAST),,uv_a jansson yaml)
archive   = $(wildcard $(shell $(CC) -print-file-name=lib$(1).a))
PROGRAM_LIBS = $(eval PROGRAM_LIBS := $$(foreach x,$$(ARCHIVES),$$(call archive,$$(x))))$(PROGRAM_LIBS)

# A line for each thing made; the commands instead with V=1, nothing at all with make -s.
quiet := $(V)$(findstring s,$(filter-out -j% --%,$(firstword -$(MAKEFLAGS))))
Q     := $(if $(V),,@)
say    = $(if $(quiet),,@printf '  %-5s %s\n' $(1) $(2))

.PHONY: all help test test-llama torture demo bench bench-check bench-compare bench-peers lint coverage-ids mutate valgrind \
        exports unit-tests fuzz bootstrap install uninstall clean
all: $(SOLIB) $(PROGRAM)
help:
	@sed -n '3,/^$$/s/^# \{0,1\}//p' Makefile

# What runs things first makes sure that the packages are there.  The stamp is an included
# file, because make brings those up to date, and starts over, before anything else.
ifneq (,$(filter test valgrind mutate bootstrap,$(MAKECMDGOALS)))
include build/.bootstrapped-test
else ifneq (,$(filter demo bench bench-%,$(MAKECMDGOALS)))
include build/.bootstrapped
endif
build/.bootstrapped-test: tools/bootstrap
	@tools/bootstrap test
build/.bootstrapped: tools/bootstrap
	@tools/bootstrap
bootstrap: ;

# --- the library and the program ------------------------------------------------------

# What is linked as a whole warns of what only that shows, and so does a program that links the archive.
# The archive is for the program, the tests and the benchmarks, which may use internals;
# only the shared library, with the functions of rondo.h and no others, is installed.
$(B)/librondo.a: $(LIB_SRC:%.c=$(O)/%.o) $(LIB_DATA)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

$(B)/$(SO): $(LIB_SRC:%.c=$(O)/%.o) $(LIB_DATA)
	$(call say,LINK,$@)
	$(Q)$(LINK) $(LTO) $(WARN) -shared -Wl,-soname,$(SONAME) $(if $(SAN),,-Wl,-z,defs) -o $@ $^ $(LIBS)
	$(Q)ln -sf $(SO) $(B)/$(SONAME) && ln -sf $(SONAME) $(B)/librondo.so

$(B)/rondo: $(CLI_SRC:%.c=$(O)/%.o) $(B)/librondo.a
	$(call say,LINK,$@)
	$(Q)$(LINK) $(LTO) $(WARN) -o $@ $^ $(PROGRAM_LIBS) $(LIBS)

ifeq ($(origin CFLAGS)$(SAN)$(FAST),file)
$(foreach d,$(COLD),$(O)/src/$(d)/%.o): SMALL := -Os
$(O)/src/io/sse.o: SMALL :=
endif
$(O)/%.o: %.c Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(COMPILE) -c -o $@ $<

# Data files are built in: src/model/prices.json is prices_json[] and prices_json_len.
$(O)/%.json.o: %.json Makefile
	$(call say,DATA,$<)
	$(Q)mkdir -p $(@D) && { echo '#include <stddef.h>'; \
	    echo 'extern const char $(notdir $*)_json[]; extern const size_t $(notdir $*)_json_len;'; \
	    echo 'const char $(notdir $*)_json[] = {'; od -An -v -tx1 $< | sed 's/ \(..\)/0x\1,/g'; \
	    echo '}; const size_t $(notdir $*)_json_len = sizeof $(notdir $*)_json;'; } >$(@:.o=.c)
	$(Q)$(COMPILE) -c -o $@ $(@:.o=.c)

# --- tests, benchmarks, examples ------------------------------------------------------

# What tests share is an archive too: each takes what it needs of it.
$(B)/libtest.a: $(TEST_HELP:%.c=$(O)/%.o)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

$(B)/tests/%: $(O)/tests/unit/%.o $(B)/libtest.a $(B)/librondo.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(LINK) -fno-lto -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

# Programs that tests and benchmarks talk to.
$(B)/tests/%: $(O)/tests/programs/%.o $(B)/libtest.a $(B)/librondo.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(LINK) -fno-lto -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

# Tests of the program's own parts have all of it but main().
$(B)/libcli.a: $(patsubst %.c,$(O)/%.o,$(filter-out %/main.c,$(CLI_SRC)))
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

$(B)/tests/test_cli_%: $(O)/tests/unit/test_cli_%.o $(B)/libtest.a $(B)/libcli.a $(B)/librondo.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(LINK) -fno-lto -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

# Programs that run public test suites, and fuzz targets that replay their corpora.
$(B)/tests/%_suite: $(O)/tests/%_suite.o $(B)/librondo.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(LINK) -fno-lto -o $@ $^ $(LIBS)
$(O)/tests/fuzz/%.o: CFLAGS += -DFUZZ_REPLAY
$(B)/tests/fuzz_%: $(O)/tests/fuzz/fuzz_%.o $(B)/librondo.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(LINK) -fno-lto -o $@ $^ $(LIBS)
# These call commands, so they link all of the program.  In them every checksum fits, and no program or request is started.
VISITORS := $(B)/tests/fuzz_file $(B)/tests/fuzz_store
$(VISITORS): $(B)/tests/fuzz_%: $(O)/tests/fuzz/fuzz_%.o $(patsubst %,$(O)/tests/fuzz/%.o,visit sums outside) \
             $(B)/libcli.a $(B)/librondo.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(LINK) -fno-lto -o $@ $^ $(LIBS)

# The harness that kills the program, and what is put into the program to die at a certain write or to be slow.
$(B)/tests/kills: $(patsubst %.c,$(O)/%.o,$(filter-out %/killer.c,$(KILLS_SRC))) $(B)/librondo.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(LINK) -fno-lto -o $@ $^ $(LIBS)
$(B)/tests/killer.so: tests/kill/killer.c
$(B)/tests/delay.so: tests/shared/delay.c
$(B)/tests/killer.so $(B)/tests/delay.so: Makefile
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -O1 -g -fPIC $(WARN) -shared -o $@ $(filter %.c,$^)

$(B)/bench/%: $(O)/bench/%.o $(B)/librondo.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(LINK) $(LTO) -o $@ $^ $(LIBS)

# Examples are compiled as a user would: strict C99, the public header, the shared library.
$(B)/examples/%: examples/c/%.c examples/c/example.h include/rondo.h Makefile $(SOLIB)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) -std=c99 -pedantic -Wall -Wextra $(if $(WERROR),-Werror) \
	    $(CFLAGS) $(SANFLAGS) -Iinclude $$(pkg-config --cflags jansson) -o $@ $< \
	    -L$(B) -lrondo -Wl,-rpath,'$$ORIGIN/..' $$(pkg-config --libs jansson) -lpthread

# The same examples once more, inside of one test program that disturbs them (tests/steer.h).
$(O)/steered/%.o: examples/c/%.c examples/c/example.h tests/steer.h include/rondo.h Makefile
	$(call say,CC,$< "(steered)")
	$(Q)mkdir -p $(@D) && $(COMPILE) -DEXAMPLE='"$*"' -include tests/steer.h -c -o $@ $<
$(B)/tests/test_examples: $(patsubst examples/c/%.c,$(O)/steered/%.o,$(wildcard examples/c/*.c))

# The JSON Schema of workflow files follows from the tables of src/flow/fields.c.
$(B)/tools/%: $(O)/tools/%.o $(B)/librondo.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(LINK) -fno-lto -o $@ $^ $(LIBS)
docs/rondo.schema.json: $(B)/tools/rondo_schema
	$(call say,GEN,$@)
	$(Q)$< >$@

# With T only what the files need that have it in their name: of unit tests their own programs, for scripts all others.
named    = $(strip $(foreach x,$(1),$(if $(findstring $(T),$(basename $(x:tests/%=%))),$(x))))
T_UNITS := $(if $(T),$(patsubst %,$(B)/tests/%,$(call named,$(notdir $(TESTS)))))
T_OTHER := $(if $(T),$(call named,$(wildcard tests/cli/*.sh tests/peers/*.sh examples/*.yaml examples/*/*)))
T_FILES := $(T_UNITS)$(T_OTHER)
unit-tests: $(if $(T_FILES),$(T_UNITS),$(TESTS))

NEEDED  := all $(SUITES) $(REPLAYS) $(EXAMPLES) $(BENCHES) $(HARNESS) $(HELPERS)
test: unit-tests $(if $(T_UNITS),$(if $(T_OTHER),$(NEEDED)),$(NEEDED))
	@B='$(B)' SAN='$(SAN)' T='$(T)' BY_FILE='$(if $(T_FILES),1)' CC='$(CC)' CXX='$(CXX)' tests/run

# A real language model, outside of the ordinary tests because building its server takes minutes.
test-llama: $(PROGRAM)
	@B='$(B)' T='$(T)' tests/llama/run

# What takes long: tests/*/torture, one after the other.
torture: all unit-tests $(HARNESS) $(HELPERS)
	@for x in tests/*/torture; do echo "$$x"; B='$(B)' SAN='$(SAN)' KILLS='$(KILLS)' RUNS='$(RUNS)' $$x || [ $$? -eq 77 ] || exit; done

# make fuzz TARGET=schema SECONDS=3600; needs clang.
fuzz:
	@tests/fuzz/run $(or $(TARGET),cel_eval) $(or $(SECONDS),60)

demo: $(PROGRAM)
	@$(B)/rondo run examples/refine.yaml

bench: $(BENCHES) $(PROGRAM) $(HELPERS)
	@if [ -x bench/run ]; then B='$(B)' bench/run; \
	else echo "bench: there is no bench/run yet"; fi

bench-check: $(BENCHES)
	@if [ -x $(B)/bench/check ]; then $(B)/bench/check $(B)/bench/results.json bench/targets.json; \
	else echo "bench-check: there is no bench/check.c yet"; fi

# ROUNDS=7, ONLY=check; see bench/compare.
bench-compare: $(BENCHES) $(PROGRAM)
	@B='$(B)' MAKE='$(MAKE)' bench/compare '$(BASE)'

bench-peers: $(BENCHES)
	@B='$(B)' bench/peers/run
	@if [ -x $(PEERS)/run.sh ]; then EXTRA='rondo=$(abspath $(B)/bench/peer)' $(PEERS)/run.sh; \
	else echo "bench-peers: the other engines' programs belong in $(PEERS)/ (run.sh)"; fi

valgrind: $(SOLIB) $(EXAMPLES)
	@tmp=$$(mktemp -d) && trap 'rm -rf "$$tmp"' EXIT && bad=0 && \
	for x in $(abspath $(EXAMPLES)); do \
	    if (cd "$$tmp" && valgrind -q --leak-check=full --errors-for-leak-kinds=all \
	        --show-leak-kinds=all --error-exitcode=99 "$$x" </dev/null >out 2>err); \
	    then echo "ok    $${x##*/}"; \
	    else bad=1; echo "FAIL  $${x##*/}"; sed 's/^/      /' "$$tmp/err"; fi; \
	done; exit $$bad

exports: $(SOLIB)
	@$(if $(SOLIB),tools/exports $(SOLIB),echo "exports: there is no library yet")
lint:
	@tools/lint
coverage-ids:
	@tools/coverage-ids
mutate: all unit-tests $(HELPERS)
	@B='$(B)' FAST='$(FAST)' tools/mutate '$(T)'

# --- installing -----------------------------------------------------------------------

D   := $(DESTDIR)$(PREFIX)
MAN := $(wildcard man/*.1 man/*.3 man/*.5 man/*.7)
DOC := $(wildcard LICENSE README.md)
# man/rondo.3 goes to share/man/man3/rondo.3
man_path = $(D)/share/man/man$(patsubst .%,%,$(suffix $(1)))/$(notdir $(1))

install: all
	install -d $(D)/bin $(D)/lib/pkgconfig $(D)/include $(D)/share/doc/rondo
	$(if $(PROGRAM),install -m 755 $(PROGRAM) $(D)/bin/rondo)
	$(if $(SOLIB),install -m 644 $(SOLIB) $(D)/lib/$(SO))
	$(if $(SOLIB),ln -sf $(SO) $(D)/lib/$(SONAME) && ln -sf $(SONAME) $(D)/lib/librondo.so)
	install -m 644 include/rondo.h $(D)/include/rondo.h
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' rondo.pc.in >$(D)/lib/pkgconfig/rondo.pc
	$(foreach m,$(MAN),install -D -m 644 $(m) $(call man_path,$(m)) &&) true
	$(foreach d,$(DOC),install -m 644 $(d) $(D)/share/doc/rondo/ &&) true
	@if [ -z '$(DESTDIR)' ] && [ "$$(id -u)" = 0 ]; then ldconfig || true; fi

uninstall:
	rm -f $(D)/bin/rondo $(D)/include/rondo.h $(D)/lib/pkgconfig/rondo.pc
	rm -f $(D)/lib/$(SO) $(D)/lib/$(SONAME) $(D)/lib/librondo.so
	rm -f $(foreach m,$(MAN),$(call man_path,$(m)))
	rm -rf $(D)/share/doc/rondo

clean:
	rm -rf build

-include $(patsubst %.c,$(O)/%.d,$(LIB_SRC) $(CLI_SRC) $(TEST_SRC) $(KILLS_SRC) \
            $(wildcard tests/*.c tests/fuzz/*.c tests/programs/*.c bench/*.c))
.SECONDARY:
