#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""check-layers.py must refuse what src/LAYERS forbids. Each case is a source tree with one kind of fault."""
import importlib.util
import pathlib
import sys
import tempfile

spec = importlib.util.spec_from_file_location('check_layers', sys.argv[1])
check_layers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_layers)

LAYERS = 'low:\nutil:\nhigh/base: low\nhigh/other:\nhigh: low util high/base\ntop: high high/other\n'
EXISTING = ['low/low.h', 'low/inner.h', 'high/high.h', 'high/own.h', 'high/base/parts.h', 'high/other/other.h', 'high/other/inner.h',
            'high/rest/rest.h']


def check(files):
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in {'src/LAYERS': LAYERS, **{f'src/{path}': '' for path in EXISTING}, **files}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return '\n'.join(check_layers.faults_of(root))


def main():
    cases = [
        ('allowed door', {'src/high/a.c': '#include "low/low.h"\n'}, None),
        ('upward', {'src/low/a.c': '#include "high/high.h"\n'}, 'low may not include high ("high/high.h")'),
        ('not the door', {'src/high/a.c': '#include "low/inner.h"\n'}, 'the door of low is "low/low.h"'),
        ('unknown module', {'src/other/a.c': ''}, "does not know the module 'other'"),
        ('own header missing', {'src/low/a.c': '#include "low/gone.h"\n'}, 'does not exist'),
        ('not as seen from src', {'src/low/a.c': '#include "inner.h"\n'}, 'as seen from src/'),
        ('allowed folder, any header', {'src/high/a.c': '#include "high/base/parts.h"\n'}, None),
        ('folder without a row', {'src/high/rest/a.c': '#include "high/own.h"\n#include "high/base/parts.h"\n'}, None),
        ('folder upward', {'src/high/base/a.c': '#include "high/own.h"\n'}, 'high/base may not include high ('),
        ('between folders', {'src/high/base/a.c': '#include "high/other/other.h"\n'},
         'high/base may not include high/other'),
        ('folder not allowed', {'src/high/a.c': '#include "high/other/other.h"\n'}, 'high may not include high/other'),
        ('folder is stricter', {'src/high/base/a.c': '#include "util/text.h"\n'}, 'high/base may not include util'),
        ('door of a folder', {'src/top/a.c': '#include "high/other/other.h"\n'}, None),
        ('not the door of a folder', {'src/top/a.c': '#include "high/other/inner.h"\n'}, 'the door of high/other is'),
        ('folder of another module', {'src/top/a.c': '#include "high/base/parts.h"\n'}, 'top may not include high/base'),
        ('folder header missing', {'src/high/a.c': '#include "high/base/gone.h"\n'}, 'does not exist'),
        ('row allows a later row', {'src/LAYERS': 'low: high\nhigh: low\nutil:\n'}, "low: may not allow 'high'"),
        ('row allows itself', {'src/LAYERS': 'low: low\nhigh:\nutil:\n'}, "low: may not allow 'low'"),
        ('row without folder', {'src/LAYERS': LAYERS + 'top/gone:\n'}, 'no folder src/top/gone'),
    ]
    for name, files, expected in cases:
        faults = check(files)
        assert expected in faults if expected else not faults, f'{name}: expected {expected!r}, found {faults!r}'
    print(f'{len(cases)} trees judged as expected')


main()
