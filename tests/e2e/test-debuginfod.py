#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debug files of servers: Debian's debuginfod and ones that are slow, cut, lying or absent, in a network of their own."""

import contextlib
import ctypes
import datetime
import fcntl
import http.server
import json
import os
import pathlib
import re
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest
import urllib.error
import urllib.request

import captures
import tap
from captures import USER
from programs import CLI, REPORT, TIMEOUT, Case, needs_root, run

BASE = 0x7F0000000000
PID = 4000001  # above the largest pid: no such process lives
SOURCE = """
__attribute__ ((noinline)) static int inner_%s (int x) { __asm__ volatile ("" : "+r" (x)); return x + 1; }
int main (int argc, char **argv) { return inner_%s (argc) * 2; }
"""
LIBRARY = "libdebuginfod.so.1"
INSIDE = "SYSPROF_TEST_NETWORK"
# Root needs no user namespace; other users cannot mount or make networks without one.
ANSWER_TIMEOUT = 10  # s
UNSHARE = ["unshare", "--net", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]


def forget_settings():
    """Those of who runs the tests: of proxies, which know no server of ours, and of debuginfod's clients."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith("DEBUGINFOD_"):
            del os.environ[name]


def enter_network():
    """Starts this test again in a network that has a loopback only. FALSE if that is not allowed."""
    if INSIDE not in os.environ:
        if subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode != 0:
            return False
        os.environ[INSIDE] = "1"
        os.execvp(UNSHARE[0], [*UNSHARE, sys.executable, *sys.argv])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x41))  # SIOCSIFFLAGS: IFF_UP | IFF_RUNNING
    return True


def find_library():
    """The file itself, which programs of this process' kind load."""
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        return None
    maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
    return next(line.split(None, 5)[5] for line in maps.splitlines() if "/libdebuginfod" in line)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Program:
    """One with its debug information taken out, and the functions that nm knows in that."""

    def __init__(self, name):
        self.path, self.debug = os.path.abspath(name), os.path.abspath(name + ".debug")
        self.build_id = secrets.token_hex(20)
        pathlib.Path(name + ".c").write_text(SOURCE % (name, name), encoding="ascii")
        subprocess.run(["cc", "-g", "-O1", f"-Wl,--build-id=0x{self.build_id}", "-o", name, name + ".c"], check=True)
        listed = subprocess.run(["nm", name], capture_output=True, text=True, check=True).stdout
        self.functions = {n: int(a, 16) for a, n in re.findall(rf"^(\w+) [tT] (main|inner_{name})$", listed, re.M)}
        self.find_code()
        subprocess.run(["objcopy", "--only-keep-debug", name, self.debug], check=True)
        shutil.copy(name, name + ".whole")
        subprocess.run(["strip", name], check=True)

    def find_code(self):
        loads = subprocess.run(["readelf", "-lW", self.path], capture_output=True, text=True, check=True).stdout
        load = re.search(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R ?E", loads)
        self.offset, self.address, self.size = (int(number, 16) for number in load.groups())


class SharedProgram(Program):
    """One out of whose debug information dwz took what `shared` has, and every address of its main as a function."""

    # pylint: disable-next=super-init-not-called
    def __init__(self, name):
        source = pathlib.Path(__file__).resolve().parent.parent / "dwarf" / "inlines.cc"
        self.path, self.debug, self.whole, self.shared = (os.path.abspath(name + end) for end in ("", ".debug", ".whole", ".shared"))
        self.build_id, self.shared_id = secrets.token_hex(20), None
        for path, level in ((self.whole, "-O2"), (name + ".other", "-O1")):
            subprocess.run(["c++", "-g", level, "-fno-pie", "-no-pie", f"-Wl,--build-id=0x{self.build_id}", "-o", path, source], check=True)
        shutil.copy(self.whole, self.path)
        subprocess.run(["dwz", "-m", self.shared, "-M", "/nowhere/shared", self.path, name + ".other"], check=True)
        notes = subprocess.run(["readelf", "-n", self.shared], capture_output=True, text=True, check=True).stdout
        self.shared_id = re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
        listed = subprocess.run(["nm", "-S", self.path], capture_output=True, text=True, check=True).stdout
        start, size = (int(number, 16) for number in re.search(r"^(\w+) (\w+) T main$", listed, re.M).groups())
        self.functions = {str(at): at for at in range(start, start + size)}
        self.find_code()
        subprocess.run(["objcopy", "--only-keep-debug", self.path, self.debug], check=True)
        subprocess.run(["strip", self.path], check=True)



def write_capture(path, *weights, allocations=(), layer=None, is_identified=True):
    """(program, samples in each of its functions) each, and the same of allocations. The process saw `layer` as its root."""
    now = time.monotonic_ns()
    made = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    capture = captures.Capture(now, now + 1000000, False, made, now=now)
    if not is_identified:
        capture.metadata("uname.release", os.uname().release)  # else it may be of another machine, of which nothing is taken
    capture.process("program", pid=PID)
    if layer is not None:
        capture.overlay(layer, "/", pid=PID)
    for i, (program, n) in enumerate([*weights, *allocations]):
        base = BASE + (i << 32)
        place = (layer or "") + program.path
        inode = os.stat(place).st_ino if is_identified and os.path.exists(place) else 0
        capture.map(base, base + ((program.size + 4095) & ~4095), program.path, program.offset, inode,
                    program.build_id if is_identified else None, pid=PID)
        for address in program.functions.values():
            for j in range(n):
                stack = [USER, base + address - program.address]
                if i < len(weights):
                    capture.sample(stack, pid=PID)
                else:
                    capture.allocation(16 * (j + 1), 16, stack, tid=PID, pid=PID)
    return capture.save(path)


class Stub(http.server.BaseHTTPRequestHandler):
    """Answers as its server's `answer` does."""

    def do_GET(self):
        self.server.asked.append(self.path)
        with contextlib.suppress(OSError):
            self.server.answer(self)

    def log_message(self, *words):
        pass


@contextlib.contextmanager
def stub_server(answer):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stub)
    server.daemon_threads, server.block_on_close = True, False
    server.answer, server.asked = answer, []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def send(data, length=None):
    def answer(request):
        request.send_response(200)
        request.send_header("Content-Type", "application/octet-stream")
        request.send_header("Content-Length", str(length or len(data)))
        request.end_headers()
        request.wfile.write(data)

    return answer


@unittest.skipUnless(find_library(), f"{LIBRARY} is not installed")
@unittest.skipUnless(INSIDE in os.environ, "a network of our own is not allowed here")
@unittest.skipUnless(shutil.which("objcopy"), "objcopy is not installed")
class Debuginfod(Case):
    def setUp(self):
        super().setUp()
        self.program = Program("thing")

    def report(self, url, *options, capture="c", wait=True):
        """{function: samples}, and what was said. With a server it is waited for."""
        environment = dict(os.environ, DEBUGINFOD_CACHE_PATH=self.path("cache"), HOME=self.folder)
        environment.pop("DEBUGINFOD_URLS", None)
        if url is not None:
            environment["DEBUGINFOD_URLS"] = url
        if url is not None and wait and "--no-debuginfod" not in options:
            options = ("--debuginfod", *options)
        done = run(REPORT, "functions", "--format", "json", *options, capture, env=environment)
        said = done.stderr.decode()
        self.assertEqual(done.returncode, 0, said)
        return {row["symbol"]: row["self"] for row in json.loads(done.stdout)["rows"]}, said

    def check_named(self, rows, program=None, n=10):
        for name in (program or self.program).functions:
            self.assertEqual(rows.get(name, 0) % n, 0, rows)
            self.assertGreater(rows.get(name, 0), 0, rows)

    def check_nameless(self, rows):
        self.assertEqual([name for name in rows if not name.startswith("[")], [])

    @unittest.skipUnless(shutil.which("debuginfod"), "debuginfod is not installed")
    def test_debian_server(self):
        """Files that were found, that were not found and were requested once, with too few samples, and that
        are not on this machine."""
        served = pathlib.Path("served")
        served.mkdir()
        gone, unknown, light = Program("gone"), Program("unknown"), Program("light")
        for path in (self.program.debug, gone.debug, gone.path, light.debug):
            shutil.copy(path, served)
        os.remove(gone.path)
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        # The server's own client must not query this server, or any other.
        server = subprocess.Popen(["debuginfod", "-d", ":memory:", "-p", str(port), "-F", str(served)],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  env={name: value for name, value in os.environ.items() if name != "DEBUGINFOD_URLS"})
        try:
            self.wait_for(f"{url}/buildid/{light.build_id}/debuginfo", f"{url}/buildid/{gone.build_id}/executable",
                          f"{url}/buildid/{gone.build_id}/debuginfo", f"{url}/buildid/{self.program.build_id}/debuginfo")
            write_capture("c", (self.program, 300), (gone, 300), (unknown, 300), (light, 1))

            before = self.count(url)
            rows, said = self.report(None)
            self.check_nameless(rows)
            self.assertEqual(said, "")
            rows, said = self.report(url, "--no-debuginfod")
            self.check_nameless(rows)
            self.assertEqual((said, self.count(url)), ("", before))

            rows, said = self.report(url)
            self.check_named(rows, n=300)
            self.check_named(rows, gone, n=300)
            self.assertNotIn("inner_unknown", rows)
            self.assertNotIn("inner_light", rows)
            self.assertRegex(said, r"debuginfod: requested 4 debug files from servers in [\d.]+ s: 3 found \([\d.]+ MB\), 1 not found\.\n$")
            self.assertEqual(self.count(url), before + 4)

            again, said = self.report(url)
            self.assertEqual(again, rows)
            self.assertRegex(said, r"debug files: 3 from the cache, 1 recently not found on servers\.\n$")
            self.assertEqual(self.count(url), before + 4)
        finally:
            server.kill()
            server.wait()
        # Downloaded files are used without any server, also if no server is configured.
        self.assertEqual(self.report(url)[0], rows)
        self.assertEqual(self.report(None, "--no-debuginfod"), (rows, ""))

    @unittest.skipUnless(shutil.which("debuginfod"), "debuginfod is not installed")
    def test_sources(self):
        """Of a program that is nowhere here: the server's text, and later that of the cache."""
        served, empty = pathlib.Path("served"), self.path("empty")
        served.mkdir()
        os.mkdir(empty)
        for path in (self.program.debug, self.program.path):
            shutil.copy(path, served)
        source = self.program.path + ".c"
        text = pathlib.Path(source).read_text(encoding="ascii").splitlines()
        write_capture("c", (self.program, 300))
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        server = subprocess.Popen(["debuginfod", "-d", ":memory:", "-p", str(port), "-F", str(served)],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  env={name: value for name, value in os.environ.items() if name != "DEBUGINFOD_URLS"})

        def lines(url, *options):
            environment = dict(os.environ, DEBUGINFOD_CACHE_PATH=self.path("cache"), HOME=self.folder)
            if url is not None:
                environment["DEBUGINFOD_URLS"] = url
            done = run(REPORT, "source", "--focus", "main", "--format", "json", *options, "c", env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)["rows"], done.stderr.decode()

        try:
            build = f"{url}/buildid/{self.program.build_id}"
            self.wait_for(build + "/executable", build + "/debuginfo", build + "/source" + source)
            rows, said = lines(url, "--debuginfod", "--sysroot", empty)
        finally:
            server.kill()
            server.wait()
        self.assertGreater(len(rows), 0)
        self.assertEqual({(row["file"], row.get("source", "")) for row in rows}, {(source, text[row["line"] - 1]) for row in rows})
        self.assertRegex(said, r"requested 1 source files from servers in [\d.]+ s: 1 found \([\d.]+ MB\)\.\n$")
        os.remove(source)
        again, said = lines(None, "--no-debuginfod")
        self.assertEqual((again, said), (rows, ""))

    @unittest.skipUnless(shutil.which("dwz") and shutil.which("c++"), "dwz or a compiler of C++ is not installed")
    def test_what_dwz_took_out(self):
        """Names of inlined functions, which debug files of a package share: the shared file is requested with
        the first of them."""
        program = SharedProgram("sharing")
        files = {program.build_id: program.debug, program.shared_id: program.shared}

        def answer(request):
            name = files.get(request.path.split("/")[2]) if request.path.endswith("/debuginfo") else None
            if name is None:
                request.send_error(404)
            else:
                send(pathlib.Path(name).read_bytes())(request)

        write_capture("c", (program, 1))
        with stub_server(answer) as (server, url):
            rows, said = self.report(url)
            self.assertEqual([path.split("/")[2] for path in server.asked], [program.build_id, program.shared_id])
            self.assertRegex(said, r"requested 2 debug files from servers in [\d.]+ s: 2 found \([\d.]+ MB\)\.\n$")
        again = self.report(None)
        shutil.copy(program.whole, program.path)
        write_capture("c", (program, 1))
        expected, _ = self.report(None)
        self.assertGreater(len(expected), 5)
        self.assertEqual(rows, expected)
        self.assertEqual(again, (rows, ""))

    def wait_for(self, *urls):
        end = time.monotonic() + TIMEOUT
        for url in urls:
            while True:
                try:
                    with urllib.request.urlopen(url, timeout=ANSWER_TIMEOUT) as answer:
                        answer.read()
                    break
                except (urllib.error.URLError, OSError):
                    self.assertLess(time.monotonic(), end, f"no answer: {url}")
                    time.sleep(0.1)

    @staticmethod
    def count(url):
        """Requests for files until now."""
        with urllib.request.urlopen(url + "/metrics", timeout=ANSWER_TIMEOUT) as answer:
            text = answer.read().decode()
        return sum(int(float(n)) for n in re.findall(r'^http_requests_total\{type="(?:debuginfo|executable)"\} (\S+)$', text, re.M))

    def test_slow(self):
        """A server that accepts connections and does not reply: only the first file is waited for, and no
        second one is requested."""
        write_capture("c", *((Program(f"p{i}"), 10) for i in range(6)))
        end = threading.Event()
        with stub_server(lambda request: end.wait(TIMEOUT)) as (server, url):
            rows, said = self.report(url)
            end.set()
        self.check_nameless(rows)
        self.assertRegex(said, r"requested 6 debug files from servers in [\d.]+ s: 6 not answered \(.*\)\.\n$")
        self.assertLessEqual(len(set(server.asked)), 4)

    def test_names_first_downloads_afterwards(self):
        """With servers in the environment alone a report is there at once; what they have is in the next one."""
        write_capture("c", (self.program, 10))
        with stub_server(send(pathlib.Path(self.program.debug).read_bytes())) as (server, url):
            rows, said = self.report(url, wait=False)
            self.check_nameless(rows)
            self.assertRegex(said, r"downloading 1 file from debuginfod servers, for the next report; \^C cancels\..*\n.*1 found")
            self.check_named(self.report(url, wait=False)[0])
            self.assertEqual(len(server.asked), 1)

    def test_silent_server_delays_nothing(self):
        """The report ends although the server does not reply; ^C cancels the remaining requests."""
        write_capture("c", (self.program, 10))
        end = threading.Event()
        environment = dict(os.environ, DEBUGINFOD_CACHE_PATH=self.path("cache"), HOME=self.folder)
        with stub_server(lambda request: end.wait(TIMEOUT)) as (server, url):
            environment["DEBUGINFOD_URLS"] = url
            with subprocess.Popen([REPORT, "functions", "--format", "json", "c"], env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as report:
                rows = json.loads(report.stdout.read())["rows"]
                self.assertEqual(len(rows), 2)
                self.assertIn(b"downloading 1 file", report.stderr.readline())
                self.assertIsNone(report.poll())
                report.send_signal(signal.SIGINT)
                self.assertEqual(report.wait(TIMEOUT), -signal.SIGINT)
            end.set()

    @needs_root
    def test_silent_server_and_the_recorder(self):
        """The capture is complete before a server is queried."""
        end = threading.Event()
        environment = dict(os.environ, DEBUGINFOD_CACHE_PATH=self.path("cache"), HOME=self.folder)
        program = f"end=$(($(date +%s)+2)); while [ $(date +%s) -lt $end ]; do {self.program.path}; done"
        with stub_server(lambda request: end.wait(TIMEOUT)) as (server, url):
            environment["DEBUGINFOD_URLS"] = url
            with subprocess.Popen([CLI, "-f", "--max-size", "200M", "-o", "-", "--", "sh", "-c", program], env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as recorder:
                capture = recorder.stdout.read()
                said = recorder.stderr.readline()
                while said and b"Downloading" not in said:
                    said = recorder.stderr.readline()
                is_downloading = bool(said)
                recorder.send_signal(signal.SIGINT)
                recorder.wait(TIMEOUT)
            end.set()
        self.assertIn(b"__symbols__", capture)
        if not is_downloading:
            self.skipTest("every sampled function had a name")
        self.assertEqual(recorder.returncode, -signal.SIGINT)

    def test_cut(self):
        write_capture("c", (self.program, 10))
        data = pathlib.Path(self.program.debug).read_bytes()
        with stub_server(send(data[: len(data) // 2], len(data))) as (server, url):
            rows, said = self.report(url)
        self.check_nameless(rows)
        # Version 0.188 of the library calls it not found.
        self.assertRegex(said, "1 not (answered|found)")
        kept = pathlib.Path(self.path(f"cache/{self.program.build_id}/debuginfo"))
        self.assertFalse(kept.exists() and kept.stat().st_size > 0)

    def test_lying(self):
        """A reply that is no debug file, and one of another build: never used, and reported."""
        other = Program("other")
        write_capture("c", (self.program, 10))
        for data in (b"no debug file\n" * 100, pathlib.Path(other.debug).read_bytes()):
            with self.subTest(data[:10]):
                with stub_server(send(data)) as (server, url):
                    rows, said = self.report(url)
                self.check_nameless(rows)
                self.assertEqual(len(server.asked), 1)
                self.assertRegex(said, r"1 found \(.*\), 1 rejected as not the requested file\.\n$")
                shutil.rmtree(self.path("cache"))

    def test_too_large(self):
        write_capture("c", (self.program, 10))
        with stub_server(send(b"x" * 100, 600 << 20)) as (server, url):
            rows, said = self.report(url)
        self.check_nameless(rows)
        self.assertIn("1 skipped as larger than the limit", said)

    def test_absent(self):
        """Nobody listens; no server is known."""
        write_capture("c", (self.program, 10))
        rows, said = self.report(f"http://127.0.0.1:{free_port()}")
        self.check_nameless(rows)
        self.assertRegex(said, r"requested 1 debug files from servers in [\d.]+ s: 1 not answered \(.*\)\.\n$")

        empty = self.path("empty")
        os.mkdir(empty)
        self.bind(empty, "/etc/debuginfod")
        rows, said = self.report(None, "--debuginfod")
        self.check_nameless(rows)
        self.assertIn("none is configured. Set DEBUGINFOD_URLS", said)

        # Settings that a login shell reads are used.
        pathlib.Path(empty, "x.urls").write_text("http://127.0.0.1:1\n", encoding="ascii")
        self.assertIn("requested 1 ", self.report(None, "--debuginfod")[1])

    def test_missing_library(self):
        write_capture("c", (self.program, 10))
        self.bind("/dev/null", find_library())
        rows, said = self.report(f"http://127.0.0.1:{free_port()}")
        self.check_nameless(rows)
        self.assertIn("No debuginfod server was queried: ", said)
        self.assertIn("Install libdebuginfod", said)

    def test_gone_container(self):
        """The layer contains the container's file. At the path that it had in the container there is another
        one."""
        inside = Program("inside")
        layer = self.path("layer")
        os.makedirs(layer + self.folder)
        os.rename(inside.path, layer + inside.path)
        shutil.copy(self.program.path, inside.path)
        for is_identified in True, False:
            with self.subTest(is_identified=is_identified):
                write_capture("c", (inside, 10), layer=layer, is_identified=is_identified)
                with stub_server(send(pathlib.Path(inside.debug).read_bytes())) as (server, url):
                    rows, said = self.report(url)
                self.assertEqual(set(server.asked), {f"/buildid/{inside.build_id}/debuginfo"})
                self.check_named(rows, inside)
                self.assertRegex(said, r"1 found \([\d.]+ MB\)\.\n$")
                shutil.rmtree(self.path("cache"))

    @unittest.skipUnless(shutil.which("debuginfod"), "debuginfod is not installed")
    def test_kernel_modules(self):
        """By the build ID that the recorder tells: found, found nowhere, and one of too little weight."""
        text, release = 0xFFFFFFFFC0800000, "6.1.0-77-none"
        served = pathlib.Path("served-modules")
        served.mkdir()
        modules = []
        for name in ("thick", "absent", "thin"):
            pathlib.Path(name + ".c").write_text(f"int outside (int);\nint {name}_one (int x) {{ return outside (x) + 1; }}\n"
                                                 f"int {name}_two (int x) {{ return outside (x) * 3; }}\n", encoding="ascii")
            build_id, path = secrets.token_hex(20), f"{name}.ko"
            subprocess.run(["cc", "-g", "-O1", "-ffreestanding", "-fno-pic", "-fno-asynchronous-unwind-tables", "-c", name + ".c"], check=True)
            subprocess.run(["ld", "-r", f"--build-id=0x{build_id}", "-o", path, name + ".o"], check=True)
            listed = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
            modules.append((name, build_id, {n: int(at, 16) for at, n in re.findall(r"^(\w+) T (\w+)$", listed, re.M)}))
            self.assertEqual(len(modules[-1][2]), 2)
            if name != "absent":
                shutil.copy(path, served)
        now = time.monotonic_ns()
        capture = captures.Capture(now, now + 1000000, False, now=now)
        capture.metadata("uname.release", release).metadata("org.gnome.sysprof.boot-id", "one -")
        lines = [f"{name} {build_id} .text={text + (i << 16):x}\n" for i, (name, build_id, _) in enumerate(modules)]
        capture.chunked_file("__modules__", "".join(lines).encode())
        for i, (name, _, functions) in enumerate(modules):
            for offset in functions.values():
                for _ in range(1 if name == "thin" else 300):
                    capture.sample([captures.KERNEL, text + (i << 16) + offset], pid=PID)
        capture.save("m")
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        server = subprocess.Popen(["debuginfod", "-d", ":memory:", "-p", str(port), "-F", str(served)],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  env={name: value for name, value in os.environ.items() if name != "DEBUGINFOD_URLS"})
        try:
            self.wait_for(*(f"{url}/buildid/{build_id}/debuginfo" for name, build_id, _ in modules if name != "absent"))
            before = self.count(url)
            self.check_nameless(self.report(url, "--no-debuginfod", capture="m")[0])
            self.assertEqual(self.count(url), before)
            rows, said = self.report(url, capture="m")
            self.assertEqual({name: n for name, n in rows.items() if not name.startswith("[")}, {"thick_one": 300, "thick_two": 300})
            self.assertRegex(said, r"debuginfod: requested 2 debug files from servers in [\d.]+ s: 1 found \([\d.]+ MB\), 1 not found\.\n$")
            self.assertEqual(self.count(url), before + 2)
        finally:
            server.kill()
            server.wait()
        # It stays in the cache, and has lines.
        self.assertEqual(self.report(None, "--no-debuginfod", capture="m")[0], rows)
        done = run(REPORT, "samples", "--format", "json", "--limit", "0", "--no-debuginfod", "m",
                   env=dict(os.environ, DEBUGINFOD_CACHE_PATH=self.path("cache"), HOME=self.folder))
        named = {(entry["symbol"], os.path.basename(entry["file"]), entry["line"], entry["binary"])
                 for row in json.loads(done.stdout)["rows"] for entry in row["stack"] if "line" in entry}
        self.assertEqual(named, {("thick_one", "thick.c", 2, "[thick]"), ("thick_two", "thick.c", 3, "[thick]")})

    def test_weights(self):
        """Functions that only allocate count, too, but not if they allocate little."""
        heavy, light = Program("heavy"), Program("light")
        for sampled in [], [(self.program, 300)]:
            with self.subTest(sampled=len(sampled)):
                write_capture("c", *sampled, allocations=[(heavy, 300), (light, 1)])
                with stub_server(lambda request: request.send_error(404)) as (server, url):
                    self.report(url)
                self.assertEqual(set(server.asked), {f"/buildid/{program.build_id}/debuginfo"
                                                     for program in [heavy, *(program for program, n in sampled)]})
                shutil.rmtree(self.path("cache"))

    def test_command(self):
        """The servers that --debuginfod finds are none that the recorded command was given."""
        folder = self.path("servers")
        os.mkdir(folder)
        pathlib.Path(folder, "x.urls").write_text("http://127.0.0.1:1\n", encoding="ascii")
        self.bind(folder, "/etc/debuginfod")
        done = run(CLI, "-f", "-d", "60", "--max-size", "200M", "--no-perf", "--debuginfod", "--record-environment", "c", "--",
                   "sh", "-c", "echo ${DEBUGINFOD_URLS-none} > said")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(pathlib.Path("said").read_text(encoding="ascii"), "none\n")
        capture = pathlib.Path("c").read_bytes()
        self.assertIn(b"PATH=", capture)
        self.assertNotIn(b"DEBUGINFOD_URLS=", capture)

    def bind(self, source, target):
        if not os.path.exists(target):
            self.skipTest(f"there is no {target}")
        subprocess.run(["mount", "--bind", source, target], check=True)
        self.addCleanup(subprocess.run, ["umount", target], check=True)


if __name__ == "__main__":
    forget_settings()
    enter_network()
    tap.main()
