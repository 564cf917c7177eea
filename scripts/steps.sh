# SPDX-License-Identifier: GPL-3.0-or-later
# Functions for scripts that run several builds and test suites and end with one tally. Source this file in the top directory.
# shellcheck shell=sh
failed=0
logs=

# step COMMAND...: runs it and records a failure, but continues.
step () {
  echo "== $(date +%T) $*"
  "$@" && return 0
  echo "FAILED: $*"
  failed=1
  return 1
}

# suite DIRECTORY LOG-NAME [MESON-TEST-OPTION...]: runs tests. Tests that fail are in the log, which the tally reads.
suite () {
  directory=$1 log=$2
  shift 2
  logs="$logs $directory/meson-logs/$log.json"
  echo "== $(date +%T) test $directory $*"
  scripts/test "$directory" --logbase "$log" "$@"
}

# tally: prints skips, failures and the slowest tests. The last line has the counts. Its status is that of the whole run.
tally () {
  echo "== $(date +%T) tally"
  [ "$failed" = 0 ] || logs="$logs ./a-step-failed"
  # shellcheck disable=SC2086 # a list of names without blanks
  python3 scripts/tally.py $logs
}

# Options of builds that leave out what no compiler and no sanitizer changes.
few='-Dslow=false -Dintrospection=disabled -Dvapi=disabled -Ddocs=disabled'
