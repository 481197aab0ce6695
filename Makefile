# Every task of this project. `make help` lists them.
SHELL = bash
SWIFT ?= swift
DEBIAN_PACKAGES = curl libvips-dev libvips-tools libsqlite3-dev libdeflate-dev libjpeg-dev libfaketime libraw-bin libseccomp-dev libssl-dev libwebp-dev pkg-config python3-jsonschema python3-markdown-it python3-yaml

.DEFAULT_GOAL := help
.PHONY: help deps build install uninstall demo test explore explore-worlds chaos hostile memory fuzz test-pages test-browser site test-site test-monitoring test-visible test-cluster sanitize bench bench-dashboard refusals lint format docs guide-pictures shots \
	deb test-deb test-container test-systems test-arm64

# Where `make install` puts things; DESTDIR goes before all of it, for packagers.
PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
BINDIR ?= $(PREFIX)/bin
DATADIR ?= $(PREFIX)/share/imagemill
DOCDIR ?= $(PREFIX)/share/doc/imagemill
MANDIR ?= $(PREFIX)/share/man
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
SYSTEMDDIR ?= $(PREFIX)/lib
BINARY ?= .build/release/imagemill
STRIP ?= strip
# Of `make test-cluster`.
ICONS ?= 20000
# Of `make explore`: how many, or from which to which. Of `make explore-worlds`: as 1-60 or 3,17.
SEEDS ?= 1-1000
# Of `make explore-worlds`: for how long it goes on after SEEDS; 0 for these alone.
HOURS ?= 0
# Of `make fuzz`, for each reader.
SECONDS ?= 60
# Of `make hostile`.
FILES ?= 20000
# Of `make test-systems` and `make test-deb`: releases of Debian.
SYSTEMS ?= trixie
PACKAGE_SYSTEMS ?= bookworm trixie

help: ## Lists the tasks.
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## Installs what is missing, as root or with sudo; elsewhere says what to install.
	@command -v $(SWIFT) >/dev/null || { echo "Swift 6.2 or newer is missing; see https://www.swift.org/install"; exit 1; }
	@version=$$($(SWIFT) --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p'); \
	printf '6.2\n%s\n' "$$version" | sort -C -V || { echo "Swift 6.2 or newer is needed, found $$version; see https://www.swift.org/install"; exit 1; }
	@missing=""; for package in $(DEBIAN_PACKAGES); do \
		dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$package"; done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	install="apt-get install -y --no-install-recommends$$missing"; \
	if [ "$$(id -u)" = 0 ]; then sudo=""; elif sudo -n true 2>/dev/null; then sudo="sudo"; \
	else echo "These packages are missing:$$missing"; echo "Install them with: sudo $$install"; exit 1; fi; \
	echo "Installing$$missing"; \
	$$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo $$install >/dev/null

build: deps ## Builds the program for release: .build/release/imagemill
	@# With Swift's libraries inside: it starts faster, and runs where no Swift is installed.
	@# Inlined across targets, those of dependencies too: icons take 0.955 of the processor time.
	$(SWIFT) build -c release --static-swift-stdlib -Xswiftc -cross-module-optimization --product imagemill

install: ## Installs program, units, pipelines, manual, completions and documentation: DESTDIR, PREFIX, SYSCONFDIR. After `make build`.
	@test -x "$(BINARY)" || { echo "$(BINARY) is missing; run \`make build\` first"; exit 1; }
	install -d "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(SYSTEMDDIR)/systemd/system" "$(DESTDIR)$(SYSTEMDDIR)/sysusers.d" \
		"$(DESTDIR)$(SYSTEMDDIR)/tmpfiles.d" "$(DESTDIR)$(DATADIR)/pipelines" "$(DESTDIR)$(DOCDIR)" "$(DESTDIR)$(SYSCONFDIR)/imagemill"
	install -m 755 -s --strip-program="$(STRIP)" "$(BINARY)" "$(DESTDIR)$(BINDIR)/imagemill"
	for unit in imagemill.service imagemill@.service; do \
		sed -e 's|/usr/bin/imagemill|$(BINDIR)/imagemill|' -e 's|/etc/imagemill|$(SYSCONFDIR)/imagemill|' "deploy/systemd/$$unit" \
			> "$(DESTDIR)$(SYSTEMDDIR)/systemd/system/$$unit" && \
		chmod 644 "$(DESTDIR)$(SYSTEMDDIR)/systemd/system/$$unit" || exit 1; done
	install -m 644 deploy/sysusers.d/imagemill.conf "$(DESTDIR)$(SYSTEMDDIR)/sysusers.d/imagemill.conf"
	install -m 644 deploy/tmpfiles.d/imagemill.conf "$(DESTDIR)$(SYSTEMDDIR)/tmpfiles.d/imagemill.conf"
	cp -R pipelines/. "$(DESTDIR)$(DATADIR)/pipelines/"
	install -D -m 644 -t "$(DESTDIR)$(DATADIR)/monitoring" deploy/prometheus/alerts.yaml deploy/grafana/imagemill.json deploy/systemd/http.conf
	chmod -R u=rwX,go=rX "$(DESTDIR)$(DATADIR)"
	@# As they are here, so that their links to each other hold.
	install -d "$(DESTDIR)$(DOCDIR)/docs"
	install -m 644 README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE "$(DESTDIR)$(DOCDIR)/"
	cp -R $(addprefix docs/,architecture.md clusters.md failures.md glossary.md operations.md security.md systems.md decisions guide images reference schema) "$(DESTDIR)$(DOCDIR)/docs/"
	install -d "$(DESTDIR)$(DOCDIR)/deploy"
	cp -R $(addprefix deploy/,aws-batch compose.yaml container grafana kubernetes mill.yaml prometheus slurm systemd) "$(DESTDIR)$(DOCDIR)/deploy/"
	ln -sfnr "$(DESTDIR)$(DATADIR)/pipelines" "$(DESTDIR)$(DOCDIR)/pipelines"
	chmod -R u=rwX,go=rX "$(DESTDIR)$(DOCDIR)"
	for page in docs/man/*.[15]; do \
		install -D -m 644 -t "$(DESTDIR)$(MANDIR)/man$${page##*.}" "$$page" || exit 1; done
	install -d "$(DESTDIR)$(BASHDIR)" "$(DESTDIR)$(ZSHDIR)" "$(DESTDIR)$(FISHDIR)"
	"$(BINARY)" --generate-completion-script bash > "$(DESTDIR)$(BASHDIR)/imagemill"
	"$(BINARY)" --generate-completion-script zsh > "$(DESTDIR)$(ZSHDIR)/_imagemill"
	"$(BINARY)" --generate-completion-script fish > "$(DESTDIR)$(FISHDIR)/imagemill.fish"
	@# The configuration is the administrator's: the example is beside it, and nothing is written over.
	sed -e 's|\.\./pipelines/|$(DATADIR)/pipelines/|' -e 's|\.\./docs/|$(DOCDIR)/docs/|' -e 's|: docs/|: $(DOCDIR)/docs/|g' \
		deploy/mill.yaml > "$(DESTDIR)$(SYSCONFDIR)/imagemill/mill.yaml.example"
	chmod 644 "$(DESTDIR)$(SYSCONFDIR)/imagemill/mill.yaml.example"

uninstall: ## Removes what `make install` has put there; configurations and state stay.
	rm -f "$(DESTDIR)$(BINDIR)/imagemill" "$(DESTDIR)$(SYSTEMDDIR)/systemd/system/imagemill.service" \
		"$(DESTDIR)$(SYSTEMDDIR)/systemd/system/imagemill@.service" "$(DESTDIR)$(SYSTEMDDIR)/sysusers.d/imagemill.conf" \
		"$(DESTDIR)$(SYSTEMDDIR)/tmpfiles.d/imagemill.conf" "$(DESTDIR)$(SYSCONFDIR)/imagemill/mill.yaml.example"
	for page in docs/man/*.[15]; do rm -f "$(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/}"; done
	rm -f "$(DESTDIR)$(BASHDIR)/imagemill" "$(DESTDIR)$(ZSHDIR)/_imagemill" "$(DESTDIR)$(FISHDIR)/imagemill.fish"
	rm -rf "$(DESTDIR)$(DATADIR)" "$(DESTDIR)$(DOCDIR)"
	-rmdir "$(DESTDIR)$(SYSCONFDIR)/imagemill" 2>/dev/null

demo: build ## Makes sample pictures, runs a shipped pipeline over them, and says where the results are.
	@docs/demo/run.sh .build/release/imagemill demo

test: deps ## Builds and runs all tests.
	@mkdir -p .build
	@set -o pipefail; $(SWIFT) build --build-tests --explicit-target-dependency-import-check error 2>&1 | tee .build/build.log
	@! grep -E '^/.*(Sources|Tests)/.*: warning:' .build/build.log || { echo 'the compiler warns; mend that first'; exit 1; }
	@Tests/run

explore: build ## Draws pipelines and pictures by SEEDS, such as 1-1000, and holds what they make against what is promised; a second or two for each.
	@# What fails is made shorter, which takes longer.
	@mkdir -p .build
	@set -o pipefail; IMAGEMILL_SEEDS="$(SEEDS)" IMAGEMILL_PROGRAM="$(abspath $(BINARY))" \
		$(SWIFT) test --no-parallel --filter 'ExplorerTests.*promised' 2>&1 | tee .build/explore.log | grep -av '^◇' && exit 0; \
		printf '\nSeeds with findings (all of it is in .build/explore.log):\n'; \
		grep -aoE 'seed [0-9]+: not so: .*' .build/explore.log | sort -u; exit 1

explore-worlds: SEEDS = 1-60
explore-worlds: build ## Draws worlds for the drop folder by SEEDS, such as 1-60, or for HOURS, and holds what happens in them against what is promised; 60 an hour and more.
	@$(MAKE) --no-print-directory deps DEBIAN_PACKAGES="libvips-tools xfsprogs btrfs-progs libfaketime"
	@mkdir -p .build
	@set -o pipefail; Tests/Chaos/explore --imagemill "$(BINARY)" --seeds "$(SEEDS)" --hours "$(HOURS)" 2>&1 | tee .build/explore-worlds.log || [ $$? = 77 ]

test-systems: deps ## Runs all tests, or those of FILTER, on SYSTEMS (Debian 13) too, with their libraries, in roots made by debootstrap; as root. See docs/systems.md
	$(SWIFT) build --build-tests --explicit-target-dependency-import-check error
	@$(MAKE) --no-print-directory deps DEBIAN_PACKAGES="debootstrap wget"
	PACKAGES="$(DEBIAN_PACKAGES)" FILTER="$(FILTER)" Tests/Systems/suite $(SYSTEMS)

test-arm64: deps ## Builds for arm64 and runs the tests of libvips and of the stages, or those of FILTER, and all pipelines under emulation; as root, three hours.
	@test "$(BINARY)" != .build/release/imagemill || $(MAKE) --no-print-directory build
	@$(MAKE) --no-print-directory deps DEBIAN_PACKAGES="debootstrap wget qemu-user-static binutils"
	PACKAGES="$(DEBIAN_PACKAGES)" FILTER="$(FILTER)" IMAGEMILL="$(BINARY)" Tests/Systems/arm64 || [ $$? = 77 ]

deb: ## Builds a Debian package below .build, for this system and newer ones.
	@test "$(BINARY)" != .build/release/imagemill || $(MAKE) --no-print-directory build
	@$(MAKE) --no-print-directory deps DEBIAN_PACKAGES="dpkg-dev python3-markdown-it"
	@deploy/debian/build "$(BINARY)" .build

test-deb: ## Checks the Debian package, and installs, uses, upgrades and purges it in roots of PACKAGE_SYSTEMS; as root.
	@$(MAKE) --no-print-directory deps DEBIAN_PACKAGES="dpkg-dev lintian debootstrap"
	@package=$$($(MAKE) --no-print-directory -s deb | tail -1) && lintian --fail-on error "$$package" && Tests/Systems/package "$$package" $(PACKAGE_SYSTEMS)

test-container: ## Builds the container from the Debian package, by buildah, and uses it; as root.
	@$(MAKE) --no-print-directory deps DEBIAN_PACKAGES="buildah debootstrap docker-compose"
	@package=$$($(MAKE) --no-print-directory -s deb | tail -1) && { Tests/Systems/container "$$package" || [ $$? = 77 ]; }

chaos: build ## Breaks runs and drop folders in every way there is, about an hour. See Tests/Chaos/README.md
	IMAGEMILL_KILLS=100 $(SWIFT) test --no-parallel --filter ChaosTests
	IMAGEMILL_FULL_SIZE=1 $(SWIFT) test --no-parallel --filter LedgerSizeTests
	Tests/Chaos/run --imagemill .build/debug/imagemill --release .build/release/imagemill

hostile: build ## Feeds FILES malformed pictures, and bombs, to one run and one drop folder, and mixes giants with small pictures; some minutes.
	Tests/Hostile/run --imagemill .build/release/imagemill --files $(FILES)

test-pages: ## Opens the pages of reports in a headless Chromium, and uses them; skipped if there is none.
	@test "$(BINARY)" != .build/release/imagemill || $(MAKE) --no-print-directory build
	Tests/Pages/run --imagemill "$(BINARY)" --pictures .build/pages || [ $$? = 77 ]

memory: deps ## Holds the predicted memory against the measured peak for all stages, kinds, shapes and formats; some minutes.
	IMAGEMILL_MEMORY=1 $(SWIFT) test --no-parallel --filter MemoryBoundTests

fuzz: deps ## Feeds the readers of files, pipelines, workers' messages and records with libFuzzer, SECONDS each.
	@# All in one module graph of its own: the fuzzer wants to see every branch.
	IMAGEMILL_FUZZER=1 $(SWIFT) build --sanitize=fuzzer --scratch-path .build/fuzz --product Fuzz
	Tests/Fuzz/run --program .build/fuzz/debug/Fuzz --seconds $(SECONDS)

test-browser: deps ## Looks at the dashboard in a headless Chromium: live, by keyboard, light, dark and on a phone.
	$(SWIFT) build --product imagemill
	@$(MAKE) --no-print-directory deps DEBIAN_PACKAGES="chromium fonts-dejavu-core python3-venv"
	@test -d .build/browser || python3 -m venv .build/browser
	@.build/browser/bin/pip install --quiet --disable-pip-version-check -r Tests/Browser/requirements.txt
	@# A script that cannot do its work here ends with 77, after it has said that it was skipped.
	.build/browser/bin/python Tests/Browser/dashboard --imagemill .build/debug/imagemill --screenshots .build/browser/screenshots || [ $$? = 77 ]

test-monitoring: deps ## Has a real Prometheus scrape a drop folder: alerts come and go.
	$(SWIFT) build --product imagemill
	@$(MAKE) --no-print-directory deps DEBIAN_PACKAGES="prometheus"
	cd Tests/Monitoring && promtool test rules alerts.test.yaml
	Tests/Monitoring/prometheus --imagemill .build/debug/imagemill || [ $$? = 77 ]

test-visible: ## All of test-pages, test-browser, test-site and test-monitoring: each passed, failed, or skipped with the reason.
	@test "$(BINARY)" != .build/release/imagemill || $(MAKE) --no-print-directory build
	@Tests/visible "$(BINARY)"

test-cluster: ## Runs batches of ICONS on a real Slurm on this machine: a controller and four nodes. See docs/clusters.md
	@test "$(BINARY)" != .build/release/imagemill || $(MAKE) --no-print-directory build
	@$(MAKE) --no-print-directory deps DEBIAN_PACKAGES="slurm-wlm munge parallel qemu-user-static python3-venv"
	@test -d .build/cluster || python3 -m venv .build/cluster
	@.build/cluster/bin/pip install --quiet --disable-pip-version-check -r Tests/Cluster/requirements.txt
	@# A script that cannot do its work here ends with 77, after it has said that it was skipped.
	.build/cluster/bin/python Tests/Cluster/deploy-files || [ $$? = 77 ]
	Tests/Cluster/processors --imagemill "$(BINARY)" || [ $$? = 77 ]
	Tests/Cluster/run --imagemill "$(BINARY)" --icons $(ICONS) || [ $$? = 77 ]

sanitize: deps ## Runs the tests of the engine under the thread sanitizer.
	@# Without those that start workers: these live under a limit of address space, and the sanitizer needs more than any.
	$(SWIFT) test --sanitize=thread --scratch-path .build/thread --no-parallel --filter '(System|Render|Engine)Tests' --skip BadWorkerTests

bench-dashboard: build ## Measures what it costs to look at a drop folder: throughput with the dashboard open, CPU of an idle one.
	@$(MAKE) --no-print-directory deps DEBIAN_PACKAGES="libvips-tools libjpeg-turbo-progs imagemagick python3-venv"
	Benchmarks/dashboard --imagemill .build/release/imagemill --write

bench: build ## Measures speed and quality against the peers; about forty minutes. See Benchmarks/README.md
	@$(MAKE) --no-print-directory deps DEBIAN_PACKAGES="libvips-tools libjpeg-turbo-progs imagemagick python3-venv"
	Benchmarks/tests
	Benchmarks/bench --imagemill .build/release/imagemill
	Benchmarks/quality --imagemill .build/release/imagemill

refusals: build ## Lists what vipsthumbnail renders and Imagemill refuses, of the pictures in FOLDER.
	Benchmarks/refusals "$(FOLDER)"

lint: ## Checks the formatting of the sources, strictly.
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests
	@# Of C the width alone: 120 columns.
	@! LC_ALL=C.UTF-8 grep -rnE --include='*.[ch]' '^.{121,}' Sources Tests Benchmarks || { echo "These lines of C are longer than 120 columns."; exit 1; }

format: ## Formats the sources.
	$(SWIFT) format --in-place --recursive Package.swift Sources Tests

docs: ## Writes the generated reference and schemas below docs/.
	$(SWIFT) build --product imagemill
	.build/debug/imagemill docs docs

site: ## Writes the documentation as a site that needs no network and no server: .build/site/index.html
	@$(MAKE) --no-print-directory deps DEBIAN_PACKAGES="python3-markdown-it"
	@docs/site/build .build/site
	@Tests/Site/links .build/site

test-site: site ## Opens that site in a headless Chromium: light, dark, on a phone, by keyboard; skipped if there is none.
	Tests/Site/run .build/site --pictures .build/site-pictures || [ $$? = 77 ]

guide-pictures: ## Makes the pictures of docs/guide anew, by the commands of its pages.
	$(SWIFT) build --product imagemill
	@$(MAKE) --no-print-directory deps DEBIAN_PACKAGES="fonts-dejavu-core fonts-noto-core fonts-noto-cjk libvips-tools"
	docs/guide/pictures.sh .build/debug/imagemill docs/images

shots: ## Makes README's pictures anew: what pipelines make, a terminal, the dashboard and a report's page; of PICTURES only, if that is set.
	$(SWIFT) build --product imagemill
	@$(MAKE) --no-print-directory deps DEBIAN_PACKAGES="chromium fonts-dejavu-core fonts-inter libvips-tools"
	docs/shots/run .build/debug/imagemill docs/images $(PICTURES)
