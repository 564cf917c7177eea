# SPDX-License-Identifier: GPL-3.0-or-later
"""Work for a whole machine, from a distribution's own packages: a compiler, Python, a browser, a database, shell scripts, Node."""
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile

import turns

sys.path.insert(0, str(turns.ROOT / 'tests/flame'))
import browser  # noqa: E402

# Titles of programs, by the first word of the command line without folders. A star stands for any text.
CLASSES = {
    'compiler': ('gcc', 'g++', 'cc', 'c++', 'cc1', 'cc1plus', 'as', 'ld', 'collect2', 'x86_64-linux-gnu*', 'cpp'),
    'Python': ('python3*',),
    'browser': ('chromium*', 'chrome*'),
    'database': ('postgres*', 'psql', 'pgbench', 'sqlite3', 'checkpointer', 'walwriter'),
    'shell scripts': ('sh', 'dash', 'bash', 'ls', 'grep', 'sed', 'mawk', 'awk', 'find', 'expr', 'cat', 'sort', 'wc', 'cut', 'tr',
                      'head', 'seq', 'date', 'basename', 'true', 'gzip', 'xargs', 'uniq'),
    'Node': ('node', 'nodejs'),
}
RECORDERS = 'the recorders'

COMPILER = """
cat >work.cc <<'END'
#include <algorithm>
#include <map>
#include <regex>
#include <string>
int main (int argc, char **argv)
{
  std::map<std::string, int> counts;
  for (int i = 0; i < argc; i++)
    counts[argv[i]] += std::regex_match (argv[i], std::regex ("[a-z]+"));
  return (int) counts.size ();
}
END
cat >work.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main (int argc, char **argv) { for (int i = 0; i < argc; i++) printf ("%d %s\\n", i * i, argv[i]); return rand (); }
END
while :; do gcc -O2 -o work work.c; gcc -O2 -c work.c; g++ -O2 -c work.cc; done
"""

PYTHON = """
cat >work.py <<'END'
import json, random, re, sqlite3, zlib
for _ in range(8):
    text = json.dumps([{'n': i, 's': re.sub('[13579]', 'odd', str(random.random()))} for i in range(4000)])
    zlib.compress(text.encode())
    database = sqlite3.connect(':memory:')
    database.execute('CREATE TABLE t (n, s)')
    database.executemany('INSERT INTO t VALUES (:n, :s)', json.loads(text))
    sorted(database.execute('SELECT s, count(*) FROM t GROUP BY s'), key=lambda row: row[0][::-1])
END
while :; do /usr/bin/python3 work.py; done
"""

SHELL = """
while :; do
  ls -l /usr/bin | awk '{ n += $5 } END { print n }'
  for i in $(seq 5); do expr $i \\* $i; basename /a/b/$i; done
  find /usr/share/doc -maxdepth 2 -name 'c*' | sed 's/[aeiou]/./g' | sort | uniq | wc -l
  date | cut -d ' ' -f 4 | tr : ' '
  grep -c bin /etc/passwd
done
"""

SQLITE = """
while :; do
  echo 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<300000)
        SELECT count(*), sum(length(s)) FROM (SELECT printf("%d-%s", x % 1000, hex(x)) AS s FROM c) GROUP BY substr(s, 1, 2);' | sqlite3
done
"""

NODE = """
const zlib = require('zlib');
function fibonacci(n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
for (;;) {
  const rows = [];
  for (let i = 0; i < 20000; i++) rows.push({ n: i, s: String(Math.random()) });
  zlib.deflateSync(JSON.stringify(rows.sort((a, b) => a.s < b.s ? -1 : 1)));
  JSON.parse(JSON.stringify(rows)).map((row) => row.s.replace(/[13579]/g, 'odd'));
  fibonacci(27);
}
"""

PAGE = """<!DOCTYPE html><meta charset=utf-8><title>busy</title><canvas id=c width=600 height=300></canvas><div id=d></div>
<script>
function fibonacci(n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
function work() {
  const rows = [];
  for (let i = 0; i < 300; i++) rows.push('<p style="float:left;width:' + (20 + i % 50) + 'px">' + Math.random() + '</p>');
  d.innerHTML = rows.join('');
  let height = 0;
  for (const p of d.children) height += p.offsetHeight;
  const g = c.getContext('2d');
  for (let i = 0; i < 200; i++) { g.fillStyle = 'hsl(' + i + ' 80% 50%)'; g.beginPath(); g.arc(i * 3, 150, 40, 0, 7); g.fill(); }
  JSON.parse(JSON.stringify(rows)).sort();
  fibonacci(20);
  setTimeout(work, 5);
}
work();
</script>
"""


def class_of(command):
    """Returns the title for a command line, or for the name that a program gives itself."""
    name = pathlib.PurePath(command.split(' ')[0].rstrip(':') or '?').name
    if name in ('sysprof-cli', 'perf'):
        return RECORDERS
    for title, names in CLASSES.items():
        if any(name == pattern or pattern.endswith('*') and name.startswith(pattern[:-1]) for pattern in names):
            return title
    return 'all else'


class Database:
    """PostgreSQL with a folder of its own, and pgbench as its client."""

    def __init__(self):
        programs = sorted(pathlib.Path('/usr/lib/postgresql').glob('*/bin'))
        if not programs or not (programs[-1] / 'pgbench').exists():
            raise FileNotFoundError('PostgreSQL is not installed')
        self.bin = programs[-1]
        self.folder = tempfile.mkdtemp(prefix='sysprof-database-', dir='/var/tmp')
        self.processes = []
        try:
            self.start()
        except BaseException:
            self.end()
            raise

    def start(self):
        account = pwd.getpwnam('postgres')
        os.chown(self.folder, account.pw_uid, account.pw_gid)
        self.user = ['setpriv', f'--reuid={account.pw_uid}', f'--regid={account.pw_gid}', '--clear-groups']
        data = f'{self.folder}/data'
        self.run('initdb', '-D', data, '--no-sync', '-A', 'trust')
        self.go_on('postgres', '-D', data, '-k', self.folder, '-c', 'listen_addresses=', '-c', 'fsync=off')
        for _ in range(100):
            if self.run('pg_isready', '-h', self.folder, '-t', '1', check=False).returncode == 0:
                break
        self.run('pgbench', '-h', self.folder, '-i', '-s', '2', '-q', 'postgres')
        self.go_on('pgbench', '-h', self.folder, '-c', '2', '-T', '100000', 'postgres')

    def go_on(self, program, *words):
        self.processes.append(turns.start([*self.user, self.bin / program, *words], start_new_session=True)[0])

    def run(self, program, *words, check=True):
        return subprocess.run([*self.user, self.bin / program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=check,
                              cwd=self.folder)

    def end(self):
        turns.end_groups(reversed(self.processes))
        shutil.rmtree(self.folder, ignore_errors=True)


class Browser:
    """A headless browser with a page that computes, lays itself out and draws."""

    def __init__(self, directory):
        if browser.find() is None:
            raise FileNotFoundError('Chromium is not installed')
        page = pathlib.Path(directory, 'busy.html')
        page.write_text(PAGE)
        self.browser = browser.Browser().__enter__()
        try:
            self.browser.open(page)
        except BaseException:
            self.end()
            raise

    def end(self):
        self.browser.__exit__()


class Script:
    def __init__(self, words, directory, text=None):
        if not shutil.which(words[0]):
            raise FileNotFoundError(f'{words[0]} is not installed')
        folder = tempfile.mkdtemp(dir=directory)
        if text:
            pathlib.Path(folder, 'work.js').write_text(text)
        self.process, _ = turns.start(words, cwd=folder, start_new_session=True)

    def end(self):
        turns.end_groups([self.process])


class Machine:
    """All of it at once; what is not installed is left out, and told."""

    def __init__(self, directory, only=None):
        """`only`: titles of the work to run."""
        self.parts = []
        try:
            self.start(directory, only)
        except BaseException:
            self.end()
            raise

    def start(self, directory, only):
        for title, start in {
                'compiler': lambda: Script(['sh', '-c', COMPILER], directory),
                'Python': lambda: Script(['sh', '-c', PYTHON], directory),
                'browser': lambda: Browser(directory),
                'database': Database,
                'database, SQLite': lambda: Script(['sh', '-c', SQLITE], directory),
                'shell scripts': lambda: Script(['sh', '-c', SHELL], directory),
                'Node': lambda: Script(['node', 'work.js'], directory, NODE),
        }.items():
            if only and title not in only:
                continue
            try:
                self.parts.append(start())
            except (OSError, subprocess.CalledProcessError, KeyError) as error:
                print(f'   {title}: left out: {error}')

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.end()

    def end(self):
        for part in self.parts:
            part.end()
