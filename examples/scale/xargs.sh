#!/bin/sh
# Runs the suite of the current folder in N shards (default 4), as many at once as there are cores. The exit codes of
# the shards do not matter: merge exits with 0 only if all of them are there and passed.
N=${1:-4}
answers=$(mktemp -d)
seq "$N" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 1 \
    sh -c 'pytest-mcp run --shard "$3/$1" --json > "$2/$3.json"' shard "$N" "$answers"
pytest-mcp merge "$answers"/*.json
status=$?
rm -r "$answers"
exit $status
