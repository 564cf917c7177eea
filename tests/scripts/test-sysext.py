#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The system extension with the service SYSPROFD, merged and removed by the real systemd-sysext. With the files of the
extension a real bus, with the configuration of the system bus, starts the service, which asks real polkit.

All this is in namespaces of its own, in which /etc is a copy, /usr is one without another service and /run is empty. No systemd is started, so that `systemctl` is
a program that does what the two commands for polkit and the service mean.

usage: test-sysext.py SOURCE_DIR SYSPROFD
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
SYSPROFD = pathlib.Path(sys.argv.pop(1)).resolve()
RELEASE = '/usr/lib/extension-release.d/extension-release.sysprof'
GRANTED, REFUSED = 'daemon', 'nobody'
# systemd-sysext mounts in a namespace of its own, from which mounts come back if ours are shared, with nobody else.
NAMESPACE = '''set -e
mount --make-rprivate /
mount -t tmpfs tmpfs /run
mkdir /run/dbus /run/trial
for d in etc usr; do
  mkdir -p /run/$d/upper /run/$d/work
  mount -t overlay -o lowerdir=/$d,upperdir=/run/$d/upper,workdir=/run/$d/work overlay /$d || exit 77
done
find /usr/lib/systemd /usr/libexec /usr/share/dbus-1 /usr/share/polkit-1 -iname '*sysprof*' -delete
# Overlays of overlays have a limit.
mount -t overlay -o lowerdir=/usr:/run/trial overlay /run/trial || exit 77
umount /run/trial
mount --make-rshared /
echo 'polkit.addRule (function (action, subject) {
  if (action.id == "org.gnome.sysprof3.profile" && subject.user == "%s") return polkit.Result.YES;
});' >/etc/polkit-1/rules.d/10-test.rules
PATH=$1/bin:$PATH
dbus-daemon --system --fork --nopidfile
# polkit must read the actions again.
pkaction >/dev/null
"$2" merge
cmp "$3" /usr/libexec/sysprofd
echo "link: $(readlink /etc/extensions/sysprof)"
pkaction --verbose --action-id org.gnome.sysprof3.profile | grep vendor:
ask () { setpriv --reuid "$1" --clear-groups busctl --system call org.gnome.Sysprof3 /org/gnome/Sysprof3/Rights org.gnome.Sysprof3.Rights OpenSystemBusMonitor 2>&1; }
echo "granted: $(ask %s | cut -d' ' -f1)"
echo "refused: $(ask %s)"
"$2" remove
if [ -e %s ] || [ -L /etc/extensions/sysprof ]; then echo left; fi
''' % (GRANTED, GRANTED, REFUSED, RELEASE)
# In its namespace nothing else has these names. The bus has forgotten who ends before the command returns.
SYSTEMCTL = '''#!/bin/sh
[ ! -e %s ] || merged=merged
echo "${merged-} $*"
end () {
  pkill -x "$1" || return 0
  while busctl --system call org.freedesktop.DBus / org.freedesktop.DBus NameHasOwner s "$2" | grep -q true; do :; done
}
case $* in
  'try-restart polkit.service') end polkitd org.freedesktop.PolicyKit1 ;;
  'stop sysprof3.service') end sysprofd org.gnome.Sysprof3 ;;
esac
''' % RELEASE


class Extension(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest('needs root')
        for program in ('systemd-sysext', 'busctl', 'dbus-daemon', 'pkaction', 'pkill', 'setpriv'):
            if shutil.which(program) is None:
                self.skipTest(f'needs {program}')
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)  # the bus and polkit are other users
        (self.folder / 'bin').mkdir()
        systemctl = self.folder / 'bin/systemctl'
        systemctl.write_text(SYSTEMCTL)
        systemctl.chmod(0o755)
        self.make_tree(SYSPROFD)

    def make_tree(self, service):
        subprocess.run([ROOT / 'scripts/sysext-tree', service, self.folder], check=True, stdout=subprocess.DEVNULL)
        self.tree = self.folder / 'lib/extensions/sysprof'

    def run_inside(self):
        # Mounts and files of this namespace never reach the machine, and its processes end with it.
        done = subprocess.run(['unshare', '--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child', '--mount-proc',
                               'sh', '-c', NAMESPACE, 'sh', self.folder, self.tree / 'sysext', SYSPROFD],
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode == 77:
            self.skipTest('no overlay can be mounted here')
        return done

    def test_merge_and_remove(self):
        done = self.run_inside()
        self.assertEqual(done.returncode, 0, done.stderr)
        vendor = re.search('<vendor>(.*)</vendor>', (ROOT / 'data/sysprofd/org.gnome.sysprof3.policy').read_text())[1]
        self.assertEqual([' '.join(line.split()) for line in done.stdout.splitlines()], [
            'merged enable --quiet systemd-sysext.service', 'merged daemon-reload', 'merged try-restart polkit.service',
            'The service answers.', f'link: {self.tree}', f'vendor: {vendor}',
            'granted: h', 'refused: Call failed: Access denied',
            'merged stop sysprof3.service', 'daemon-reload', 'try-restart polkit.service', 'The service is removed.'])

    def test_says_when_the_service_does_not_answer(self):
        self.make_tree('/bin/false')
        done = self.run_inside()
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn('the service does not answer. See: journalctl -u sysprof3.service', done.stderr)

    def test_refuses_files_of_a_user(self):
        for path in self.tree / 'usr/libexec/sysprofd', self.tree.parent:
            os.chown(path, 1, 1)
            done = self.run_inside()
            os.chown(path, 0, 0)
            self.assertEqual((done.returncode, done.stdout), (1, ''), done.stderr)
            self.assertIn(f'{path} can be changed by others than root', done.stderr)
            self.assertIn('A Flatpak of one user cannot install the service', done.stderr)


if __name__ == '__main__':
    unittest.main()
