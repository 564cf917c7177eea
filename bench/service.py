#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares a recording of the whole machine by an ordinary user, with the rights of sysprofd, with the same recording by root.

The load is programs of the distribution, run by root. Each ends after the same CPU time, so that its samples can be compared on a
busy machine. The service runs on a private system bus with real polkit, which permits it to a user that exists only for this
benchmark. The recordings alternate; with --together both run at the same time, for machines with other load: then the CPU times can
be compared, too.

CPU times are those of the recorder with its children and of the service with its children: from the first to the last moment of the
load, and of the whole recording with its start and its symbols."""
import argparse
import contextlib
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys

import recorders
import turns

sys.path.insert(0, str(turns.ROOT / 'tests/sysprofd'))
import private_bus  # noqa: E402

SYSPROFD = turns.BUILD / 'src/sysprofd/sysprofd'
PARANOID = pathlib.Path('/proc/sys/kernel/perf_event_paranoid')
USER = 'sysprof-bench'
ROOT, ORDINARY = 'root', 'ordinary user'
TICKS = os.sysconf('SC_CLK_TCK')
SETTLED = 60  # seconds until a recorder must record

SQL = """WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c)
         SELECT sum(length(printf('%d-%s', x % 1000, hex(x)))) FROM c;"""
# None of them ends by itself.
LOAD = [
    ['/usr/bin/python3', '-c', 'import json, re\nwhile True: json.loads(json.dumps([re.sub("[13]", "x", str(i)) for i in range(3000)]))'],
    ['perl', '-e', 'while (1) { my %h; $h{$_ % 1009} .= "x$_" for 1..3000; my @s = sort { $h{$a} cmp $h{$b} } keys %h; }'],
    ['mawk', 'BEGIN { while (1) { s = ""; for (i = 0; i < 500; i++) s = s i; gsub(/[13579]/, "odd", s) } }'],
    ['bash', '-c', 'while :; do for i in {1..200}; do x=${i//1/2}; printf -v y %d "$i"; done; done'],
    ['sqlite3', ':memory:', SQL],
    ['xz', '-9c', '/dev/urandom'],
    ['gzip', '-9c', '/dev/urandom'],
    ['bzip2', '-9c', '/dev/urandom'],
    ['sort', '--parallel=1', '--buffer-size=10M', 'lines'],
    ['sha256sum', '/dev/zero'],
    ['dd', 'if=/dev/urandom', 'of=/dev/null', 'bs=4k'],
    ['du', '-s', '/proc', '/sys', '/usr', '/sys', '/usr', '/sys', '/usr', '/sys', '/usr'],
]


class Recording:
    """One running recorder. `bus`: with the service, for the ordinary user."""

    def __init__(self, name, folder, frequency, bus=None):
        self.name, self.bus = name, bus
        self.folder = folder / ('user' if bus else 'root')
        self.folder.mkdir(exist_ok=True)
        self.capture = self.folder / 'run.syscap'
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
            path = self.folder / 'ready'
            path.unlink(missing_ok=True)
            ready.bind(str(path))
            ready.settimeout(SETTLED)
            if bus:
                shutil.chown(self.folder, USER)
                shutil.chown(path, USER)
            as_user = ['setpriv', f'--reuid={USER}', f'--regid={USER}', '--clear-groups'] if bus else []
            self.messages = open(self.folder / 'messages', 'w+', encoding='utf-8')  # pylint: disable=consider-using-with
            self.service_before = service_cpu(bus)
            self.process, self.began = turns.start(
                [*as_user, folder / 'sysprof-cli', '-f', '--quiet', '-F', frequency, self.capture], stderr=self.messages,
                env={**(bus.environment if bus else os.environ), 'NOTIFY_SOCKET': str(path), 'HOME': str(self.folder)})
            ready.recv(100)

    def living_cpu(self):
        """Seconds of CPU time, of all processes that live."""
        pids = recorders.descendants(self.process.pid)
        service = recorders.descendants(service_pid(self.bus)) if self.bus else []
        return recorders.cpu_seconds(pids) + recorders.cpu_seconds(service), recorders.cpu_seconds(service)

    def finish(self):
        """Returns the CPU seconds of the whole recording, and of them those of the service."""
        self.process.send_signal(signal.SIGINT)
        usage = turns.finish(self.process, self.began)
        self.messages.seek(0)
        text = self.messages.read().strip()
        self.messages.close()
        if usage.status != 0 or text:
            print(f'   {self.name}: status {usage.status}: {text}')
        service = service_cpu(self.bus) - self.service_before
        return usage.cpu + service, service


def service_pid(bus):
    done = subprocess.run(['gdbus', 'call', '--system', '--dest', 'org.freedesktop.DBus', '--object-path', '/', '--method',
                           'org.freedesktop.DBus.GetConnectionUnixProcessID', 'org.gnome.Sysprof3'], env=bus.environment,
                          capture_output=True, text=True)
    return int(done.stdout.split()[1].strip(',)')) if done.returncode == 0 else None


def service_cpu(bus):
    """Seconds of the service and of all children that it has reaped; 0 if it does not run."""
    pid = service_pid(bus) if bus else None
    if pid is None:
        return 0
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return sum(map(int, fields[11:15])) / TICKS


def run_load(folder, seconds):
    """Returns the process IDs."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    programs = [turns.start(words, cwd=folder, preexec_fn=limit) for words in LOAD if shutil.which(words[0])]
    for process, began in programs:
        if turns.finish(process, began).status != -signal.SIGKILL:
            print(f'   {process.args[0]} ended by itself: its samples cannot be compared')
    return {process.pid for process, _ in programs}


def judge(capture, pids):
    """The samples and the stacks of the load, and the kernel functions of the whole machine."""
    done = subprocess.run([turns.REPORT, 'samples', '--format', 'json', '--limit', '0', capture], capture_output=True, check=True)
    rows = json.loads(done.stdout)['rows']
    load = [row for row in rows if row['pid'] in pids]
    user = [row for row in load if not row['complete'] or any(entry['kind'] not in ('kernel', 'marker') for entry in row['stack'])]
    kernel = [entry['symbol'] for row in rows for entry in row['stack'] if entry['kind'] == 'kernel']
    named = [symbol for symbol in kernel if symbol and not symbol.startswith(('0x', 'In File', 'Unknown', '['))]
    lost = sum(1 for kind, _, frame in turns.frames(capture) if kind == 12 and b'Lost ' in frame)
    return {'samples of the load': len(load), 'user stacks': len(user), 'complete': sum(row['complete'] for row in user),
            'kernel frames': len(kernel), 'named': len(named), 'functions': len(set(named)), 'frames that report losses': lost,
            'samples': len(rows)}


def measure(names, folder, options, bus):
    """Records the load with recorders at the same time. Returns {name: (figures, capture, process IDs of the load)}."""
    running = [Recording(name, folder, options.frequency, bus if name == ORDINARY else None) for name in names]
    before = [one.living_cpu() for one in running]
    pids = run_load(folder, options.seconds)
    after = [one.living_cpu() for one in running]
    found = {}
    for one, (first, first_service), (last, last_service) in zip(running, before, after):
        whole, service = one.finish()
        figures = {'during': last - first, 'service during': last_service - first_service, 'whole': whole, 'service': service}
        found[one.name] = figures, one.capture.rename(f'{folder}/{one.process.pid}.syscap'), pids
    return found


def show(rounds):
    def column(key, scale=1.0, unit='', digits=3):
        print(f'   {key}:')
        turns.show({name: [found[name][key] for found in rounds] for name in (ORDINARY, ROOT)}, unit, scale=scale, digits=digits)

    column('samples of the load', digits=0)
    print(f'   ratio of all rounds: {sum(found[ORDINARY]["samples of the load"] for found in rounds) / sum(found[ROOT]["samples of the load"] for found in rounds):.4f}')
    column('during', unit='s of CPU')
    column('whole', unit='s of CPU')
    for name in (ORDINARY, ROOT):
        total = {key: sum(found[name][key] for found in rounds) for key in rounds[0][name]}
        print(f'   {name}: {100 * total["complete"] / total["user stacks"]:.3f} % of {total["user stacks"]} user stacks of the load complete; '
              f'{100 * total["named"] / total["kernel frames"]:.3f} % of {total["kernel frames"]} kernel frames by name '
              f'({rounds[-1][name]["functions"]} functions in the last round); {total["frames that report losses"]} losses; '
              f'{total["samples"]} samples in all')
        if name == ORDINARY:
            print(f'   the service: {total["service during"]:.3f} s during the load, {total["service"]:.3f} s in all')


@contextlib.contextmanager
def ordinary_user():
    subprocess.run(['useradd', '--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', USER], check=True)
    before = None
    try:
        private_bus.lock_settings()
        before = PARANOID.read_text()
        PARANOID.write_text('2')  # ordinary users may not sample others
        yield
    finally:
        if before:
            PARANOID.write_text(before)
        subprocess.run(['userdel', '--force', USER], check=True)  # also if a child of the recorder still ends


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--seconds', type=int, default=2, help='CPU time of each program of the load')
    parser.add_argument('--frequency', type=int, default=1000)
    parser.add_argument('--together', action='store_true', help='record as both users at the same time')
    options = parser.parse_args()

    reason = private_bus.reason_to_skip()
    if reason or not shutil.which('useradd'):
        print(f'service: left out: {reason or "no useradd here"}')
        return
    turns.heading('the whole machine, recorded by an ordinary user with the service, and by root')
    with turns.scratch() as directory:
        folder = pathlib.Path(directory)
        folder.chmod(0o755)
        shutil.copy(turns.CLI, folder)
        (folder / 'lines').write_text('\n'.join(str(i * 7919 % 10000019) for i in range(3000000)))
        rounds = []
        with ordinary_user(), private_bus.PrivateBus(private_bus.confined(SYSPROFD), [USER]) as bus:
            for i in range(options.rounds):
                order = (ROOT, ORDINARY) if i % 2 == 0 else (ORDINARY, ROOT)
                parts = [order] if options.together else [[name] for name in order]
                rounds.append({name: one for part in parts for name, one in measure(part, folder, options, bus).items()})
                print(f'   round {i + 1}: load average of the machine {os.getloadavg()[0]:.1f}')
        show([{name: {**figures, **judge(capture, pids)} for name, (figures, capture, pids) in found.items()} for found in rounds])


main()
