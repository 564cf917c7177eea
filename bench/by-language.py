#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the share of complete stacks in single programs whose code is not plain C: languages, C libraries,
ways to build.

Each program runs before it is recorded. Truncated stacks are printed with their reason and with the advice
of the report. Languages that are not installed are skipped."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import time

import turns

WORK_C = r"""
#include <stdint.h>
#include <stdlib.h>
static int numbers[20000];
static volatile uint64_t sink;
static int compare (const void *a, const void *b)
{
  uint64_t value = (uint64_t) *(const int *) a;
  for (int i = 0; i < 20; i++)
    value = value * 6364136223846793005u + 1;
  sink = value;
  return (*(const int *) a > *(const int *) b) - (*(const int *) a < *(const int *) b);
}
static __attribute__ ((noinline)) void descend (int depth)
{
  volatile char local[64];
  local[depth & 63] = 1;
  if (depth > 0)
    descend (depth - 1);
  else
    {
      for (int i = 0; i < 20000; i++)
        numbers[i] = rand ();
      qsort (numbers, 20000, sizeof numbers[0], compare);
    }
  local[0] = 2;
}
int main (void) { for (;;) descend (10); }
"""

SIGNALS_C = r"""
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
void restorer (void);
/* What a program that does without the C library's has: no call-frame rule. */
__asm__ (".text\n.globl restorer\n.type restorer, @function\nrestorer: mov $15, %rax\n syscall\n.size restorer, .-restorer\n");
struct kernel_action { void (*handler) (int); unsigned long flags; void (*restorer) (void); unsigned long mask; };
static volatile uint64_t sink;
static __attribute__ ((noinline)) void compute (int n)
{
  uint64_t value = sink;
  while (n-- > 0)
    value = value * 6364136223846793005u + 1;
  sink = value;
}
static void handle (int number) { compute (400000); sink++; }
int main (void)
{
  struct kernel_action action = { handle, 0x04000000 /* SA_RESTORER */, restorer, 0 };
  struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
  syscall (SYS_rt_sigaction, SIGPROF, &action, NULL, 8);
  setitimer (ITIMER_PROF, &every, NULL);
  for (;;) { compute (1000); sink++; }
}
"""

BITS_32_C = r"""
static volatile unsigned sink;
static __attribute__ ((noinline)) void compute (unsigned n) { while (n-- > 0) sink = sink * 1103515245u + 12345u; }
static __attribute__ ((noinline)) void descend (int depth)
{
  if (depth > 0)
    descend (depth - 1);
  else
    compute (100000);
  sink++;
}
void _start (void) { for (;;) descend (10); }
"""

WORK_RS = r"""
use std::collections::HashMap;
fn work(n: u64) -> usize {
    let mut counts: HashMap<String, u64> = HashMap::new();
    for i in 0..n { *counts.entry(format!("{}", i.wrapping_mul(6364136223846793005) % 1000)).or_insert(0) += i; }
    let mut rows: Vec<_> = counts.into_iter().collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    rows.len()
}
fn main() {
    std::thread::spawn(|| loop { std::hint::black_box(work(5000)); });
    loop { std::hint::black_box(work(5000)); }
}
"""

WORK_GO = r"""
package main
import ("fmt"; "sort"; "strings")
func work(n int) int {
	counts := map[string]int{}
	for i := 0; i < n; i++ { counts[fmt.Sprint(i*6364136223846793005%1000)] += i }
	rows := make([]string, 0, len(counts))
	for name := range counts { rows = append(rows, strings.ToUpper(name+"x")) }
	sort.Strings(rows)
	return len(rows)
}
func main() {
	go func() { for { work(5000) } }()
	for { work(5000) }
}
"""

WORK_JAVA = r"""
import java.util.*;
public class Work {
  static int work(int n) {
    Map<String, Integer> counts = new HashMap<>();
    for (int i = 0; i < n; i++) counts.merge(Integer.toString((i * 1103515245 >>> 8) % 1000), i, Integer::sum);
    List<String> rows = new ArrayList<>(counts.keySet());
    Collections.sort(rows);
    return rows.size();
  }
  public static void main(String[] words) { long n = 0; for (;;) n += work(5000); }
}
"""

WORK_JS = r"""
for (;;) {
  const rows = [];
  for (let i = 0; i < 20000; i++) rows.push({ n: i, s: String(Math.random()) });
  JSON.parse(JSON.stringify(rows)).sort((a, b) => a.s < b.s ? -1 : 1).map((row) => row.s.replace(/[13579]/g, 'odd'));
}
"""

WORK_PY = r"""
import json, random, re
while True:
    text = json.dumps([{'n': i, 's': re.sub('[13579]', 'odd', str(random.random()))} for i in range(4000)])
    sorted(json.loads(text), key=lambda row: row['s'])
"""

C_FLAGS = ['-O2', '-fomit-frame-pointer']
# title, what makes the program (words, or nothing), its source's name and text, what starts it (words)
PROGRAMS = [
    ('Python', None, 'work.py', WORK_PY, ['/usr/bin/python3', 'work.py']),
    ('Rust', ['rustc', '-O', '-o', 'rust-work', 'work.rs'], 'work.rs', WORK_RS, ['./rust-work']),
    ('Rust, panic=abort', ['rustc', '-O', '-C', 'panic=abort', '-o', 'abort-work', 'work.rs'], 'work.rs', WORK_RS, ['./abort-work']),
    ('Rust, panic=abort with tables', ['rustc', '-O', '-C', 'panic=abort', '-C', 'force-unwind-tables', '-o', 'tables-work', 'work.rs'],
     'work.rs', WORK_RS, ['./tables-work']),
    ('static glibc', ['cc', *C_FLAGS, '-static', '-o', 'static-work', 'work.c'], 'work.c', WORK_C, ['./static-work']),
    ('without call-frame rules', ['cc', *C_FLAGS, '-fno-asynchronous-unwind-tables', '-o', 'bare-work', 'work.c'], 'work.c', WORK_C,
     ['./bare-work']),
    ('musl, called back by qsort', ['musl-gcc', *C_FLAGS, '-o', 'musl-work', 'work.c'], 'work.c', WORK_C, ['./musl-work']),
    ('musl, static', ['musl-gcc', *C_FLAGS, '-static', '-o', 'musl-static', 'work.c'], 'work.c', WORK_C, ['./musl-static']),
    ('signal trampoline without rule', ['cc', *C_FLAGS, '-o', 'signals', 'signals.c'], 'signals.c', SIGNALS_C, ['./signals']),
    ('32 bits', ['cc', '-m32', '-ffreestanding', '-nostdlib', '-static', '-fno-pic', '-no-pie', '-O1', *C_FLAGS[1:],
                 '-fno-optimize-sibling-calls', '-o', 'bits-32', 'bits32.c'], 'bits32.c', BITS_32_C, ['./bits-32']),
    ('32 bits, frame pointers', ['cc', '-m32', '-ffreestanding', '-nostdlib', '-static', '-fno-pic', '-no-pie', '-O1',
                                 '-fno-omit-frame-pointer', '-fno-optimize-sibling-calls', '-o', 'bits-32-fp', 'bits32.c'], 'bits32.c',
     BITS_32_C, ['./bits-32-fp']),
    ('the loader, as programs start', None, 'none', '', ['sh', '-c', 'while :; do /bin/true; done']),
    ('Go', ['go', 'build', '-o', 'go-work', 'work.go'], 'work.go', WORK_GO, ['./go-work']),
    ('Node', None, 'work.js', WORK_JS, ['node', 'work.js']),
    ('Java', ['javac', 'Work.java'], 'Work.java', WORK_JAVA, ['java', '-cp', '.', 'Work']),
    ('Java, -XX:+PreserveFramePointer', ['javac', 'Work.java'], 'Work.java', WORK_JAVA,
     ['java', '-XX:+PreserveFramePointer', '-cp', '.', 'Work']),
]


def report(*words):
    done = subprocess.run([turns.REPORT, *words, '--format', 'json', '--limit', '0'], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)['rows']


def make(command, source, text, directory):
    """Why not, or None."""
    pathlib.Path(directory, source).write_text(text)
    if command is None:
        return None
    if not shutil.which(command[0]):
        return f'{command[0]} is not installed'
    environment = dict(os.environ, GOCACHE=f'{directory}/go-cache', GO111MODULE='off', GOFLAGS='')
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)
    return None if done.returncode == 0 else f'cannot be built: {(done.stderr.strip() or "?").splitlines()[-1]}'


def measure(title, start, options, directory):
    name = pathlib.PurePath('/bin/true' if 'loader' in title else start[0]).name
    capture = f'{directory}/run.syscap'
    program, _ = turns.start(start, cwd=directory, start_new_session=True)
    time.sleep(options.warm_up)
    done = subprocess.run([turns.CLI, '-f', '--quiet', '-F', str(options.frequency), '--unwind', options.unwind, '-d',
                           str(options.seconds), capture], capture_output=True, text=True)
    turns.end_groups([program])
    if done.returncode != 0:
        print(f'   {title:34} not recorded: {done.stderr.strip()}')
        return

    rows = [row for row in report('samples', '--process', name, capture)
            if not row['complete'] or any(entry['kind'] not in ('kernel', 'marker') for entry in row['stack'])]
    whole = sum(row['complete'] for row in rows)
    depth = sum(len(row['stack']) for row in rows) / max(len(rows), 1)
    print(f'   {title:34} {100 * whole / max(len(rows), 1):7.2f} % of {len(rows):5} whole, {depth:.0f} functions deep')
    advice = {row['reason'] + row['binary']: row for row in report('quality', '--process', name, capture)}
    cut = [row for row in advice.values() if 'truncated' in row['reason']]
    for row in sorted(cut, key=lambda row: -row['samples'])[:options.most]:
        print(f'      {100 * row["samples"] / max(len(rows), 1):6.2f} % {row["reason"]}: {row["binary"] or "(no file)"}'
              + (f'; {row["remedy"]}' if row['remedy'] else ''))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=3, help='of each recording')
    parser.add_argument('--warm-up', type=float, default=1.5, help='seconds that the program runs before')
    parser.add_argument('--frequency', type=int, default=1000)
    parser.add_argument('--unwind', default='tables', help='how ours finds stacks')
    parser.add_argument('--most', type=int, default=3, help='reasons per program')
    parser.add_argument('--only', action='append', help='titles that begin so')
    options = parser.parse_args()

    turns.heading('whole stacks by language, C library and way to build')
    with turns.scratch() as directory:
        for title, command, source, text, start in PROGRAMS:
            if options.only and not title.startswith(tuple(options.only)):
                continue
            problem = make(command, source, text, directory)
            if problem is None and not shutil.which(start[0], path=directory + ':' + os.environ['PATH']) and '/' not in start[0]:
                problem = f'{start[0]} is not installed'
            if problem is None:
                measure(title, start, options, directory)
            else:
                print(f'   {title:34} left out: {problem}')


if __name__ == '__main__':
    main()
