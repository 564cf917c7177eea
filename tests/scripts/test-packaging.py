#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the packages say about the project is true: versions, dependencies, options, permissions.

usage: test-packaging.py SOURCE_DIR VERSION
"""
import json
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv[1])
VERSION = sys.argv[2]
del sys.argv[1:3]
# Of ../shared/spec/privileged-service.md, section 8; without these the application does not work in its sandbox.
PERMISSIONS = {
    'allow': ['devel'], 'share': ['ipc', 'network'], 'socket': ['fallback-x11', 'session-bus', 'system-bus', 'wayland'], 'device': ['dri'],
    'filesystem': ['/var/lib/flatpak:ro', 'home', 'host', '~/.local/share/flatpak:ro'], 'talk-name': ['org.freedesktop.Flatpak'],
    'system-talk-name': ['org.freedesktop.PolicyKit1', 'org.gnome.Sysprof3']}


def options(text):
    return set(re.findall(r'-D([a-z]+)=', text))


class Packaging(unittest.TestCase):
    def setUp(self):
        self.known = set(re.findall(r"(?m)^option\('([a-z]+)'", (ROOT / 'meson_options.txt').read_text()))

    def test_flatpak(self):
        manifest = json.loads((ROOT / 'data/app/org.gnome.Sysprof.json').read_text())
        permissions = {}
        for argument in manifest['finish-args']:
            kind, value = re.fullmatch('--([a-z-]+)=(.+)', argument).groups()
            permissions.setdefault(kind, []).append(value)
        self.assertEqual({kind: sorted(values) for kind, values in permissions.items()}, PERMISSIONS)
        self.assertEqual((manifest['id'], manifest['command']), ('org.gnome.Sysprof', 'sysprof'))
        for module in manifest['modules']:
            self.assertEqual(options(' '.join(module['config-opts'])) - self.known, set())
            for source in module['sources']:
                self.assertTrue((ROOT / 'data/app' / source['path'] / 'meson.build').exists())

    def test_debian(self):
        debian = ROOT / 'debian'
        self.assertEqual(re.match(r'sysprof \((.*?)\)', (debian / 'changelog').read_text())[1], VERSION)
        self.assertEqual(options((debian / 'rules').read_text()) - self.known, set())
        control = (debian / 'control').read_text()
        packages = set(re.findall('(?m)^Package: (.*)', control))
        self.assertEqual(packages, {path.stem for path in debian.glob('*.install')})
        needed = re.search(r'Build-Depends:((?:.*\n)(?: .*\n)*)', control)[1]
        names = {re.match(r'[a-z0-9.+-]+', words.strip())[0] for words in needed.split(',')} - {'debhelper-compat'}
        installed = set(re.findall(r'([^\s|\']+)\|', (ROOT / 'scripts/install-deps').read_text()))
        self.assertGreater(len(names), 15)
        self.assertEqual(names - installed, set())


if __name__ == '__main__':
    unittest.main()
