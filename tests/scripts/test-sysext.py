#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The system extension, merged and removed by the real systemd-sysext in a mount namespace of its own, in which /etc is a
copy, /run is empty and the programs that talk to systemd and the bus are replaced. No systemd is started.

usage: test-sysext.py SOURCE_DIR
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
RELEASE = '/usr/lib/extension-release.d/extension-release.sysprof'
# systemd-sysext mounts in a namespace of its own, from which mounts come back if ours are shared, with nobody else.
NAMESPACE = '''set -e
mount --make-rprivate /
mount -t tmpfs tmpfs /run
mkdir /run/upper /run/work
mount -t overlay -o lowerdir=/etc,upperdir=/run/upper,workdir=/run/work overlay /etc || exit 77
mount --make-rshared /
PATH=$1/bin:$PATH
"$2" merge
cmp "$1/service" /usr/libexec/sysprofd
echo "link: $(readlink /etc/extensions/sysprof)"
"$2" remove
if [ -e ''' + RELEASE + ''' ] || [ -L /etc/extensions/sysprof ]; then echo left; fi
'''


class Extension(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0 or shutil.which('systemd-sysext') is None:
            self.skipTest('needs root and systemd-sysext')
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / 'service').write_text('the service\n')
        (self.folder / 'bin').mkdir()
        for name in ('systemctl', 'busctl'):
            path = self.folder / 'bin' / name
            path.write_text(f'#!/bin/sh\n[ ! -e {RELEASE} ] || merged=merged\necho "${{merged-}} {name} $*"\n')
            path.chmod(0o755)
        subprocess.run([ROOT / 'scripts/sysext-tree', self.folder / 'service', self.folder], check=True, stdout=subprocess.DEVNULL)
        self.tree = self.folder / 'lib/extensions/sysprof'

    def run_inside(self):
        # Private from the first moment: nothing that is mounted or written here reaches the machine.
        return subprocess.run(['unshare', '--mount', '--propagation', 'private', 'sh', '-c', NAMESPACE, 'sh', self.folder, self.tree / 'sysext'],
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)

    def test_merge_and_remove(self):
        done = self.run_inside()
        if done.returncode == 77:
            self.skipTest('no overlay can be mounted here')
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        reload = ['merged systemctl daemon-reload', 'merged systemctl try-restart polkit.service',
                  'merged busctl --system call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus ReloadConfig']
        self.assertEqual(lines[:6], ['merged systemctl enable --quiet systemd-sysext.service', *reload,
                                     'merged busctl --system call org.gnome.Sysprof3 /org/gnome/Sysprof3 org.freedesktop.DBus.Peer Ping',
                                     'The service answers.'])
        self.assertEqual(lines[6], f'link: {self.tree}')
        self.assertEqual(lines[7:], ['merged systemctl stop sysprof3.service', *[line.replace('merged', '') for line in reload],
                                     'The service is removed.'])

    def test_refuses_files_of_a_user(self):
        os.chown(self.tree / 'usr/libexec/sysprofd', 1, 1)
        done = self.run_inside()
        self.assertEqual((done.returncode, done.stdout), (1, ''), done.stderr)
        self.assertIn('A Flatpak of one user cannot install the service', done.stderr)


if __name__ == '__main__':
    unittest.main()
