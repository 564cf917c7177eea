#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files by which a desktop knows the application: valid for the tools of the desktop, which find the types of captures.

usage: test-files.py DESKTOP_FILE METAINFO MIME_PACKAGE HELP_DIRECTORY
"""
import bz2
import gzip
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'e2e'))
import tap  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import recording  # noqa: E402

DESKTOP, METAINFO, MIME, HELP = map(pathlib.Path, sys.argv[1:5])
del sys.argv[1:5]
CAPTURE, COMPRESSED, FOLDED = 'application/x-sysprof-capture', 'application/x-sysprof-capture-compressed', 'text/x-folded-stacks'


def run(*command, **environment):
    if shutil.which(command[0]) is None:
        raise unittest.SkipTest(f'needs {command[0]}')
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, 'LC_ALL': 'C.UTF-8', **environment})


class Files(unittest.TestCase):
    def test_desktop_file(self):
        result = run('desktop-file-validate', str(DESKTOP))
        self.assertEqual((result.returncode, result.stdout), (0, ''))
        types = next(line for line in DESKTOP.read_text().splitlines() if line.startswith('MimeType='))
        self.assertEqual(types, f'MimeType={CAPTURE};{COMPRESSED};{FOLDED};')

    def test_metainfo(self):
        result = run('appstreamcli', 'validate', '--no-net', str(METAINFO))
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_help(self):
        for page in HELP.glob('*.page'):
            self.assertEqual(run('xmllint', '--noout', str(page)).stderr, '')

    def test_texts_can_be_translated(self):
        root = pathlib.Path(__file__).resolve().parent.parent.parent
        marked = {str(path.relative_to(root)) for path in root.glob('src/app/*/*.c') if re.search(r'\b(N?_|ngettext) \(\s*"', path.read_text())}
        listed = set((root / 'po/POTFILES').read_text().split())
        self.assertEqual(marked - listed, set())
        self.assertEqual([name for name in listed if not (root / name).exists()], [])
        result = run('xgettext', '--from-code=UTF-8', '-k_', '-kN_', '-kngettext:1,2', f'--directory={root}', '-o', '-', *sorted(marked))
        self.assertEqual((result.returncode, result.stderr), (0, ''))
        for text in ('Time Profiler', 'Record to _File…', 'Next region of the window', '%s: Not Recorded'):
            self.assertIn(f'msgid "{text}"', result.stdout)

    def test_titles_of_columns_can_be_translated(self):
        root = pathlib.Path(__file__).resolve().parent.parent.parent
        marked = set(re.findall(r'N_ \("(.+?)"\)', (root / 'src/app/widgets/column-title.c').read_text()))
        titles = set()
        for path in (root / 'src/views').rglob('*.[ch]'):
            for title, rest in re.findall(r'{ "[a-z0-9-]+",\s+"([^"]+)",\s+COLUMN_([^}]+)}', path.read_text()):
                titles |= {*re.findall('title_of_time = "([^"]+)"', rest), *([] if 'json_only' in rest else [title])}
        titles -= {'FINDING', 'COMMAND THAT SHOWS MORE'}  # the application shows findings as sentences
        self.assertGreater(len(titles), 100)
        self.assertEqual({title.lower() for title in marked}, {title.lower() for title in titles})

    def test_types_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            home = pathlib.Path(folder)
            (home / 'mime/packages').mkdir(parents=True)
            shutil.copy(MIME, home / 'mime/packages')
            run('update-mime-database', str(home / 'mime'))
            capture = recording.write(home / 'a.syscap')
            data = pathlib.Path(capture).read_bytes()
            files = {'a.syscap': CAPTURE, 'without-suffix': CAPTURE, 'a.syscap.gz': COMPRESSED, 'a.syscap.xz': COMPRESSED,
                     'a.syscap.bz2': COMPRESSED, 'stacks.folded': FOLDED, 'a.txt': 'text/plain'}
            packed = {'gz': gzip.compress, 'xz': lzma.compress, 'bz2': bz2.compress}
            (home / 'without-suffix').write_bytes(data)
            (home / 'stacks.folded').write_text('main;draw 3\n')
            (home / 'a.txt').write_text('text\n')
            for suffix, pack in packed.items():
                (home / f'a.syscap.{suffix}').write_bytes(pack(data))
            for name, kind in files.items():
                result = run('gio', 'info', '-a', 'standard::content-type', str(home / name), XDG_DATA_HOME=folder, GIO_USE_VFS='local')
                self.assertIn(f'standard::content-type: {kind}\n', result.stdout, name)


if __name__ == '__main__':
    tap.main()
