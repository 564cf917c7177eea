#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much slower a CPU-bound program becomes while the whole machine is recorded.

The program, with frame pointers, computes on every CPU for a fixed time; how much longer a round takes under ours and under `perf record
-g` than alone before and after. Without frame pointers, and for more recorders: bench/unwinding.py --part slowdown."""
import argparse
import subprocess

import recorders
import turns

OURS = recorders.Recorder('sysprof-cli', 'ours')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--seconds', type=int, default=2)
    parser.add_argument('--frequency', type=int, action='append')
    options = parser.parse_args()

    with turns.scratch() as directory:
        busy = turns.compile_program('busy-machine', directory)

        def work():
            """Seconds per round."""
            done = subprocess.run([busy, '0', str(options.seconds)], capture_output=True, text=True, check=True)
            return (options.seconds / int(done.stdout.split()[0]),)

        contestants = [OURS, recorders.PERF_G] if recorders.have_perf() else [OURS]
        for frequency in options.frequency or [1000, 4000, 10000]:
            turns.heading(f'slowdown of a CPU-bound program at {frequency} Hz')
            found = recorders.slower(work, {recorder.name: recorder for recorder in contestants} | {'nothing recording': None}, frequency,
                                     options.rounds, directory)
            turns.show({name: [recorded / alone - 1 for [(recorded, alone)] in runs] for name, runs in found.items()}, '%', scale=100,
                       digits=1, has_ratios=False)
            print('   time per round:')
            turns.show({name: [recorded for [(recorded, _)] in runs] for name, runs in found.items()}, 'us', scale=1e6, digits=3)


main()
