#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much slower a CPU-bound program becomes while the whole machine is recorded.

The program computes a fixed amount on every CPU; its wall time alone, under ours, and under `perf record -g`."""
import argparse
import signal
import time

import turns


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--seconds', type=int, default=3)
    parser.add_argument('--frequency', type=int, action='append')
    options = parser.parse_args()

    with turns.scratch() as directory:
        busy = turns.compile_program('busy-machine', directory)

        def rate_under(recorder):
            """Rounds per second that the program reaches while `recorder` runs."""
            def measure():
                process = None
                if recorder:
                    process, began = turns.start(recorder)
                    time.sleep(0.5)
                load, _ = turns.start([busy, 0, options.seconds], stdout=-1)
                rounds = int(load.communicate()[0].split()[0])
                if process:
                    process.send_signal(signal.SIGINT)
                    turns.finish(process, began)
                return options.seconds / rounds
            return measure

        for frequency in options.frequency or [1000, 4000, 10000]:
            turns.heading(f'slowdown of a CPU-bound program at {frequency} Hz (time per round)')
            turns.show(turns.in_turns({
                'with sysprof-cli': rate_under([turns.CLI, '-f', '-F', frequency, '--no-decode', '--quiet', f'{directory}/o.syscap']),
                'with perf record -g': rate_under(['perf', 'record', '-q', '-B', '-N', '-g', '-a', '-e', 'cpu-clock', '-c',
                                                   1000000000 // frequency, '-o', f'{directory}/perf.data']),
                'alone': rate_under(None),
            }, options.rounds), 'us', scale=1e6, digits=3)


main()
