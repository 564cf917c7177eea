#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs in containers, sandboxes and other file systems: their functions have names while they run, and
after all of these are gone.

The test makes each of these with mounts in a mount namespace. Expected names come from nm of the file
inside."""

import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import unittest

import tap
from programs import BUSY, CLI, REPORT, TIMEOUT, Case, needs_root, run, wait_for, wait_for_cpu_time

PRINT_SYMBOLS = os.environ.get("PRINT_SYMBOLS", "print-symbols")
NAME = f"inner-{os.getpid()}"  # nobody else on the machine runs a program of this name
SECONDS = "60"  # it is ended long before
OTHER_USER = 54321
CLONE_NEWNS, MNT_DETACH, MS_REC, MS_PRIVATE = 0x20000, 2, 0x4000, 1 << 18
libc = ctypes.CDLL(None, use_errno=True)


def check(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def do(*words):
    done = subprocess.run([str(word) for word in words], check=False, capture_output=True)
    if done.returncode != 0:
        raise OSError(f"{' '.join(map(str, words))}: {done.stderr.decode().strip()}")


def change_root(root):
    """As container runtimes do: the old root is gone."""
    os.chdir(root)
    check(libc.syscall(SYS_PIVOT_ROOT, b".", b"."))
    check(libc.umount2(b".", MNT_DETACH))
    os.chdir("/")


SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}.get(os.uname().machine, 41)


def copy_program(tree, program="bin/" + NAME, libraries=""):
    """With the libraries that it needs, below `libraries` of the tree."""
    words = run("ldd", BUSY).stdout.decode()
    for path in [BUSY, *re.findall(r"(/\S+) \(0x", words)]:
        to = f"{tree}/{program}" if path == BUSY else f"{tree}/{libraries}{path}"
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copy(path, to)


def is_mounted(path):
    with open("/proc/self/mounts", encoding="utf-8") as file:
        return any(line.split()[1] == path for line in file)


def functions_of(path):
    return set(re.findall(r"^\S+ [tTwW] (\S+)$", run("nm", path).stdout.decode(), re.MULTILINE))


def needs_fuse_overlayfs(function):
    return unittest.skipUnless(shutil.which("fuse-overlayfs"), "fuse-overlayfs is not installed")(function)


@unittest.skipUnless(shutil.which("nm") and shutil.which("ldd"), "needs nm and ldd")
class Places(Case):
    def setUp(self):
        super().setUp()
        self.mounted = []
        self.addCleanup(self.unmount)
        self.running = []
        self.addCleanup(self.end)

    def mount(self, *words):
        """In the namespace of all of these tests."""
        os.makedirs(words[-1], exist_ok=True)
        done = run("mount", *words)
        if done.returncode != 0:
            self.skipTest(f"mount {' '.join(words)}: {done.stderr.decode().strip()}")
        self.mounted.append(words[-1])

    def unmount(self):
        while self.mounted:
            run("umount", self.mounted.pop())

    def end(self):
        while self.running:
            pid = self.running.pop()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)  # it has a child
            os.waitpid(pid, 0)

    def start(self, enter, program="/bin/" + NAME):
        """Runs the program where `enter` leads: a function that is called in a mount namespace of its own."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(reading)
                os.setpgid(0, 0)
                os.dup2(os.open("/dev/null", os.O_RDWR), 1)
                check(libc.unshare(CLONE_NEWNS))
                check(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
                enter()
                os.execv(program, [program, SECONDS])
            except BaseException as error:  # pylint: disable=broad-except
                os.write(writing, str(error).encode())
            finally:
                os._exit(1)
        self.running.append(pid)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            error = pipe.read()
        if error:
            self.skipTest("cannot be made here: " + error.decode())

    def assert_named(self, rows):
        """`rows`: names of functions of the program, those of samples without a function among them."""
        self.assertIn("heavy_work", rows)
        # The linker's own stubs have no name, and are reported by their address.
        self.assertLessEqual({row for row in rows if not row.startswith(f"[{NAME}:0x")}, functions_of(BUSY))

    def assert_live(self):
        recorder = self.recorder("-f", "--json-status", "--max-size", "200M", "--pid", self.running[-1], "x.syscap")
        recorder.wait_for_status()
        wait_for_cpu_time(self.running[-1], 0.5)
        recorder.send(signal.SIGINT)
        code, _, error = recorder.finish()
        os.remove("notify")
        self.assertEqual(code, 0, error)
        done = run(REPORT, "functions", "--no-inlines", "--format", "json", "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_named({row["symbol"] for row in json.loads(done.stdout)["rows"] if row["binary"] == NAME})

    def assert_gone(self, **environment):
        """By the files that are still there, without the names that the capture has."""
        self.end()
        done = run(PRINT_SYMBOLS, "--ignore-bundled", "x.syscap", env=dict(os.environ, **environment))
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line.split("\t") for line in done.stdout.decode(errors="replace").splitlines()]
        self.assert_named({row[9] or row[3] for row in rows if row[4] == NAME})

    def assert_found(self, enter, program="/bin/" + NAME):
        self.start(enter, program)
        self.assert_live()
        self.assert_gone()

    @needs_root
    def test_bind_mount(self):
        copy_program("tree")
        os.mkdir("seen")
        self.assert_found(lambda: do("mount", "--bind", "tree", "seen"), self.path("seen/bin/" + NAME))

    @needs_root
    def test_chroot(self):
        copy_program("tree")
        self.assert_found(lambda: os.chroot("tree"))

    @needs_root
    def test_chroot_while_recording(self):
        """The kernel tells paths from that root."""
        copy_program("tree")
        recorder = self.recorder("-f", "--no-decode", "--max-size", "200M", "x.syscap")
        recorder.wait_until_recording()
        program = subprocess.Popen(["/bin/" + NAME, SECONDS], preexec_fn=lambda: os.chroot("tree"), start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.addCleanup(program.wait)
        self.running.append(program.pid)
        wait_for_cpu_time(program.pid, 0.5)
        recorder.send(signal.SIGINT)
        code, _, error = recorder.finish()
        self.assertEqual(code, 0, error)
        self.assert_gone()

    @needs_root
    def test_root_of_a_container(self):
        copy_program("tree")

        def enter():
            do("mount", "--bind", "tree", "tree")
            change_root("tree")

        self.assert_found(enter)

    @needs_root
    @unittest.skipUnless(shutil.which("cc"), "needs a compiler")
    def test_sources_of_a_container(self):
        """The report shows the source text of the file that the program saw, not of the file with that path
        here, also after all is gone."""
        os.makedirs("tree/src")
        os.makedirs("tree/bin")
        text = ["static volatile unsigned long n;", "__attribute__ ((noinline)) static void", "spin_here (void)", "{",
                "  for (unsigned i = 0; i < 1000000; i++)", "    n += i;", "}", "int", "main (void)", "{", "  for (;;)", "    spin_here ();", "}"]
        name = f"{NAME}.c"
        with open("tree/src/" + name, "w", encoding="ascii") as file:
            file.write("\n".join(text) + "\n")
        done = run("cc", "-g", "-O1", "-static", f"-ffile-prefix-map={self.path('tree/src')}=/src", "-o", "tree/bin/" + NAME,
                   self.path("tree/src/" + name))
        if done.returncode != 0:
            self.skipTest("no static program: " + done.stderr.decode())

        def enter():
            do("mount", "--bind", "tree", "tree")
            change_root("tree")

        self.start(enter)
        done = run(CLI, "-f", "-d", "0.5", "--max-size", "200M", "--pid", self.running[-1], "x.syscap")
        self.assertEqual(done.returncode, 0, done.stderr)
        for is_gone in False, True:
            if is_gone:
                self.end()
            done = run(REPORT, "source", "--focus", "spin_here", "--format", "json", "x.syscap")
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = json.loads(done.stdout)["rows"]
            self.assertGreater(sum(row["self"] for row in rows), 0)
            for row in rows:
                self.assertEqual((row["file"], row.get("source")), ("/src/" + name, text[row["line"] - 1]), is_gone)

    def make_overlay(self):
        copy_program("lower")
        self.mount("-t", "tmpfs", "none", self.path("upper"))
        os.mkdir("upper/diff")
        os.mkdir("upper/work")
        os.mkdir("merged")

    def mount_overlay(self):
        where = self.folder
        do("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={where}/lower,upperdir={where}/upper/diff,workdir={where}/upper/work", "merged")

    def enter_overlay(self):
        self.mount_overlay()
        change_root("merged")

    @needs_root
    def test_overlay(self):
        self.make_overlay()
        self.assert_found(self.enter_overlay)

    @needs_root
    def test_program_of_the_upper_layer(self):
        self.make_overlay()
        shutil.move(f"lower/bin/{NAME}", f"upper/diff/{NAME}")
        self.assert_found(self.enter_overlay, "/" + NAME)

    @needs_root
    def test_chroot_of_a_namespace(self):
        """A recorder outside sees paths from the root of the mount namespace, which its processes cannot
        reach."""
        self.make_overlay()

        def enter():
            self.mount_overlay()
            os.chroot("merged")

        self.start(enter)
        self.assert_live()

    @needs_root
    def test_new_root(self):
        """Older versions of bubblewrap: a recorder outside sees paths below /newroot."""
        copy_program("tree")
        os.mkdir("base")

        def enter():
            do("mount", "-t", "tmpfs", "none", "base")
            os.mkdir("base/newroot")
            do("mount", "--bind", "tree", "base/newroot")
            change_root("base")
            os.chroot("newroot")
            os.chdir("/")

        self.assert_found(enter)

    @needs_root
    def test_subvolume_of_btrfs(self):
        if not shutil.which("mkfs.btrfs") or not shutil.which("btrfs"):
            self.skipTest("btrfs-progs is not installed")
        with open("disk", "wb") as disk:
            disk.truncate(128 << 20)
        if run("mkfs.btrfs", "-q", "disk").returncode != 0:
            self.skipTest("mkfs.btrfs makes no file system here")
        self.mount("-o", "loop", "disk", self.path("all"))
        do("btrfs", "subvolume", "create", "all/inner")
        copy_program("all/inner")
        os.mkdir("seen")
        device = next(line.split()[0] for line in open("/proc/mounts", encoding="utf-8") if line.split()[1] == self.path("all"))
        self.assert_found(lambda: do("mount", "-o", "subvol=inner", device, "seen"), self.path("seen/bin/" + NAME))

    @needs_root
    def test_deployment_of_ostree(self):
        """The root is a part of the disk, as is /usr in it."""
        deployment = "sysroot/ostree/deploy/os/deploy/0123.0"
        copy_program(deployment, "usr/bin/" + NAME)

        def enter():
            do("mount", "--bind", deployment, deployment)
            do("mount", "--bind", deployment + "/usr", deployment + "/usr")
            change_root(deployment)

        self.assert_found(enter, "/usr/bin/" + NAME)

    @needs_root
    def test_sandbox_of_flatpak(self):
        """A root of nothing but mounts: the application's deployment, the runtime's, and links to that."""
        app, runtime = "flatpak/app/org.example.App/x/stable/0123/files", "flatpak/runtime/org.example.Platform/x/1/4567/files"
        os.makedirs(app + "/bin")
        copy_program(runtime, "unused")
        os.rename(runtime + "/unused", f"{app}/bin/{NAME}")
        os.mkdir("root")
        libraries = os.listdir(runtime)

        def enter():
            do("mount", "-t", "tmpfs", "none", "root")
            for name, source in (("app", app), ("usr", runtime)):
                os.mkdir("root/" + name)
                do("mount", "--bind", source, "root/" + name)
            for name in libraries:
                if name != "usr":
                    os.symlink("usr/" + name, "root/" + name)
            with open("root/.flatpak-info", "w", encoding="utf-8") as info:
                info.write(f"[Instance]\napp-path={self.folder}/{app}\nruntime-path={self.folder}/{runtime}\n")
            change_root("root")

        self.assert_found(enter, "/app/bin/" + NAME)

    def make_group(self, *names):
        """A group of processes within others; the file by which processes are put into it."""
        with open("/proc/self/mounts", encoding="utf-8") as file:
            places = [line.split()[1] for line in file if line.split()[2] in ("cgroup2", "cgroup") and "cpuset" not in line]
        for place in places:
            path = place
            with contextlib.suppress(OSError):
                for name in names:
                    path += "/" + name
                    os.mkdir(path)
                    self.addCleanup(self.remove_group, path)
                return path + "/cgroup.procs"
        self.skipTest("no group of processes can be made here")
        return None

    def remove_group(self, path):
        """Once its processes are gone for the kernel, too."""
        self.end()
        def is_removed():
            with contextlib.suppress(OSError):
                os.rmdir(path)
            return not os.path.isdir(path)

        wait_for(is_removed, f"{path} is empty")

    def make_storage(self, storage, container):
        """As Podman's has it: an image of two layers, libraries below and the program above, and the container's own. The words for
        fuse-overlayfs, and where that mounts it."""
        ids = {name: (name.encode().hex() * 64)[:64] for name in ("libraries", "program", "own")}
        overlay = f"{storage}/overlay"
        for name, short, lower in (("libraries", "AAA", None), ("program", "BBB", "l/AAA"), ("own", "CCC", "l/BBB:l/AAA")):
            layer = f"{overlay}/{ids[name]}"
            for folder in ("diff", "merged", "work", "../l"):
                os.makedirs(f"{layer}/{folder}", exist_ok=True)
            os.symlink(f"../{ids[name]}/diff", f"{overlay}/l/{short}")
            for file, text in (("link", short), ("lower", lower)):
                if text is not None:
                    with open(f"{layer}/{file}", "w", encoding="ascii") as out:
                        out.write(text)
        copy_program(f"{overlay}/{ids['libraries']}/diff")
        os.makedirs(f"{overlay}/{ids['program']}/diff/opt")
        os.rename(f"{overlay}/{ids['libraries']}/diff/bin/{NAME}", f"{overlay}/{ids['program']}/diff/opt/{NAME}")

        image = "1a" * 32
        for kind, rows in (("layers", [{"id": ids["libraries"]}, {"id": ids["program"], "parent": ids["libraries"]},
                                       {"id": ids["own"], "parent": ids["program"]}]),
                           ("images", [{"id": image, "names": ["localhost/x:latest"], "layer": ids["program"]}]),
                           ("containers", [{"id": container, "names": ["x"], "image": image, "layer": ids["own"]}])):
            os.makedirs(f"{storage}/overlay-{kind}")
            with open(f"{storage}/overlay-{kind}/{kind}.json", "w", encoding="ascii") as file:
                json.dump(rows, file)
        own = f"{overlay}/{ids['own']}"
        return ["-o", f"lowerdir={overlay}/l/BBB:{overlay}/l/AAA,upperdir={own}/diff,workdir={own}/work"], own + "/merged"

    def serve_overlay(self, words, merged):
        """By a process outside of the container's namespace: whoever changes the root of that one must not change the server's, which
        would look for the files of its layers in itself. Should it hang all the same, it is killed, and so is the file system."""
        server = subprocess.Popen(["timeout", "--signal=KILL", str(TIMEOUT), "fuse-overlayfs", "-f", *words, merged],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

        def end_server():
            self.end()  # who runs a file of it
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)
            server.wait()
            run("umount", "-l", merged)

        self.addCleanup(end_server)
        wait_for(lambda: is_mounted(merged) or server.poll() is not None, "fuse-overlayfs mounts")
        if server.poll() is not None:
            end_server()
            self.skipTest("fuse-overlayfs mounts nothing here")
        return end_server

    def assert_found_in_container(self, storage, *groups, **environment):
        """Its file system does not list its layers, and has inodes of its own."""
        container = f"{os.getpid():064x}"
        words, merged = self.make_storage(storage, container)
        group = self.make_group(*groups, f"libpod-{container}.scope")
        end_server = self.serve_overlay(words, merged)

        def enter():
            with open(group, "w", encoding="ascii") as file:
                file.write(str(os.getpid()))
            change_root(merged)

        self.start(enter, "/opt/" + NAME)
        self.assert_live()
        end_server()
        self.assertFalse(os.path.exists(f"{merged}/opt"))
        self.assert_gone(**environment)

    @needs_root
    @needs_fuse_overlayfs
    def test_container_of_podman(self):
        self.assert_found_in_container(self.path("share/containers/storage"), XDG_DATA_HOME=self.path("share"))

    @needs_root
    @needs_fuse_overlayfs
    def test_container_of_another_user(self):
        """The user's home as in the list of users: the group is one of that user's."""
        with open("/etc/passwd", encoding="utf-8") as file, open("passwd", "w", encoding="utf-8") as other:
            other.write(f"{file.read()}other:x:{OTHER_USER}:{OTHER_USER}::{self.path('home')}:/bin/sh\n")
        do("mount", "--bind", "passwd", "/etc/passwd")
        self.mounted.append("/etc/passwd")
        self.assert_found_in_container(self.path("home/.local/share/containers/storage"), f"user@{OTHER_USER}.service")


def leave_mounts_of_the_machine():
    """Mounts and the loop device of a test disappear when the test is killed."""
    if os.geteuid() == 0 and libc.unshare(CLONE_NEWNS) == 0:
        check(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))


if __name__ == "__main__":
    leave_mounts_of_the_machine()
    tap.main()
