# Quill. `make` lists what can be made.
PREFIX  ?= /usr/local
CELL    ?= /var/lib/quill
GO      ?= go
# The newest tag and what came after it; before the first tag the commit alone.
VERSION := $(or $(shell git describe --tags --match 'v*' --dirty 2>/dev/null | sed 's/^v//'),0.1.0-$(or $(shell git describe --always --dirty 2>/dev/null),unknown))
# The command library can print Markdown; that costs time at each start and is not used. Without the C library programs start a
# fifth faster, and run on every distribution; but those of the race detector and libdrmaa have it. Tests are compiled as what is
# installed: nothing is compiled twice.
TAGS    := -tags urfave_cli_no_docs,netgo,osusergo
# A compiler that collects garbage only when it would need more than this takes a fourth less time; tests that
# compute much take a sixth less with more room.
RARELY  := GOGC=off GOMEMLIMIT=1GiB
ROOM    := GOGC=400
# What needs processors alone gives way to tests, which also wait.
YIELDING := nice -n 19
BUILD   := $(RARELY) $(GO) build $(TAGS) -ldflags "-s -w -X github.com/quill-grid/quill/pkg/product.Version=$(VERSION)"
# The tables of debuggers are not written; stack traces and profiles do not need them. Compiling takes a sixth less time. What runs the go command
# below make has the same flags, and finds in the cache what is compiled.
NODWARF := -gcflags=all=-dwarf=false
export GOFLAGS := $(strip $(filter-out $(NODWARF),$(GOFLAGS)) $(NODWARF))
# Tests do not get the environment of the compilers: it would limit their memory, too.
# Programs of tests are linked without what only debuggers read, which halves the time that linking takes.
TEST    := $(GO) test $(TAGS) -toolexec 'env $(RARELY)' -vet=off -ldflags="-s -w" -timeout 30m

PROGRAMS := ./tools/quill ./tools/quill-daemon ./tools/quill-lab
# The first build compiles some hundred packages, which takes minutes: go build -v names each on a line.
PROGRESS := /^failed$$/ { failed = 1; next } !/^[a-zA-Z0-9.\/_-]+$$/ { print; next } \
	n++ % 50 == 0 { printf "compiling: %d of at most %d packages\n", n, all; fflush() } END { exit failed }

.DEFAULT_GOAL := help
.PHONY: help build drmaa test race sequential browser lint check demo demo-algorithms bench bench-check attack attack-planted soak powercut vmtest install install-drmaa release clean

help: ## list what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

build: ## build bin/quill, bin/quill-daemon, bin/quill-lab and a link for each command (qsub, qstat, ...)
	@mkdir -p bin
	@{ $(BUILD) -v -o bin/ $(PROGRAMS) || echo failed; } 2>&1 | awk -v all="$$($(GO) list $(TAGS) -deps $(PROGRAMS) | wc -l)" '$(PROGRESS)'
	@bin/quill links bin

drmaa: ## build lib/libdrmaa.so, the DRMAA 1.0 library; needs gcc
	@mkdir -p lib
	CGO_ENABLED=1 $(BUILD) -buildmode=c-shared -o lib/libdrmaa.so.1.0 ./tools/drmaa
	@rm -f lib/libdrmaa.so.1.h
	@ln -sf libdrmaa.so.1.0 lib/libdrmaa.so

# The tests of concurrent packages run under the race detector, which needs a C compiler; those of a browser are not compiled with it.
CONCURRENT := $(addprefix github.com/quill-grid/quill/,pkg/bus pkg/client pkg/codec pkg/history pkg/jsv/script qmaster schedd execd \
	execd/shepherd tools/drmaa/session tools/ge/qrsh/session tools/web tools/web/mirror tools/web/entry)
RACE        = $(if $(shell command -v gcc),-race)
# A program with the race detector would wait for a second before it ends, and tests start many.
race: export GORACE = atexit_sleep_ms=10

# The limit is for what hangs: a slow machine with much else to do is no failure. lint has go vet look at everything.
test: race sequential browser ## run all tests, those of the concurrent packages under the race detector

race: ## run the tests of the concurrent packages
	$(ROOM) $(TEST) $(RACE) -skip '^TestBrowser' $(CONCURRENT)

sequential:
	$(ROOM) $(TEST) $(filter-out $(CONCURRENT),$(shell $(GO) list $(TAGS) ./...))

browser:
	$(TEST) -run '^TestBrowser' ./tools/web

lint: ## gofmt, go vet, staticcheck
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	$(RARELY) $(YIELDING) $(GO) vet $(TAGS) ./...
	GOGC=off GOMEMLIMIT=2GiB $(YIELDING) $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 $(TAGS) ./...

check: lint test ## everything that must hold before a change lands

demo: build ## watch a real workload run on a throw-away cell of four hosts
	@bin/quill demo

demo-algorithms: build ## watch one stream of jobs under each scheduling algorithm, swapped while it runs
	@bin/quill demo --algorithms

bench: build ## measure submit, latency, throughput, recovery, listings and scheduling runs
	@bin/quill bench all

bench-check: ## compare what the main benchmarks allocate with the committed baseline (minutes)
	$(YIELDING) $(TEST) -count=1 ./tools/bench -run 'TestBaseline|TestCompareCosts' -v -baseline

# As root it needs two accounts without privileges, else the attacks of another user are left out.
attack: build ## attack a throw-away cell for five minutes while an honest user works; exits with 1 if a bar is missed
	@bin/quill attack

attack-planted: ## build the daemons with each fault of tools/attack/testdata/planted, and check that quill attack finds it (half an hour, as root)
	$(GO) test $(TAGS) -count=1 -timeout 120m ./tools/attack -run TestPlanted -planted -v

soak: ## the long laws: thousands of seeds, whole workload logs under every policy (minutes)
	$(GO) test -count=1 -timeout 60m ./tools/simulator -run TestLaws -seeds 5000
	$(GO) test -count=1 -timeout 60m ./tools/simulator -run TestExplained -seeds 2000
	for seed in 1 2 3 4 5 6 7 8; do $(GO) test -count=1 -timeout 60m ./tools/simulator -run TestEveryAppend -seed $$seed -requests 100 || exit 1; done
	$(GO) test -count=1 -timeout 60m $$(grep -l 'algorithmtest.Run(' schedd/algorithm/*/*_test.go | xargs -n1 dirname | sort -u | sed 's,^,./,') -run TestLaws -seeds 1000
	$(GO) test -count=1 -timeout 60m ./tools/whatif -seeds 2000
	$(GO) test -count=1 -timeout 60m ./tools/decide -seeds 50
	$(GO) test -count=1 -timeout 60m ./tools/simulator/workload -long
	$(GO) test -count=1 -timeout 60m ./qmaster/core ./execd/core -run TestMadeUpWords -seeds 20000
	$(GO) test -count=1 -timeout 60m ./qmaster/core -run TestMadeUpMessages -seeds 500
	grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z]*' . | sed 's,/[^/]*:func , ,' | while read dir name; do \
	  $(GO) test -timeout 60m $$dir -run '^$$' -fuzz "^$$name\$$" -fuzztime 5m || exit 1; \
	done
	$(GO) test -count=1 -timeout 60m ./schedd -run 'TestMadeUpEvents|TestSwaps' -seeds 2000
	$(GO) test -count=1 -timeout 60m ./tools/quill -run 'TestReplicas|TestPartition|TestMajority' -rounds 10
	$(GO) test -count=1 -timeout 60m ./tools/quill -run TestKilledDaemons -tasks 10000

powercut: ## cut the power of a cell at random moments; needs root and a loop device (minutes)
	$(GO) test -count=1 -timeout 60m ./tools/quill -run TestPowerCut -v -cuts 50

vmtest: ## test the installed units on a real kernel with systemd: shutdown, power failure, memory; needs root and ../shared/vm (minutes)
	rm -rf dist/vm
	$(MAKE) install DESTDIR=$(CURDIR)/dist/vm
	$(GO) test -c -o dist/vm/usr/lib/quill-test/shepherd.test ./execd/shepherd
	QUILL_DESTDIR=$(CURDIR)/dist/vm $(GO) test -count=1 -timeout 90m ./tools/quill -run TestVM -v -vm

# Without a C compiler everything but the library is installed.
install: build $(if $(shell command -v gcc),install-drmaa) ## install the commands, manual pages, completion, libdrmaa, systemd units for a cell in $(CELL), and its SGE_ROOT for shells
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)/etc/systemd/system $(DESTDIR)/etc/profile.d $(DESTDIR)/etc/default
	install -d -m 755 $(DESTDIR)$(CELL)
	install -m 755 bin/quill bin/quill-daemon bin/quill-lab $(DESTDIR)$(PREFIX)/bin
	$(DESTDIR)$(PREFIX)/bin/quill links $(DESTDIR)$(PREFIX)/bin
	$(DESTDIR)$(PREFIX)/bin/quill manual --install $(DESTDIR)$(PREFIX)/share/man
	$(DESTDIR)$(PREFIX)/bin/quill completion --install $(DESTDIR)$(PREFIX)/share
	for d in qmaster schedd execd shepherd web; do \
	  $(DESTDIR)$(PREFIX)/bin/quill unit --prefix $(PREFIX) --root $(CELL) $$d > $(DESTDIR)/etc/systemd/system/quill-$$d.service || exit 1; \
	done
	@test -n '$(DESTDIR)' || getent passwd quill-web >/dev/null || useradd --system --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin quill-web || \
	  echo 'quill-web.service needs an account quill-web' >&2
	echo 'export SGE_ROOT=$(CELL)' > $(DESTDIR)/etc/profile.d/quill.sh
	touch $(DESTDIR)/etc/default/quill && sed -i '/^SGE_ROOT=/d' $(DESTDIR)/etc/default/quill
	echo 'SGE_ROOT=$(CELL)' >> $(DESTDIR)/etc/default/quill
	@test -n '$(DESTDIR)' || ldconfig 2>/dev/null || echo 'programs find libdrmaa after: ldconfig (as root)' >&2

install-drmaa: drmaa ## install the DRMAA library and its header
	install -d $(DESTDIR)$(PREFIX)/lib $(DESTDIR)$(PREFIX)/include
	install -m 644 lib/libdrmaa.so.1.0 $(DESTDIR)$(PREFIX)/lib
	ln -sf libdrmaa.so.1.0 $(DESTDIR)$(PREFIX)/lib/libdrmaa.so
	install -m 644 tools/drmaa/drmaa.h $(DESTDIR)$(PREFIX)/include

# An archive holds the programs and the licence; `quill links DIR` makes the links.
release: check build ## run all checks and write archives with checksums to dist/ (tag first: git tag -a vX.Y.Z)
	rm -rf dist && mkdir -p dist
	for arch in amd64 arm64; do \
	  name=quill-$(VERSION)-linux-$$arch; mkdir -p dist/$$name && \
	  GOOS=linux GOARCH=$$arch $(BUILD) -o dist/$$name/ ./tools/quill ./tools/quill-daemon ./tools/quill-lab && \
	  cp LICENSE README.md dist/$$name/ && mkdir dist/$$name/manual && cp tools/manual/*.md dist/$$name/manual/ && bin/quill manual --install dist/$$name/man && \
	  tar -C dist --owner=0 --group=0 --sort=name -czf dist/$$name.tar.gz $$name && rm -r dist/$$name || exit 1; \
	done
	cd dist && sha256sum *.tar.gz > SHA256SUMS && cat SHA256SUMS

clean: ## remove what was built
	rm -rf bin lib dist
