#!/bin/sh
# Runs the suite of the current folder in N shards (default 4) with GNU parallel: as many at once as there are cores,
# and with --sshlogin on other machines (docs/scale.md). Each answer is one line, so merge can read them from a pipe.
N=${1:-4}
seq "$N" | parallel "pytest-mcp run --shard {}/$N --json" | pytest-mcp merge -
