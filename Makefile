# PQC-MAV. Every target does the set-up it needs; 'make help' lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.NOTPARALLEL:

.PHONY: help setup demo test test-ubuntu browsers lint format docs report bench peers chaos autopilots soak sanitize fuzz coverage mutants addresses cross arm64 deb release release-check distros images cluster verify-model clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "With ROS 2 (Jazzy or newer) sourced the targets use it; otherwise ROS 2 comes as wheels into .venv."

# Each target sets up what it needs and no more: a first demo compiles no tests and installs no linters.
setup:  ## Install what is missing, make .venv, build liboqs once and all packages
	@tools/setup.sh analysis dashboard

demo:  ## Fly a simulated vehicle through the tunnel and judge it; SCENARIO=hot|low-battery|bad-link|attack|nominal|thin-link|radio|two-ways
	@tools/setup.sh $(if $(SCENARIO),analysis) $(if $(SCENARIO)$(ARGS),,demo)
	@tools/run pqcmav demo $(if $(SCENARIO),--scenario $(SCENARIO) --plot build/demo/$(SCENARIO).png) $(ARGS)

test:  ## Run all tests: gtest through ctest, then pytest (PACKAGES="..." selects)
	@tools/setup.sh analysis dashboard detect test
	@tools/run python tools/run_tests.py $(PACKAGES)

test-ubuntu:  ## Run the Python tests with the versions that Ubuntu 24.04 has (PACKAGES="..." selects)
	@tools/setup.sh analysis dashboard detect test
	@tools/test_ubuntu.sh $(PACKAGES)

browsers:  ## Install Chromium, Firefox and WebKitGTK (apt, needs root) and try the dashboard in all three
	@apt-get install -y --no-install-recommends chromium chromium-driver firefox-esr webkit2gtk-driver xvfb
	@tools/setup.sh analysis dashboard test
	@PQCMAV_BROWSERS=all tools/run python -m pytest -q src/pqc_mav_dashboard/test/test_page.py \
	  src/pqc_mav_dashboard/test/test_page_ros.py src/pqc_mav_dashboard/test/test_browsers.py

lint:  ## Check style: ruff, mypy, clang-format, shell syntax, licence lines
	@tools/setup.sh analysis dashboard lint
	@tools/lint.sh

format:  ## Format with ruff and clang-format, apply safe fixes, add licence lines
	@tools/setup.sh lint
	@tools/lint.sh --fix

docs: setup  ## Write the generated pages and configuration files (ARGS=--check only compares)
	@tools/run python tools/docs.py $(ARGS)

report: setup  ## Render the committed results into build/report: page, and PDF where Chromium is installed
	@tools/run pqcmav bench report bench/results/campaign-scenarios \
	  --load bench/results/campaign-quick/matrix2025 --output build/report $(ARGS)
	@tools/run pqcmav policy compare --output build/report

bench:  ## Measure the engine against its floors (ARGS="..." are passed on)
	@tools/setup.sh analysis benchmarks
	@tools/run bench/run $(ARGS)

peers:  ## Measure beside WireGuard, OpenVPN, nebula, DTLS and rosenpass (needs root; ARGS="..." are passed on)
	@tools/setup.sh analysis benchmarks
	@tools/run bench/peers/run $(ARGS)

chaos:  ## Bad links, restarts, clock steps, attackers: one table (needs root; CHAOS=name,name CHAOS_ARGS="...")
	@tools/setup.sh chaos
	@tools/run chaos/run lab --only "$(CHAOS)" $(CHAOS_ARGS)
	@[ -n "$(CHAOS)$(CHAOS_ARGS)" ] || tools/run chaos/run joining

autopilots: setup  ## Fly ArduPilot and PX4 with the tunnel and without (needs root; ARDUPILOT=DIR PX4=DIR: sources; ARGS=--record)
	@tools/autopilots.sh "$(ARDUPILOT)" "$(PX4)" $(ARGS)

soak: setup  ## Send both ways with a rekey every 5 s for MINUTES (10): nothing may grow or get lost
	@tools/run chaos/run soak --minutes $(or $(MINUTES),10)

sanitize:  ## Run the engine's tests under ASan+UBSan and TSan; look for times that depend on secrets
	@tools/setup.sh
	@tools/sanitize.sh

fuzz:  ## Run every libFuzzer target for FUZZ_SECONDS (60) under ASan+UBSan
	@tools/setup.sh
	@tools/fuzz.sh

coverage: setup  ## Which functions of the engine neither its C++ tests nor its fuzzers' corpora reach: one page
	@tools/coverage.sh

mutants:  ## Change code in small ways and see whether its tests notice (PACKAGES="..." FILES="..." select; ARGS=--record)
	@tools/setup.sh analysis detect chaos
	@tools/run python tools/mutants.py --packages "$(PACKAGES)" --files "$(FILES)" $(ARGS)

addresses:  ## Simulate 10,000 schedules of attacks on a drone's addresses; writes bench/results/addresses.md
	@tools/setup.sh test
	@tools/addresses.sh

cross:  ## Cross-compile engine and pqcmav-tunneld and run their tests under qemu; ARCH=arm64|armhf|riscv64, MACHINE=1
	@tools/setup.sh
	@tools/cross.sh $(or $(ARCH),arm64) $(if $(MACHINE),--machine)

arm64: ARCH=arm64
arm64: cross  ## The same as make cross ARCH=arm64

deb:  ## Make Debian packages for amd64 and arm64, try them in a fresh Debian (needs root); SIGN_KEY=KEY: an apt repository
	@tools/setup.sh packages
	@tools/deb.sh

release:  ## Make deb's packages without their test, and a signed release of them in build-release (SIGN_KEY=KEY of gpg)
	@[ -n "$(SIGN_KEY)" ] || { echo "error: SIGN_KEY is missing: a key of 'gpg --list-secret-keys', which signs"; exit 2; }
	@tools/setup.sh
	@tools/deb.sh --no-test
	@tools/run python tools/release.py --key "$(SIGN_KEY)"

release-check: setup  ## Build each package's source archive alone in a bare Debian, as a build farm does (needs root; PACKAGES="...")
	@tools/release_check.sh $(PACKAGES)

distros:  ## Try the README and the packages in bare Debians and Ubuntus (needs root; DISTROS="trixie noble", ARGS=--record)
	@tools/distros.sh $(ARGS) $(DISTROS)

images:  ## Build container images without a registry and fly the demo in containers of them (needs root)
	@tools/setup.sh
	@tools/images.sh

cluster:  ## Run ground stations in a Kubernetes of three nodes, with drones outside (needs root and Go; ARGS="--runs 3")
	@tools/setup.sh chaos dashboard
	@tools/cluster.sh $(ARGS)

verify-model:  ## Check the models of the protocol, write bench/results/model.md (needs ProVerif and Spin; ALLOW_MISSING=1 passes without)
	@ALLOW_MISSING="$(ALLOW_MISSING)" PROVERIF_SOURCE="$(PROVERIF_SOURCE)" tools/verify_model.sh

clean:  ## Remove everything built here (.venv, .deps, build, install)
	@rm -rf .venv .deps build build-* install log .pytest_cache .ruff_cache .mypy_cache .hypothesis
	@find src tools bench chaos -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
