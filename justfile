# The verbs of the house. `just` alone, or `just check`, is what must pass before a commit.

go := "go"
peers := env("KILN_PEERS", "")

# What must pass before a commit: fast, and with Go alone.
check: fmt vet tidy test

# Rewrites every file as gofmt wants it, and names those it had to change.
fmt:
    gofmt -l -w actors wire commands durability ai cmd conformance perf

# Vets every package, as it is and as it is built for tests of invariants.
vet:
    {{go}} vet ./...
    {{go}} vet -tags invariants ./...

# The linters of .golangci.yml; pinned, fetched on first use.
lint:
    {{go}} run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run ./...

# All tests, with borrowed memory scribbled over after use.
test *args:
    {{go}} test -tags invariants {{args}} ./...

# All tests under the race detector (needs a C compiler).
race *args:
    CGO_ENABLED=1 {{go}} test -race -tags invariants {{args}} ./...

# The transcripts, replayed against our own server.
conform *args:
    {{go}} test -count 1 ./conformance {{args}}

# Rewrites the transcripts from a real Redis (KILN_PEERS holds redis-server). Read the diff.
record *args:
    KILN_REFERENCE="{{peers}}/redis-server" {{go}} test -count 1 ./conformance -record {{args}}

# Every fuzz target for ten seconds.
fuzz time="10s":
    #!/usr/bin/env bash
    set -euo pipefail
    for package in $({{go}} list ./...); do
        for target in $({{go}} test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
            echo "$package $target"
            {{go}} test -run '^$' -fuzz "^$target\$" -fuzztime {{time}} "$package"
        done
    done

# The micro-benchmarks; `just bench ./commands -bench Exec/get` for some of them.
bench *args="./...":
    {{go}} test -run '^$' -bench . -benchmem {{args}}

# This tree against another commit, ten interleaved runs of the micro-benchmarks each.
compare base *args:
    perf/compare.sh {{base}} {{args}}

# The tree's own manners.
tidy:
    {{go}} test -count 1 ./conformance/tidy

# Starts a server; `just run --port 7000`.
run *args:
    {{go}} run ./cmd/kiln {{args}}
