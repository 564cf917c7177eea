#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every counter of a machine that has them all: recorded from a tree of texts, read by Debian's library frame by frame, shown
by our report with its unit.

The values are those of the texts, the units those of the description of the format.

usage: test-counters.py RECORD_MACHINE SYSPROF_REPORT PEER_DUMP
"""
import collections
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import decoder
import frames

RECORD_MACHINE, REPORT, PEER_DUMP = sys.argv[1:4]
del sys.argv[1:4]

PEER_CLI = '/usr/bin/sysprof-cli'
DEVICES = 'sys/bus/event_source/devices'
CPU = 'sys/devices/system/cpu/cpu'
STALL = 'some avg10=0.00 avg60=0.00 avg300=0.00 total=5\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=3\n'
# A notebook with two kinds of cores, two batteries and two graphics devices.
MACHINE = {
    'proc/stat': 'cpu  20 0 20 160 0 0 0 0 0 0\ncpu0 10 0 10 80 0 0 0 0 0 0\ncpu1 10 0 10 80 0 0 0 0 0 0\nintr 1\n',
    'proc/cpuinfo': 'processor\t: 0\n\nprocessor\t: 1\n',
    f'{CPU}0/cpufreq/cpuinfo_max_freq': '4800000\n', f'{CPU}0/cpufreq/scaling_cur_freq': '2400000\n',
    f'{CPU}1/cpufreq/cpuinfo_max_freq': '3600000\n', f'{CPU}1/cpufreq/scaling_cur_freq': '3600000\n',
    f'{CPU}0/topology/core_id': '0\n', f'{CPU}1/topology/core_id': '8\n',
    f'{CPU}0/topology/physical_package_id': '0\n', f'{CPU}1/topology/physical_package_id': '0\n',
    f'{CPU}0/thermal_throttle/core_throttle_count': '1\n', f'{CPU}0/thermal_throttle/core_throttle_total_time_ms': '2\n',
    'proc/meminfo': 'MemTotal: 1000 kB\nMemAvailable: 400 kB\nDirty: 3 kB\nWriteback: 2 kB\n',
    'proc/vmstat': 'pswpin 1\npgmajfault 2\n',
    'proc/diskstats': ' 259 0 nvme0n1 5 0 80 1 6 0 160 1 0 10 2\n',
    'proc/net/dev': 'Inter-| Receive | Transmit\n face |bytes|bytes\n wlan0: 123 0 0 0 0 0 0 0 456 0 0 0 0 0 0 0\n',
    'proc/self/statm': '4402 1520 1318 7 0 381 0\n',
    'proc/mounts': 'cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n',
    'proc/pressure/cpu': STALL, 'proc/pressure/memory': STALL, 'proc/pressure/io': STALL,
    'sys/fs/cgroup/app.slice/cpu.pressure': STALL,
    'sys/class/power_supply/BAT0/type': 'Battery\n', 'sys/class/power_supply/BAT0/charge_now': '4500000\n',
    'sys/class/power_supply/BAT1/type': 'Battery\n', 'sys/class/power_supply/BAT1/energy_now': '22800000\n',
    'sys/class/power_supply/BAT1/voltage_min_design': '11400000\n', 'sys/class/power_supply/BAT1/power_now': '7250000\n',
    'sys/class/hwmon/hwmon0/name': 'coretemp\n', 'sys/class/hwmon/hwmon0/temp1_input': '61500\n',
    'sys/class/hwmon/hwmon0/temp1_label': 'Package id 0\n',
    'sys/class/thermal/cooling_device0/type': 'Processor\n', 'sys/class/thermal/cooling_device0/max_state': '4\n',
    'sys/class/thermal/cooling_device0/cur_state': '1\n',
    f'{DEVICES}/power/type': '23\n', f'{DEVICES}/power/cpumask': '0\n', f'{DEVICES}/power/events/energy-pkg': 'event=0x02\n',
    f'{DEVICES}/power/events/energy-pkg.scale': '0.5\n',
    # Read once a second: 10 J, 30 J; then nothing.
    'events/23-2-0': struct.pack('=QQ', 20, 60),
    'sys/class/drm/renderD128/dev': '226:128\n',
    # A kernel thread, which has no memory, and 60 processes of 101 to 160 pages.
    'proc/2/stat': '2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 9 0 0 20 0 1 0 5 0 0 0\n', 'proc/2/statm': '0 0 0 0 0 0 0\n',
    **{f'proc/{pid}/stat': f'{pid} (a (b) c) S 1 1 1 0 -1 4194304 9 9 9 9 70 30 9 9 20 0 1 0 {pid} 9 9 9\n' for pid in range(101, 161)},
    **{f'proc/{pid}/statm': f'9999 {pid} 9 9 0 9 0\n' for pid in range(101, 161)},
    'proc/77/comm': 'mpv\n', 'proc/77/fd/3': ('link', '/dev/dri/renderD128'), 'proc/77/fd/4': ('link', '/dev/dri/renderD129'),
    'proc/77/fdinfo/3': 'drm-driver: i915\ndrm-client-id: 1\ndrm-pdev: 0000:00:02.0\ndrm-resident-system0: 8 MiB\ndrm-engine-video: 5 ns\n',
    'proc/77/fdinfo/4': 'drm-driver: amdgpu\ndrm-client-id: 1\ndrm-pdev: 0000:03:00.0\ndrm-memory-vram: 64 MiB\ndrm-engine-gfx: 7 ns\n',
}
# Values that do not change, as in the files.
VALUES = {
    ('CPU Frequency', 'CPU 0'): (50, '%'),
    ('CPU Frequency', 'CPU 1'): (100, '%'),
    ('Memory', 'Used'): (600 * 1024, 'bytes'),
    ('Memory', 'Dirty'): (3 * 1024, 'bytes'),
    ('Network', 'RX Bytes (wlan0)'): (123, 'bytes'),
    ('Battery Charge', 'BAT0'): (4500000, 'uAh'),
    ('Battery Charge', 'BAT1'): (2000000, 'uAh'),
    ('Battery Charge', 'Combined'): (6500000, 'uAh'),
    ('Battery Power', 'BAT1'): (7.25, 'W'),
    ('Temperature', 'coretemp Package id 0'): (61.5, 'degC'),
    ('Cooling', 'Processor 0'): (25, '%'),
    ('GPU Memory', 'system0 (mpv 77)'): (8 << 20, 'bytes'),
    ('GPU Memory', 'vram (0000:03:00.0)'): (64 << 20, 'bytes'),
    ('Process', 'CPU Time (a (b) c/160)'): (0, 'ns'),
    ('Process', 'Resident (a (b) c/160)'): (160 * os.sysconf('SC_PAGESIZE'), 'bytes'),
}
# Values computed from two readings: none from files that stay the same.
GROWTH = {
    ('Memory Events', 'Major Faults'): 'events',
    ('Disk', 'Total Reads (nvme0n1)'): 'operations',
    ('Disk', 'Bytes Written (Combined)'): 'bytes',
    ('Disk', 'Busy (nvme0n1)'): '%',
    ('Pressure', 'I/O Full'): '%',
    ('Throttling', 'CPU 0'): '%',
    ('Throttling Events', 'CPU 0'): 'events',
    ('GPU Percent', 'video (0000:00:02.0)'): '%',
    ('GPU Percent', 'gfx (mpv 77)'): '%',
}


def build(root, machine):
    for path, content in machine.items():
        path = os.path.join(root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(content, tuple):
            os.symlink(content[1], path)
        else:
            with open(path, 'wb') as f:
                f.write(content if isinstance(content, bytes) else content.encode())


def record(root, path, seconds='1.3'):
    done = subprocess.run([RECORD_MACHINE, root, path, seconds], check=True, stdout=subprocess.PIPE)
    return done.stdout.decode().splitlines()


class Counters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix='sysprof-counters-')
        cls.addClassCleanup(cls.folder.cleanup)
        cls.path = os.path.join(cls.folder.name, 'a.syscap')
        root = os.path.join(cls.folder.name, 'machine')
        build(root, MACHINE)
        cls.told = record(root, cls.path)
        with open(cls.path, 'rb') as f:
            cls.capture = decoder.decode(f.read())
        done = subprocess.run([REPORT, 'counters', '--format', 'json', '--limit', '0', cls.path], check=True, stdout=subprocess.PIPE)
        cls.rows = {(row['category'], row['name']): row for row in json.loads(done.stdout)['rows']}

    def test_nothing_is_missing(self):
        self.assertEqual(self.told, [])

    def test_values_and_units(self):
        for counter, (value, unit) in VALUES.items():
            row = self.rows[counter]
            self.assertEqual((row['first'], row['last'], row['unit']), (value, value, unit), counter)

    def test_growth_and_units(self):
        for counter, unit in GROWTH.items():
            row = self.rows[counter]
            self.assertEqual((row['min'], row['max'], row['unit']), (0, 0, unit), counter)

    def test_the_largest_processes(self):
        pids = {row['pid'] for (category, name), row in self.rows.items() if category == 'Process' and name.startswith('Resident')}
        self.assertEqual(pids, set(range(111, 161)))

    def test_energy(self):
        row = self.rows['RAPL', 'Package Watt']
        self.assertEqual((row['count'], row['unit']), (1, 'W'))
        # 20 J in about a second: a busy machine makes it longer, or shorter after a late start.
        self.assertLess(row['last'], 40)
        self.assertGreater(row['last'], 1)
        self.assertIn(('RAPL 0:0', 'Package Watt (0:0)'), self.rows)

    def test_every_counter_has_a_unit(self):
        self.assertEqual([counter for counter, row in self.rows.items() if row['unit'] == ''], [])

    def test_peer_reads_every_frame(self):
        header, found = frames.dump(PEER_DUMP, self.path)
        self.assertEqual(header['begin'], self.capture.time)
        self.assertEqual(found, frames.all_dumped(self.capture.frames, knows_index=False))

    @unittest.skipIf(shutil.which(PEER_CLI) is None, 'sysprof-cli is not installed')
    def test_peer_joins_them(self):
        merged = os.path.join(self.folder.name, 'merged.syscap')
        with open(merged, 'wb') as out:
            subprocess.run([PEER_CLI, '--merge', self.path, self.path], stdout=out, check=True)
        with open(merged, 'rb') as f:
            joined = decoder.decode(f.read())

        def counters(capture):
            return collections.Counter(tuple(c[key] for key in sorted(c) if key != 'id') for f in capture.of('ctrdef') for c in f['counters'])

        def values(capture):
            return sum(len(f['values']) for f in capture.of('ctrset'))

        once = counters(self.capture)
        self.assertEqual(counters(joined), once + once)
        self.assertEqual(values(joined), 2 * values(self.capture))

    def test_what_is_lacking_is_told(self):
        with tempfile.TemporaryDirectory(prefix='sysprof-counters-') as folder:
            root, path = os.path.join(folder, 'machine'), os.path.join(folder, 'b.syscap')
            build(root, {path: MACHINE[path] for path in ('proc/stat', 'proc/cpuinfo', 'proc/self/statm')})
            told = record(root, path, '0.1')
            with open(path, 'rb') as f:
                self.assertEqual(decoder.decode(f.read()).counter_categories() - {'Sampler'}, {'CPU Percent', 'Recorder'})
        every = {line.split(':')[0] for line in told}
        self.assertEqual(every, {'Battery Charge', 'CPU Frequency', 'Disk Usage', 'Energy Usage', 'GPU Usage', 'Memory Usage', 'Memory Events', 'Network Usage',
                                 'Pressure', 'Cgroup Pressure', 'Temperature', 'Throttling', 'Cooling'})


if __name__ == '__main__':
    unittest.main()
