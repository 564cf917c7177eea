# SPDX-License-Identifier: GPL-3.0-or-later
# Folds what `perf script -F comm,ip,sym` prints, a stack of lines and an empty one each, to "comm;outer;inner count".
/^$/ { if (n) { line = comm; while (n) line = line ";" frame[n--]; count[line]++ } next }
/^[^ \t]/ { comm = $1; n = 0; next }
{ $1 = ""; frame[++n] = substr($0, 2) }
END { if (n) { line = comm; while (n) line = line ";" frame[n--]; count[line]++ } for (line in count) print line, count[line] }
