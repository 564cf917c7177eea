#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program that links src/backtrace needs no GLib, no unwinder library and no threads of ours.

usage: test-undefined.py PROGRAM
"""

import re
import subprocess
import sys

dynamic = subprocess.run(["readelf", "-dW", sys.argv[1]], capture_output=True, text=True, check=True).stdout
needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
foreign = [name for name in needed if re.match(r"lib(glib|gobject|gio|unwind|dw|bpf)\b", name)]
names = subprocess.run(["nm", "-D", "-u", sys.argv[1]], capture_output=True, text=True, check=True).stdout
foreign += re.findall(r"\b(?:g_\w+|_Unwind_\w+|backtrace)\b", names)
sys.exit(f"src/backtrace needs {foreign}" if foreign or not needed else 0)
