#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""check-style.py and check-english.py must find each kind of fault, and must permit what the exceptions name.

usage: test-check-style.py SOURCE_ROOT
"""
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))


def load(name):
    spec = importlib.util.spec_from_file_location(name.replace('-', '_'), ROOT / 'scripts' / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


style, english = load('check-style'), load('check-english')
COMMENT = '/* Adds numbers. */\n'
FUNCTION = 'int\nadd (int a)\n{\n%s}\n'


class Style(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.root = pathlib.Path(self.directory.name)

    def faults(self, rule, files, exceptions=''):
        """Returns (where each fault is, notes about exceptions)."""
        for path, text in {'scripts/style-exceptions.txt': exceptions, **files}.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text, encoding='utf-8')
        faults, notes = style.faults_and_notes(self.root, rule)
        return [fault.where for fault in faults], notes

    @unittest.skipUnless(shutil.which('clang-format'), 'needs clang-format')
    def test_format(self):
        (self.root / '.clang-format').write_bytes((ROOT / '.clang-format').read_bytes())
        try:
            self.assertEqual(self.faults('format', {'src/a.c': COMMENT + 'int  a;\n', 'src/b.c': COMMENT + 'int b;\n'}), (['src/a.c:2'], []))
        except style.CannotCheck as error:
            self.skipTest(str(error))

    def test_width(self):
        files = {'src/a.c': f'/* {"é" * 90} */\n/* {"é" * 91} */\n', 'tests/b.h': 'x' * 96}
        self.assertEqual(self.faults('width', files)[0], ['src/a.c:2'])

    def test_functions(self):
        files = {'src/a.c': FUNCTION % ('  a;\n' * 77), 'tests/b.c': COMMENT + FUNCTION % ('  a;\n' * 78)}
        self.assertEqual(self.faults('functions', files), (['tests/b.c:3'], []))
        self.assertEqual(self.faults('functions', files, 'functions add a reason\n'), ([], []))

    def test_braces_in_comments_are_no_functions(self):
        self.assertEqual(self.faults('functions', {'src/a.c': 'int x[] =\n{\n' + '1,\n' * 90 + '};\n/*\n{\n' + 'x\n' * 90 + '}\n*/\n'})[0], [])

    def test_files(self):
        files = {'src/a.c': '\n' * 600, 'src/b.c': '\n' * 601}
        self.assertEqual(self.faults('files', files)[0], ['src/b.c'])

    def test_folders(self):
        files = {f'src/{folder}/{i}.c': '' for folder, n in (('few', 22), ('many', 23)) for i in range(n)}
        self.assertEqual(self.faults('folders', {**files, 'src/few/a.h': ''})[0], ['src/many'])

    def test_first_comments(self):
        files = {'src/a.c': '// SPDX-License-Identifier: X\n\n/* Text. */\n', 'src/b.c': '// SPDX-License-Identifier: X\n\nint b;\n',
                 'tests/a.py': '#!/usr/bin/python3\n# SPDX-License-Identifier: X\n"""Text."""\n',
                 'tests/b.py': '#!/usr/bin/python3\n# SPDX-License-Identifier: X\nimport os\n'}
        self.assertEqual(self.faults('first-comments', files)[0], ['src/b.c', 'tests/b.py'])

    def test_callers(self):
        files = {'include/sysprof.h': 'int sysprof_public (void);\n',
                 'src/a.h': 'int sysprof_used (void);\nint sysprof_unused (void);\nG_DEFINE_AUTO (A, sysprof_macro)\n',
                 'src/a.c': ''.join(f'{kind}int\nsysprof_{name} (void)\n{{\n  return 1; /* sysprof_unused () */\n}}\n' for kind, name in
                                    [('', 'public'), ('', 'used'), ('', 'unused'), ('', 'macro'), ('', 'in_table'), ('static ', 'own')]),
                 'src/b.c': 'int\nmain (void)\n{\n  return sysprof_used ();\n}\nstatic const Row row = { sysprof_in_table };\n',
                 'src/c.bpf.c': 'int\nsysprof_program (void)\n{\n  return 0;\n}\n'}
        self.assertEqual(self.faults('callers', files)[0], ['src/a.c:12'])

    def test_circles(self):
        def ring(n):
            return {f'src/m/{i}.c': f'int\nsysprof_{i} (void)\n{{\n  return sysprof_{(i + 1) % n} (); /* sysprof_4 () */\n}}\n' for i in range(n)}

        self.assertEqual(self.faults('circles', {**ring(3), 'src/m/4.c': 'int\nsysprof_4 (void)\n{\n  return sysprof_0 ();\n}\n'})[0], [])
        self.assertEqual(self.faults('circles', ring(4))[0], ['src/m'])
        self.assertEqual(self.faults('circles', ring(4), 'circles src 1\n'), ([], []))

    def test_functions_of_other_folders_make_no_circle(self):
        files = {f'src/{folder}/{i}.c': f'int\nsysprof_{folder}{i} (void)\n{{\n  return sysprof_{other}{i + 1} ();\n}}\n'
                 for folder, other in (('a', 'b'), ('b', 'a')) for i in range(4)}
        self.assertEqual(self.faults('circles', files)[0], [])

    def test_numbers_may_only_fall(self):
        files = {f'src/{i}.c': '' for i in range(3)}
        self.assertEqual(self.faults('first-comments', files, 'first-comments src 3\n'), ([], []))
        self.assertEqual(self.faults('first-comments', files, 'first-comments src 2\n')[0], ['src', 'src/0.c', 'src/1.c', 'src/2.c'])
        self.assertEqual(self.faults('first-comments', files, 'first-comments src 4\n'),
                         ([], ['first-comments src: 3 faults are left, 4 permitted']))

    def test_notes_exceptions_without_fault(self):
        self.assertEqual(self.faults('files', {}, 'files gone.c a reason\n'), ([], ['files gone.c: no longer needed']))

    def git(self, *words):
        identity = ('-c', 'user.name=A', '-c', 'user.email=a@example.org', '-c', 'commit.gpgsign=false')
        run = subprocess.run(['git', '-C', self.root, *identity, *words], check=True, capture_output=True, text=True)
        return run.stdout.strip()

    @unittest.skipUnless(shutil.which('git'), 'needs git')
    def test_subjects(self):
        self.git('init', '-q')
        self.git('commit', '-q', '--allow-empty', '-m', 'x' * 100)
        first = self.git('rev-parse', 'HEAD')
        for subject in ('record: ' + 'x' * 64, 'record: ' + 'x' * 65, 'wip'):
            self.git('commit', '-q', '--allow-empty', '-m', subject)
        wip, long = self.git('log', '--format=%h', '-2').split()
        self.assertCountEqual(self.faults('subjects', {}, f'subjects after {first}\n')[0], [wip, long])
        self.assertRaises(style.CannotCheck, self.faults, 'subjects', {}, f'subjects after {"0" * 40}\n')

    def test_tarballs_have_no_subjects(self):
        self.assertRaises(style.CannotCheck, self.faults, 'subjects', {}, f'subjects after {"0" * 40}\n')


class English(unittest.TestCase):
    def advice(self, name, text):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, name)
            path.write_text(text, encoding='utf-8')
            n_words, hits = english.hits_of(list(english.habits(ROOT)), path)
            return n_words, [line for line, *_ in hits]

    def test_comments_and_messages(self):
        self.assertEqual(self.advice('a.c', '/* Who asks for it. */\nint whose_is;\nputs ("It lacks a name, nor has it one.");\n'),
                         (12, [1, 1, 3, 3]))

    def test_scripts(self):
        self.assertEqual(self.advice('a.py', '"""Counts\n\nlines."""\nlacks = 1\n  # It lacks one.\n'), (5, [5]))

    def test_pages(self):
        self.assertEqual(self.advice('a.md', 'It lacks one.\n\n    it lacks one\n```\nlacks\n```\nWhat is it?\n'), (6, [1]))

    def test_long_sentences(self):
        self.assertEqual(self.advice('a.md', 'word ' * 34 + '\n' + 'word ' * 34 + 'end.\n')[1], [2])


if __name__ == '__main__':
    unittest.main()
