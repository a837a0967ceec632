#!/usr/bin/env bash
# Runs the small scenarios against the reference Company, each on ports of its own, and stops it whatever happens.
#
# Usage: interop/ci.sh [PROGRAM]     PROGRAM is the poppyfield to test (target/release/poppyfield).
#
# Without Python, or without the package, it says so and is done, since neither is part of this project;
# POPPYFIELD_INTEROP=required makes that an error.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${1:-target/release/poppyfield}
work=$(mktemp -d)
company=

stop() {
  if [ -n "$company" ]; then
    kill "$company" 2> "$work/kill.txt" || true
    wait "$company" || true
    company=
  fi
}
trap 'stop; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

skip() {
  printf '\n!! SKIPPED: %s. Nothing was run against the reference Company.\n\n' "$*"
  [ "${POPPYFIELD_INTEROP:-}" = required ] && exit 1
  exit 0
}

command -v "${PYTHON:-python3}" > "$work/python.txt" || skip "there is no python3"
interop/setup.sh || skip "personal-agent-protocol cannot be installed"
python=interop/venv/bin/python

# Starts the Company with these options, and writes target files for where it is.
start() {
  stop
  rm -rf "$work/state"
  "$python" interop/launch.py --port 0 --control-port 0 --state "$work/state" --for 600 "$@" > "$work/company.txt" 2>&1 &
  company=$!
  for _ in $(seq 300); do
    [ -f "$work/state/ready.json" ] && break
    kill -0 "$company" 2> "$work/kill.txt" || { echo "the Company did not start"; cat "$work/company.txt"; exit 1; }
    sleep 0.1
  done
  [ -f "$work/state/ready.json" ] || { echo "the Company was not ready in 30 s"; cat "$work/company.txt"; exit 1; }
  address=$(ready address)
  control=$(ready control)
  local file
  for file in interop/target-*.yaml; do
    sed -e "s#127\.0\.0\.1:18443#$address#" -e "s#http://127\.0\.0\.1:18444#$control#" "$file" > "$work/$(basename "$file")"
  done
}

ready() { "$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$work/state/ready.json" "$1"; }

# A request at the control port: `ask /performed '{}'`.
ask() {
  "$python" -c 'import sys, urllib.request as u; print(u.urlopen(u.Request(sys.argv[1], sys.argv[2].encode(), {"content-type": "application/json"}), timeout=90).read().decode())' \
    "$control$1" "$2"
}

# Runs a scenario against the target of that name; `restart_after=SECONDS run …` restarts the Company meanwhile. A run that could not keep its schedule on a busy machine says so
# (exit 4) and proves nothing either way: once more.
run() {
  local scenario=$1 target=$2 status=4 try restarting
  for try in 1 2 3; do
    restarting=
    if [ -n "${restart_after:-}" ]; then
      (sleep "$restart_after"; ask /restart '{"down_seconds": 1}' > "$work/restart.txt") &
      restarting=$!
    fi
    "$bin" run "interop/scenarios/$scenario.yaml" --target "$work/target-$target.yaml" --out "$work/results" \
      > "$work/said.txt" 2>&1 && status=0 || status=$?
    [ -z "$restarting" ] || wait "$restarting"
    [ "$status" -eq 4 ] || break
  done
  return "$status"
}

holds() {
  local scenario=$1 target=$2 what=$3 status=0 began=$SECONDS
  run "$scenario" "$target" || status=$?
  # What this Company was about when it stopped stays in progress for ever: a true finding (docs/interop.md), rarely met.
  if [ "$status" -eq 1 ] && [ -n "${restart_after:-}" ] &&
    [ "$(grep -o -E '^[a-z-]+, (once|twice|[0-9]+ times) ' "$work/said.txt" | cut -d, -f1)" = unresolved-at-quiescence ]; then
    echo "$scenario, $what: exit 1, unresolved-at-quiescence"
    return
  fi
  if [ "$status" -ne 0 ]; then
    echo "$scenario, $what: exit $status"; cat "$work/said.txt" "$work/company.txt"; exit 1
  fi
  echo "$scenario, $what: exit 0 after $((SECONDS - began)) s; $(grep -h -o '^Performed .*' "$work/said.txt" | tr -s ' ' || echo 'no count')"
}

start
for scenario in timeout-recovery revision-race confirm-storm; do
  holds "$scenario" manzanita "as it is"
  grep -q '^Performed .*none more than once' "$work/said.txt" || { echo "no count of performances"; cat "$work/said.txt"; exit 1; }
done
holds no-extension plain "an Agent without the extension"
[ "$(ask /performed '{}' | "$python" -c 'import json, sys; print(json.load(sys.stdin)["more_than_once"])')" = "{}" ] || {
  echo "the Company performed something more than once: $(ask /performed '{}')"; exit 1
}

restart_after=6 holds timeout-recovery manzanita "restarted in mid-run"

start --delay 4
holds timeout-recovery manzanita "--delay 4"
start --nonce --nonce-seconds 5
holds confirm-storm manzanita "--nonce"
start --operation-seconds 5
holds expiry-edge manzanita "--operation-seconds 5"

stop
status=0
run confirm-storm manzanita || status=$?
if [ "$status" -ne 5 ] || ! grep -q "$address" "$work/said.txt"; then
  echo "not started: exit $status instead of 5"; cat "$work/said.txt"; exit 1
fi
echo "not started: exit 5"

# 192.0.2.1 is set aside for documentation (RFC 5737): nobody is there, and nothing may be sent there.
sed -i "s#$address#192.0.2.1:443#" "$work/target-manzanita.yaml"
status=0
run confirm-storm manzanita || status=$?
if [ "$status" -ne 2 ] && [ "$status" -ne 5 ] || ! grep -q -e '--i-may-load-this-target' "$work/said.txt"; then
  echo "not a loopback address: exit $status"; cat "$work/said.txt"; exit 1
fi
echo "not a loopback address: refused, exit $status"
