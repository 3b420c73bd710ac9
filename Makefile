# SPDX-License-Identifier: BSD-2-Clause
# The door to the build: Meson does the work.  `make help` lists the targets.
BUILD ?= build
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 600
FUZZ_FLAGS = -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@command -v meson >/dev/null && command -v ninja >/dev/null || \
		{ echo "meson and ninja are missing; run: make setup" >&2; exit 1; }
	@meson setup --prefix $(PREFIX) $(BUILD)

setup:
	@tools/setup build check

try:
	@tools/setup build
	@$(MAKE) --no-print-directory all
	@tools/try $(BUILD)

check:
	@tools/setup build check
	@$(MAKE) --no-print-directory all
	@tools/check -C $(BUILD) unit e2e kernel

check-full:
	@tools/setup build check
	@$(MAKE) --no-print-directory all
	@tools/check -C $(BUILD) unit e2e kernel full

# The kernel modules, into $(BUILD)/kmod.  KDIR: the kernel's build directory;
# KMOD_FLAGS: kbuild's, as HWT_HOOKS=n or W=1.
kmod:
	@mkdir -p $(BUILD)
	@tools/kmod $(BUILD) "$(KDIR)" $(KMOD_FLAGS)

# For every kernel, by DKMS, with udev's rule and loading at boot; needs root.
dkms-install:
	@tools/dkms-install "$$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)" $(KERNEL)

# Sanitizers get build directories of their own: objects must not mix.
asan:
	@[ -d build-asan ] || meson setup -Db_sanitize=address,undefined -Db_lundef=false build-asan
	@ninja -C build-asan
	@tools/check -C build-asan -t 5 unit e2e

tsan:
	@[ -d build-tsan ] || meson setup -Db_sanitize=thread -Db_lundef=false build-tsan
	@ninja -C build-tsan
	@tools/check -C build-tsan -t 5 unit

bench: all
	@meson test -C $(BUILD) --no-rebuild --benchmark --verbose

fuzz:
	@tools/setup build fuzz
	@[ -d build-fuzz ] || CC=clang meson setup -Dfuzz=true -Db_lundef=false \
		-Dc_args="$(FUZZ_FLAGS)" -Dc_link_args="-fsanitize=address,undefined" build-fuzz
	@ninja -C build-fuzz fuzzers
	@tools/fuzz build-fuzz $(FUZZ_SECONDS)

# A PREFIX that is given now counts, whatever the build directory was set up for: the
# command has the plugin's place in it.
install: $(BUILD)/build.ninja
	@[ "$(origin PREFIX)" = file ] || meson configure $(BUILD) -Dprefix="$(PREFIX)"
	@$(MAKE) --no-print-directory all
	@meson install -C $(BUILD) --no-rebuild

clean:
	rm -rf $(BUILD) build-asan build-tsan build-fuzz

help:
	@echo "make             build into ./$(BUILD)"
	@echo "make kmod        kernel modules into ./$(BUILD)/kmod; KDIR=, KMOD_FLAGS="
	@echo "make dkms-install  the modules for every kernel; KERNEL=, needs root"
	@echo "make try         record a program and show what it did"
	@echo "make check       unit and end-to-end tests (some minutes)"
	@echo "make check-full  those and the long ones"
	@echo "make asan, tsan  tests under AddressSanitizer + UBSan, ThreadSanitizer"
	@echo "make bench       measure; FUZZ_SECONDS=n make fuzz: run every fuzzer"
	@echo "make setup       install what is missing, from Debian's archive"
	@echo "make install     to PREFIX (default /usr/local), DESTDIR is honoured"
	@echo "make clean       remove the build directories"

.PHONY: all setup try kmod dkms-install check check-full asan tsan bench fuzz install clean help
