# Haul's commands for people. Each is a line or two; the work is in scripts/.

.DEFAULT_GOAL := help
.PHONY: help get build debug test check format lint generate install uninstall deb bench clean

# The folder of this file, wherever make was called. (The whole list is one name here: nothing is included before.)
ROOT := $(shell cd "$$(dirname "$(strip $(MAKEFILE_LIST))")" && pwd)
HAUL := $(ROOT)/.build/release/haul

PREFIX ?= /usr/local
DESTDIR ?=
ARGS ?=

# A variable as one word of the shell, untouched by make and by the shell: a URL may hold & # $ ' and spaces.
quoted = '$(subst ','\'',$(value $(1)))'
# Make would expand a $ in them on the way into the environment.
unexport URL ARGS

help: ## this screen
	@echo 'make TARGET:'
	@sed -nE 's/^([a-z]+):.*## (.*)/  \1\t\2/p' "$(ROOT)/Makefile" | expand -t 14

get: ## download URL='…' into the current folder; ARGS='…' are options of haul get
	@test -n $(call quoted,URL) || { echo "usage: make get URL='https://…' [ARGS='--connections 4']" >&2; exit 2; }
	@"$(ROOT)/scripts/packages.sh" build
	@"$(ROOT)/scripts/build.sh"
	@"$(HAUL)" get $(value ARGS) $(call quoted,URL)

build: ## the release binary, .build/release/haul
	@"$(ROOT)/scripts/packages.sh" build
	@"$(ROOT)/scripts/build.sh"

debug: ## the debug binary, .build/debug/haul
	@"$(ROOT)/scripts/packages.sh" build
	@bash -c 'source "$$1/scripts/lib.sh" && need_swift && cd "$$1" && swift build' - "$(ROOT)"

test: ## every test: unit, property, loopback, end to end, thread sanitizer
	@"$(ROOT)/scripts/test.sh"

check: ## what CI checks beyond test: format, docs, packages, scripted and real servers, fault lab
	@"$(ROOT)/scripts/check.sh"

format: ## format the Swift files
	@bash -c 'source "$$1/scripts/lib.sh" && need_swift && cd "$$1" && swift format -i -r --configuration .swift-format Package.swift Sources Tests' - "$(ROOT)"

lint: ## complain about the format of the Swift files
	@bash -c 'source "$$1/scripts/lib.sh" && need_swift && cd "$$1" && scripts/check.sh --run check_format' - "$(ROOT)"

generate: build ## man page, completions and docs/options.md from the option table
	@"$(ROOT)/scripts/generate.sh"

install: build ## binary, man page, completions, documents under PREFIX (default /usr/local); DESTDIR is put before it
	@"$(ROOT)/scripts/install.sh" "$(DESTDIR)$(PREFIX)"

uninstall: ## take away what install put there
	@"$(ROOT)/scripts/install.sh" --uninstall "$(DESTDIR)$(PREFIX)"

deb: ## a Debian package, build/haul_*.deb
	@"$(ROOT)/scripts/packages.sh" build deb
	@"$(ROOT)/packaging/deb.sh"

bench: build ## compare with curl, aria2, axel and wget2 on this machine; ARGS='…' are options of the benchmark
	@"$(ROOT)/scripts/packages.sh" bench
	@cd "$(ROOT)" && HAUL="$(HAUL)" python3 Benchmarks/run.py $(value ARGS)

clean: ## remove everything built
	@rm -rf "$(ROOT)/.build" "$(ROOT)/build"
