#!/usr/bin/env bash
# Sets the micro-benchmarks of this tree against those of another commit.
#
#   perf/compare.sh BASE [PACKAGE ...]      default: every package with benchmarks
#
# Both trees are built first; then the runs are interleaved, base and head in turn, since two
# shared cores lie and what disturbs one run must not hit one side only. Ends with benchstat.
#   RUNS=10  BENCH=.  BENCHTIME=0.3s
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
base=$1
shift
top=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
cd "$top"
hash=$(git rev-parse --verify --short "$base^{commit}")
work=$(mktemp -d)
trap 'git worktree remove --force "$work/tree" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/tree" "$hash"

# The test binary of each package that has a benchmark, in both trees.
build() { # SIDE PACKAGE
	go test -c -o "$work/$1/$(tr / _ <<<"$2").test" "./$2"
}
packages=("$@")
if [ ${#packages[@]} -eq 0 ]; then
	mapfile -t packages < <(git grep -l '^func Benchmark' -- '*_test.go' | xargs -n1 dirname | sort -u)
fi
mkdir "$work/base" "$work/head"
ready=()
for package in "${packages[@]}"; do
	package=${package#./}
	build head "$package"
	if (cd "$work/tree" && build base "$package") 2>/dev/null; then
		ready+=("$package")
	else
		echo "compare: $package does not exist in $hash, left out" >&2
	fi
done
[ ${#ready[@]} -gt 0 ] || { echo "compare: nothing to compare" >&2; exit 1; }

for ((run = 1; run <= ${RUNS:-10}; run++)); do
	echo "compare: run $run of ${RUNS:-10}" >&2
	for package in "${ready[@]}"; do
		for side in base head; do
			tree=$top
			[ "$side" = head ] || tree=$work/tree
			(cd "$tree/$package" && "$work/$side/$(tr / _ <<<"$package").test" -test.run '^$' \
				-test.bench "${BENCH:-.}" -test.benchmem -test.benchtime "${BENCHTIME:-0.3s}") |
				grep -E '^(Benchmark|pkg:|goos:|goarch:|cpu:)' >>"$work/$side.txt"
		done
	done
done
go run golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da "base=$work/base.txt" "head=$work/head.txt"
