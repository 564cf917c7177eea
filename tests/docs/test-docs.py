#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that links in the documents resolve, and that manuals and programs have the same options.

usage: test-docs.py SOURCE_DIR MANUAL_OF_CLI PROGRAM...
"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
MANUAL_OF_CLI = pathlib.Path(sys.argv.pop(1))
PROGRAMS = [pathlib.Path(sys.argv.pop(1)) for _ in sys.argv[1:]]
PAGES = sorted([*ROOT.glob('*.md'), *ROOT.glob('docs/**/*.md')])


OF_OTHERS = {'--cap-add', '--security-opt', '--filesystem',  # of programs that run containers
             '--off-cpu'}  # of the recorder, in the manual of the reports


def options_of_manual(program):
    page = f'{program.name}.1'
    text = (MANUAL_OF_CLI if page == MANUAL_OF_CLI.name else ROOT / 'docs' / 'man' / page).read_text()
    return set(re.findall(r'--[a-z][a-z-]+', text.replace('\\-', '-')))


class Documents(unittest.TestCase):
    def test_links_lead_somewhere(self):
        n_links = 0
        for page in PAGES:
            for target in re.findall(r'\]\(([^)#\s]+)[^)]*\)', page.read_text()):
                if not target.startswith(('http:', 'https:')):
                    n_links += 1
                    self.assertTrue((page.parent / target).exists(), f'{page.name}: {target}')
        self.assertGreater(n_links, 10)

    def test_manual_tells_what_others_do_unasked(self):
        """For as long as sysprof-cli does not make it, and no longer."""
        manual = MANUAL_OF_CLI.read_text()
        _, _, missing = manual.partition('This version, unlike others')
        missing = ' '.join(missing.partition('.PP')[0].split())
        made = ''.join(text for text in (path.read_text() for path in (ROOT / 'src/record/instruments').glob('*.c')) if '_row = {' in text)
        for maker, words in (('sysprof_battery_charge_new', 'batteries'), ('sysprof_system_logs_new', 'journal'),
                             ('"eglinfo', 'eglinfo'), ('polkit_agent', 'polkit')):
            self.assertEqual(words in missing, maker not in made, words)

    def test_pictures_are_small(self):
        pictures = [p for p in (ROOT / 'docs').rglob('*') if p.suffix in ('.png', '.svg')]
        self.assertNotEqual(pictures, [])
        for picture in pictures:
            self.assertLess(picture.stat().st_size, 300_000, picture.name)

    def test_modules_stand_in_the_architecture(self):
        rows = re.findall(r'(?m)^([a-z]+):', (ROOT / 'src/LAYERS').read_text())
        section = (ROOT / 'docs/architecture.md').read_text().partition('## Modules')[2].partition('\n## ')[0]
        described = set(re.findall(r'`([a-z]+)`', section))
        self.assertGreater(len(rows), 20)
        self.assertEqual([name for name in rows if name not in described], [])

    def test_source_files_say_their_licence(self):
        suffixes = '.c .h .cc .in .py .js .css .html .json .build .supp .1'.split()
        paths = [path for folder in ('src', 'include', 'tests', 'scripts', 'examples', 'bench', 'fuzz', 'data', 'docs/man', '.ci')
                 for path in (ROOT / folder).rglob('*') if path.is_file() and 'seeds' not in path.parts]
        paths = [path for path in paths if path.suffix in suffixes or path.parent.name in ('scripts', '.ci') or path.name in ('LAYERS', 'Makefile')]
        self.assertGreater(len(paths), 300)
        for path in paths:
            name = path.relative_to(ROOT)
            permissive = name.parts[:2] == ('src', 'capture') or (name.parts[0] == 'include' and 'glib' not in path.read_text() and
                                                                 re.match(r'sysprof-(capture|collector|clock|address|platform|macros|version)', name.name))
            self.assertIn('SPDX-License-Identifier: ' + ('BSD-2-Clause' if permissive else ''), path.read_text()[:400], name)

    def test_manuals_know_all_options(self):
        for program in PROGRAMS:
            text = subprocess.run([program, '--help'], stdout=subprocess.PIPE, check=True).stdout.decode()
            options = set(re.findall(r'(?m)^ +(?:-\w, )?(--[a-z][a-z-]+)', text)) - {'--help', '--help-all'}
            self.assertGreater(len(options), 1)
            self.assertEqual(sorted(options - options_of_manual(program)), [], f'not in the manual of {program.name}')

    def test_manuals_have_blanks_between_words(self):
        """Macros that alternate between fonts set no blank between their arguments."""
        pages = [*sorted((ROOT / 'docs' / 'man').glob('*.1*')), MANUAL_OF_CLI]
        self.assertGreaterEqual(len(pages), 3)
        for page in pages:
            for number, line in enumerate(page.read_text().splitlines(), 1):
                with self.subTest(page=page.name, line=number):
                    self.assertTrue(line.isascii(), 'write other characters as \\[uXXXX]')
                    macro = re.match(r'\.(?:BR|RB|BI|IB|IR|RI) (.*)', line)
                    words = re.findall(r'"[^"]*"|(?:\\ |\S)+', macro.group(1)) if macro else []
                    words = [re.sub(r'\\f.|\\[&|]|"', '', word) for word in words]
                    for left, right in zip(words, words[1:]):
                        self.assertFalse(re.search(r'[\w.,;)]$', left) and re.match(r'[\w-]', right), f'{left}{right}')

    def test_manuals_render_without_faults(self):
        if not shutil.which('groff'):
            self.skipTest('groff is not installed')
        for page in [*sorted((ROOT / 'docs' / 'man').glob('*.1')), MANUAL_OF_CLI]:
            done = subprocess.run(['groff', '-man', '-Tutf8', '-ww', '-rLL=400n', page], capture_output=True, check=True)
            text = re.sub('\x1b\\[[0-9;]*m|.\b', '', done.stdout.decode())
            self.assertEqual(done.stderr, b'', page.name)
            self.assertEqual(re.findall(r'\S*[a-z]--[a-z]\S*|--[a-z-]+[.,;][A-Za-z]\S*|\b(?!gnome\.Sysprof|Sysprof\.Agent)\w{3,}[.,;][A-Z][a-z]\S*|\S*(?:,,|;;|,\.)\S*', text), [],
                             page.name)

    def test_manuals_promise_no_other_options(self):
        for program in PROGRAMS:
            names = program.read_bytes()  # not run: a recorder would record
            for option in sorted(options_of_manual(program) - {'--help'} - OF_OTHERS):
                self.assertTrue(option[2:].encode() + b'\0' in names, f'{program.name} does not know {option}')


if __name__ == '__main__':
    if not PROGRAMS:
        sys.exit('usage: test-docs.py SOURCE_DIR MANUAL_OF_CLI PROGRAM...')
    unittest.main()
