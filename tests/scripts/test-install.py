#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""scripts/install with a build and a meson that only tell how they were called: where a relative DESTDIR begins, and that a
changed PREFIX builds again. With a real meson: scripts/uninstall leaves nothing of what scripts/install installed.

usage: test-install.py SCRIPT
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop(1)


class Install(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix='sysprof-install-')
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name).resolve()
        for folder in ('checkout/scripts', 'bin', 'elsewhere'):
            (self.root / folder).mkdir(parents=True)
        shutil.copy(SCRIPT, self.root / 'checkout/scripts/install')
        self.program('checkout/scripts/build', 'echo "build $*" >>"$CALLS"')
        self.program('bin/meson', 'echo "meson DESTDIR=$DESTDIR $*" >>"$CALLS"')
        self.program('bin/ldconfig', ':')

    def program(self, name, body):
        path = self.root / name
        path.write_text(f'#!/bin/sh\n{body}\n')
        path.chmod(0o755)

    def install(self, *words):
        """The calls: (build directory, words of the build), DESTDIR."""
        calls = self.root / 'calls'
        calls.write_text('')
        done = subprocess.run([self.root / 'checkout/scripts/install', *words], cwd=self.root / 'elsewhere', capture_output=True, text=True,
                              env=dict(os.environ, CALLS=str(calls), PATH=f'{self.root}/bin:{os.environ["PATH"]}'), check=False)
        lines = [line.split() for line in calls.read_text().splitlines()]
        return done, lines

    def test_relative_destdir_begins_where_it_was_typed(self):
        done, (_, meson) = self.install('/opt/x', 'out/stage')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(meson[1], f'DESTDIR={self.root}/elsewhere/out/stage')
        self.assertEqual(done.stdout, f'Installed into {self.root}/elsewhere/out/stage/opt/x.\n')

    def test_absolute_destdir_stays(self):
        self.assertEqual(self.install('/opt/x', '/tmp/stage')[1][1][1], 'DESTDIR=/tmp/stage')
        self.assertEqual(self.install('/opt/x')[1][1][1], 'DESTDIR=')

    def test_changed_prefix_builds_again(self):
        builds = [self.install(prefix, 'out')[1] for prefix in ('/opt/x', '/opt/y', '/opt/x')]
        directories = [build[1] for build, _ in builds]
        self.assertNotEqual(directories[0], directories[1])
        self.assertEqual(directories[0], directories[2])
        for (build, meson), prefix in zip(builds, ('/opt/x', '/opt/y', '/opt/x')):
            self.assertIn(f'--prefix={prefix}', build)
            self.assertIn(build[1], meson)  # installed is what was built for it

    def test_relative_prefix_is_refused(self):
        done, calls = self.install('opt/x')
        self.assertEqual((done.returncode, calls), (2, []))
        self.assertIn('absolute', done.stderr)

    def test_uninstall_removes_what_was_installed(self):
        checkout = self.root / 'checkout'
        shutil.copy(pathlib.Path(SCRIPT).parent / 'uninstall', checkout / 'scripts')
        (checkout / 'meson.build').write_text("project('demo')\ninstall_data('a.txt', install_dir: get_option('datadir') / 'demo')\n")
        (checkout / 'meson_options.txt').write_text("option('tests', type: 'boolean')\n")
        (checkout / 'a.txt').write_text('text')
        shutil.copy(pathlib.Path(SCRIPT).parent / 'build', checkout / 'scripts')
        stage, other = self.root / 'stage', self.root / 'other'

        def call(name, destdir):
            return subprocess.run([checkout / 'scripts' / name, '/opt/x', destdir], capture_output=True, text=True, check=False)

        self.assertEqual(call('uninstall', stage).returncode, 1)  # nothing is there
        for destdir in stage, other, stage:
            self.assertEqual(call('install', destdir).returncode, 0)
            self.assertTrue((destdir / 'opt/x/share/demo/a.txt').exists())
        done = call('uninstall', stage)
        self.assertEqual((done.returncode, done.stdout), (0, f'Uninstalled from {stage}/opt/x.\n'), done.stderr)
        self.assertFalse(stage.exists())
        self.assertTrue((other / 'opt/x/share/demo/a.txt').exists())

    def test_desktop_knows_the_application_until_it_is_uninstalled(self):
        """The real files of the desktop, installed without DESTDIR: its caches follow."""
        commands = 'update-desktop-database', 'update-mime-database', 'gtk4-update-icon-cache'
        if missing := [name for name in commands if shutil.which(name) is None]:
            self.skipTest(f'needs {missing}')
        checkout, prefix = self.root / 'checkout', self.root / 'prefix'
        source = pathlib.Path(SCRIPT).resolve().parent.parent
        shutil.copy(source / 'scripts/uninstall', checkout / 'scripts')
        shutil.copytree(source / 'data/app', checkout / 'data/app')
        (checkout / 'meson.build').write_text("project('demo', version: '1')\nsubdir('data/app')\n")
        directory = 'build-install' + ''.join(letter if letter.isalnum() or letter == '-' else '-' for letter in str(prefix))
        subprocess.run(['meson', 'setup', directory, f'--prefix={prefix}'], cwd=checkout, check=True, capture_output=True)

        def install():
            subprocess.run(['meson', 'install', '-C', directory], cwd=checkout, check=True, capture_output=True)

        def uninstall():
            subprocess.run([checkout / 'scripts/uninstall', prefix], env={**os.environ, 'PATH': f'{self.root}/bin:{os.environ["PATH"]}'},
                           check=True, capture_output=True)

        def read(name):
            path = prefix / 'share' / name
            return path.read_text() if path.exists() else ''

        name = 'org.gnome.Sysprof'
        install()
        self.assertIn(f'application/x-sysprof-capture={name}.desktop', read('applications/mimeinfo.cache'))
        self.assertIn('application/x-sysprof-capture:*.syscap\n', read('mime/globs'))
        self.assertTrue((prefix / 'share/icons/hicolor/icon-theme.cache').exists())
        uninstall()
        self.assertFalse(prefix.exists(), list(prefix.rglob('*')))
        install()
        shutil.copy(prefix / f'share/applications/{name}.desktop', prefix / 'share/applications/other.desktop')
        (prefix / 'share/mime/packages/other.xml').write_text(
            (prefix / 'share/mime/packages/sysprof-mime.xml').read_text().replace('syscap', 'other').replace('sysprof', 'other'))
        uninstall()
        self.assertIn('x-sysprof-capture=other.desktop', read('applications/mimeinfo.cache'))
        self.assertNotIn(name, read('applications/mimeinfo.cache'))
        self.assertIn('*.other\n', read('mime/globs'))
        self.assertNotIn('sysprof', read('mime/globs'))
        self.assertEqual([path for path in prefix.rglob('*ysprof*') if path.is_file()], [])


if __name__ == '__main__':
    unittest.main()
