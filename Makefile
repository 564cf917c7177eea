# SPDX-License-Identifier: GPL-3.0-or-later
# The front door. Every target installs what it needs, then calls meson or one script; logic lives there.

PREFIX ?= /usr/local
DESTDIR ?=

all: build

build:
	scripts/install-deps build
	scripts/build build

profile:
	scripts/install-deps build bench
	scripts/build build-profile --buildtype=debugoptimized -Dtests=false
	scripts/profile build-profile

demo-container:
	scripts/install-deps build
	scripts/build build-profile --buildtype=debugoptimized -Dtests=false
	scripts/demo-container build-profile

check:
	scripts/install-deps build check app apptest
	scripts/check build-check

check-all:
	scripts/check-all

soak:
	scripts/install-deps build check
	scripts/build build-soak --buildtype=debugoptimized -Dslow=false
	SOAK_SECONDS=$${SOAK_SECONDS:-1800} scripts/test build-soak --suite soak --logbase soak --verbose

bench:
	scripts/install-deps build bench $(if $(filter whole-machine by-language symbols,$(BENCHMARKS)),work)
	scripts/build build-bench --buildtype=release -Dtests=false -Dbench=true
	bench/run build-bench $(BENCHMARKS)

examples:
	scripts/install-deps build
	scripts/examples

app:
	scripts/install-deps build app
	scripts/app build-app

screenshots:
	scripts/install-deps build app apptest
	scripts/build build-app --buildtype=debugoptimized -Dtests=false -Dapp=enabled
	scripts/screenshots build-app '$(CAPTURE)' docs/images/app

install:
	scripts/install-deps build app
	scripts/install '$(PREFIX)' '$(DESTDIR)'

uninstall:
	scripts/uninstall '$(PREFIX)' '$(DESTDIR)'

deb:
	scripts/install-deps build app deb
	scripts/deb

sysext:
	scripts/install-deps build
	scripts/build build-sysext/build --buildtype=debugoptimized -Dtests=false -Dapp=disabled
	scripts/sysext-tree build-sysext/build/src/sysprofd/sysprofd build-sysext

fuzz:
	scripts/install-deps build check
	scripts/fuzz build-fuzz

format:
	scripts/install-deps format
	scripts/format

clean:
	rm -rf build build-*/ profile.syscap profile.svg profile.html

.PHONY: all build profile demo-container check check-all soak bench examples app screenshots install uninstall deb sysext fuzz format clean
