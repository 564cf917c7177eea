#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The application under a virtual display, drawn by the CPU: time until the first window and until a capture is shown,
CPU time per frame while a user scrolls, zooms and selects, frames at rest, and memory.

The capture has a million samples, a hundred thousand marks and a million values of counters. Frames are marks that the
application writes for sysprof-cli, which starts it and records nothing else unless --profile names a file. "main" is the
CPU time of the main thread since the frame before, "process" that of all threads. The limits are 16 ms (median) and 33 ms
(most) at 1280x800, and 10 ms more than two repaints of a blank window at 3840x2160."""
import argparse
import collections
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import turns

PROGRAM = turns.BUILD / 'src/app/sysprof'
INSIDE = 'SYSPROF_BENCH_INSIDE'
NAME, WINDOW = 'org.gnome.Sysprof', '/org/gnome/Sysprof/window/1'
QUIET = ['--no-perf', '--no-cpu', '--no-disk', '--no-memory', '--no-network', '--no-battery', '--no-pressure', '--no-process-usage',
         '--no-recorder', '--no-decode', '--quiet']
MARK = 10
Frame = collections.namedtuple('Frame', 'begin end main process')

TIMELINE = (0.6, 95)  # a part of the width, and px
VIEW = (0.5, 480)
STEPS = 40
FADE_SECONDS = 4  # until GTK has hidden the scroll bars that the pointer made visible


def steps(command, pause=0.02):
    return ' '.join(f'{command} sleep {pause}' for _ in range(STEPS)).split()


def scroll(_size):
    return ['click', '5', 'sleep', '0.1', *steps('click 5'), *steps('click 4')]


def zoom(_size):
    return ['keydown', 'ctrl', *steps('click 4'), *steps('click 5'), 'keyup', 'ctrl']


def select(size):
    return ['mousedown', '1', *steps(f'mousemove_relative {size[0] // 200} 0'), *steps(f'mousemove_relative -- -{size[0] // 150} 0'), 'mouseup', '1']


def move(size):
    return steps(f'mousemove_relative -- -{size[0] // 200} 3')


def keys(*names):
    return lambda _size: steps(' '.join(f'key {name}' for name in names), 0.05)


# Title, view, where the pointer is, what the user does.
GESTURES = (
    ('call graph: scroll', 'time-profiler/callgraph', (0.3, 250), scroll),
    ('call graph: zoom timeline', 'time-profiler/callgraph', TIMELINE, zoom),
    ('call graph: drag selection', 'time-profiler/callgraph', TIMELINE, select),
    ('call graph: zoom and select by key', 'time-profiler/callgraph', VIEW, keys('ctrl+plus', 'ctrl+minus')),
    ('flame graph: zoom timeline', 'time-profiler/flame', TIMELINE, zoom),
    ('flame graph: drag selection', 'time-profiler/flame', TIMELINE, select),
    ('flame graph: pointer', 'time-profiler/flame', VIEW, move),
    ('flame graph: zoom and select by key', 'time-profiler/flame', VIEW, keys('ctrl+plus', 'ctrl+minus')),
    ('samples: scroll', 'time-profiler/samples', VIEW, scroll),
    ('mark chart: zoom timeline', 'marks/chart', TIMELINE, zoom),
    ('mark chart: zoom chart', 'marks/chart', VIEW, zoom),
    ('waterfall: scroll', 'marks/waterfall', VIEW, scroll),
    ('waterfall: zoom chart', 'marks/waterfall', VIEW, zoom),
    ('mark table: scroll', 'marks/table', VIEW, scroll),
    ('mark table: zoom timeline', 'marks/table', TIMELINE, zoom),
    ('mark table: drag selection', 'marks/table', TIMELINE, select),
    ('CPU counters: zoom timeline', 'cpu/chart', TIMELINE, zoom),
    ('CPU values: scroll', 'cpu/table', VIEW, scroll),
    ('CPU values: drag selection', 'cpu/table', TIMELINE, select),
)


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def frames_of(capture):
    """All frames that a recording has marks of."""
    found = []
    for kind, when, data in turns.frames(capture):
        if kind == MARK and data[32:56].rstrip(b'\0') == b'sysprof' and data[56:96].rstrip(b'\0') == b'frame':
            duration = int.from_bytes(data[24:32], 'little')
            main, process = re.match(rb'main (\d+), process (\d+)', data[96:]).groups()
            found.append(Frame(when, when + duration, int(main) / 1e6, int(process) / 1e6))
    return found


def call(method, *words):
    run = subprocess.run(['gdbus', 'call', '--session', '-d', NAME, '-o', WINDOW, '-m', method, *words], capture_output=True, text=True, check=False)
    return run.returncode == 0


def xdotool(*words):
    subprocess.run(['xdotool', *words], check=True, capture_output=True)


class Application:
    """The application with a capture, recorded."""

    def __init__(self, arguments, recording, options):
        self.recording = recording
        command = [turns.CLI, '-f', *([] if options else QUIET), recording, '--', PROGRAM, *arguments]
        self.process, _ = turns.start(command, start_new_session=True)
        self.pid = None
        while self.pid is None:
            for children in pathlib.Path(f'/proc/{self.process.pid}/task').glob('*/children'):
                for child in children.read_text().split():
                    if pathlib.Path(f'/proc/{child}/comm').read_text().strip() == 'sysprof':
                        self.pid = int(child)
            time.sleep(0.01)
        ticks = int(pathlib.Path(f'/proc/{self.pid}/stat').read_text().rsplit(')', 1)[1].split()[19])
        self.began = ticks * 1000000000 // os.sysconf('SC_CLK_TCK')

    def cpu(self):
        fields = pathlib.Path(f'/proc/{self.pid}/stat').read_text().rsplit(')', 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def rest(self, most=30):
        """Waits until the application uses no CPU for a while."""
        end, still, last = time.monotonic() + most, 0, self.cpu()
        while still < 5 and time.monotonic() < end:
            time.sleep(0.1)
            at = self.cpu()
            still, last = (still + 1 if at == last else 0), at

    def peak_kib(self):
        return int(re.search(r'VmHWM:\s+(\d+)', pathlib.Path(f'/proc/{self.pid}/status').read_text())[1])

    def end(self):
        os.kill(self.pid, 15)
        self.process.wait()
        return frames_of(self.recording)


def start_until_window(folder):
    application = Application([], folder / 'start.syscap', None)
    xdotool('search', '--sync', '--onlyvisible', '--name', 'Sysprof')
    application.rest()
    first = application.end()[0]
    return (first.end - application.began) / 1e6, first.process


def show_row(title, frames):
    if not frames:
        print(f'   {title:38} no frames')
        return
    row = f'   {title:38} {len(frames):4} frames'
    for part in ('main', 'process'):
        values = [getattr(frame, part) for frame in frames]
        row += f'   {part} {statistics.median(values):6.1f} [… {max(values):6.1f}] ms'
    print(row, flush=True)


def measure(capture, size, folder, options):
    application = Application([capture], folder / 'gestures.syscap', options.profile)
    spans = []
    while not call('org.gtk.Actions.Describe', 'zoom-in'):
        time.sleep(0.05)
    application.rest()
    shown = now()
    xdotool('search', '--sync', '--onlyvisible', '--name', pathlib.Path(capture).name, 'windowmove', '0', '0', 'windowsize', *map(str, size), 'windowfocus')
    application.rest()
    for title, view, place, gesture in GESTURES:
        if options.only and options.only not in title:
            continue
        call('org.gtk.Actions.Activate', 'section', f"[<'{view}'>]", '{}')
        xdotool('mousemove', str(int(place[0] * size[0])), str(place[1]))
        application.rest()
        begin = now()
        xdotool(*gesture(size))
        application.rest()
        spans.append((title, begin, now()))
        call('org.gtk.Actions.Activate', 'zoom-reset', '[]', '{}')
    application.rest()
    time.sleep(FADE_SECONDS)
    begin = now()
    time.sleep(3)
    spans.append(('at rest, 3 s', begin, now()))
    peak = application.peak_kib()
    frames = application.end()
    before = [frame for frame in frames if frame.end < shown]
    if size[0] == 1280:
        print(f'   first frame after {(frames[0].end - application.began) / 1e6:.0f} ms (CPU {frames[0].process:.0f} ms),'
              f' all shown after {(before[-1].end - application.began) / 1e6:.0f} ms (CPU {sum(frame.process for frame in before):.0f} ms)')
    for title, begin, end in spans:
        show_row(title, [frame for frame in frames if begin <= frame.begin <= end])
    return peak


def inside(options):
    with turns.scratch() as directory:
        folder = pathlib.Path(directory)
        size = [int(part) for part in options.size.split('x')]
        print(f'== {options.size}', flush=True)
        turns.run([turns.CLI, '-f', *QUIET, folder / 'blank.syscap', '--', turns.BUILD / 'bench/bench-blank-window', *size, 60])
        show_row('blank window', frames_of(folder / 'blank.syscap')[2:])
        if size[0] == 1280:
            starts = [start_until_window(folder) for _ in range(options.rounds)]
            turns.show({'first window, time': [start[0] for start in starts], 'first window, CPU': [start[1] for start in starts]}, 'ms', digits=0,
                       has_ratios=False)
        peak = measure(options.capture, size, folder, options)
        print(f'   most memory: {peak / 1024:.0f} MiB', flush=True)
        if options.profile:
            (folder / 'gestures.syscap').rename(options.profile)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=5, help='starts')
    parser.add_argument('--capture', help='another capture')
    parser.add_argument('--only', help='gestures whose title has this text')
    parser.add_argument('--profile', help='keep a recording with stacks here')
    parser.add_argument('--size', help='one size of the display')
    options = parser.parse_args()
    if INSIDE in os.environ:
        inside(options)
        return
    if not options.capture:
        recordings = turns.BUILD / 'recordings'
        recordings.mkdir(parents=True, exist_ok=True)
        options.capture = recordings / 'app.syscap'
        if not options.capture.exists():
            turns.run([turns.BUILD / 'bench/bench-make-capture', 1000000, 100000, 100, options.capture, 100000, 1000000])
    turns.heading('the application')
    for size in [options.size] if options.size else ['1280x800', '3840x2160']:
        with turns.scratch() as home:
            environment = {**os.environ, INSIDE: '1', 'GSK_RENDERER': 'cairo', 'GDK_DEBUG': 'gl-disable', 'GDK_BACKEND': 'x11', 'LC_ALL': 'C.UTF-8',
                           'GSETTINGS_BACKEND': 'memory', 'GIO_USE_VFS': 'local', 'GTK_USE_PORTAL': '0', 'XDG_DATA_HOME': home, 'XDG_CONFIG_HOME': home}
            subprocess.run(['xvfb-run', '-a', '-s', f'-screen 0 {size}x24 -nolisten tcp -noreset', 'dbus-run-session', '--', sys.executable,
                            __file__, *sys.argv[1:], '--size', size, '--capture', options.capture], env=environment, check=True)
    peaks = {view: [turns.run([turns.REPORT, view, options.capture]).peak_kib] for view in ('tree', 'marks')}
    turns.show({f'sysprof-report {view}': peak for view, peak in peaks.items()}, 'MiB', scale=1 / 1024, digits=0, has_ratios=False)


main()
