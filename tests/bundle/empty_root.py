# SPDX-License-Identifier: GPL-3.0-or-later
"""A root directory in which there is one program with its libraries, under names that no recording has, and nothing else:
none of the files that were recorded, no kernel's symbols."""

import os
import re
import shutil
import subprocess
import tempfile


def can_change_root():
    done = subprocess.run([*_as_root(), "chroot", "/", "true"], capture_output=True, check=False)
    return done.returncode == 0


def _as_root():
    return [] if os.geteuid() == 0 else ["unshare", "--map-root-user"]


class EmptyRoot:
    """Use as a context: removed at its end."""

    def __init__(self, program):
        self._folder = tempfile.TemporaryDirectory(prefix="sysprof-root-")
        self.path = self._folder.name
        self._name = os.path.basename(program)
        os.mkdir(f"{self.path}/only")
        shutil.copy(program, f"{self.path}/only")
        done = subprocess.run(["ldd", program], capture_output=True, text=True, check=True)
        libraries = re.findall(r"/\S+", done.stdout)
        for library in libraries:
            shutil.copy(library, f"{self.path}/only")
        # Under sanitizers programs look for leaks through /proc, unless they read there that they shall not.
        os.makedirs(f"{self.path}/proc/self")
        with open(f"{self.path}/proc/self/environ", "wb") as file:
            file.write(b"ASAN_OPTIONS=detect_leaks=0\0")
        self._loader = next(name for name in map(os.path.basename, libraries) if name.startswith("ld-"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def run(self, capture, *arguments):
        """Standard output, as bytes, of the program with these arguments and the capture, which is the only file beside it."""
        shutil.copy(capture, f"{self.path}/capture")
        environment = dict(os.environ, LC_ALL="C.UTF-8")
        done = subprocess.run([*_as_root(), "chroot", self.path, f"/only/{self._loader}", "--library-path", "/only",
                               f"/only/{self._name}", *arguments, "/capture"],
                              capture_output=True, env=environment, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{self._name} in an empty root: {done.stderr.decode(errors='replace')}")
        return done.stdout
