#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Uses an installation as other projects do: every header compiles alone, as C and as C++, without warnings;
a program links and runs with the libraries that pkg-config finds; the examples build and run.

usage: test-installed.py BUILD_DIRECTORY
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
LANGUAGES = {
    'c': [['gcc', '-std=c17'], ['clang', '-std=c11']],
    'c++': [['g++', '-std=c++17']],
}
# Those of the capture library, which need nothing but libc.
CAPTURE_HEADERS = {
    'sysprof-address.h', 'sysprof-capture-condition.h', 'sysprof-capture-cursor.h', 'sysprof-capture-reader.h',
    'sysprof-capture-types.h', 'sysprof-capture-writer.h', 'sysprof-capture.h', 'sysprof-clock.h',
    'sysprof-collector.h', 'sysprof-macros.h', 'sysprof-platform.h', 'sysprof-version-macros.h', 'sysprof-version.h',
}
# As strict C11.
CAPTURE_PROGRAM = '''
#include <sysprof-capture.h>
static const uint32_t magic = SYSPROF_CAPTURE_MAGIC;
_Static_assert (sizeof magic == 4, "a constant of 32 bits");
int main (void) { return magic == 0 || sysprof_capture_writer_new_from_fd (-1, 0) != 0; }
'''


def has(compiler):
    return subprocess.run(['which', compiler], capture_output=True).returncode == 0


def pkg_config(path, *arguments):
    return subprocess.run(['pkg-config', *arguments], check=True, capture_output=True, text=True,
                          env={**os.environ, 'PKG_CONFIG_PATH': str(path)}).stdout.split()


def compile_alone(header, language, compiler, flags):
    # pedantic is not asked: GLib's own headers are not
    result = subprocess.run([*compiler, '-fsyntax-only', '-Wall', '-Wextra', '-Werror', '-x', language, *flags, '-'],
                            input=f'#include <{header}>\n', capture_output=True, text=True)
    return None if result.returncode == 0 else f'<{header}> with {" ".join(compiler)}:\n{result.stderr}'


def main():
    build = pathlib.Path(sys.argv[1])
    faults = []

    # It installs, builds and runs the examples.
    run = subprocess.run([SOURCE / 'scripts/examples', build], capture_output=True, text=True)
    print(run.stdout, run.stderr)
    if run.returncode != 0:
        return 1
    counts = dict(line.split(': ', 1) for line in run.stdout.splitlines() if ': ' in line)
    if int(counts['counters']) < 6:
        faults.append('the examples recorded fewer counters than every machine has')
    if os.geteuid() == 0 and int(counts['samples']) == 0:
        faults.append('the examples recorded no samples')

    installed = build / 'installed'
    pkgconfig = installed / 'pkgconfig'
    [headers] = installed.rglob('include/sysprof-6')
    names = sorted(path.name for path in headers.iterdir())
    flags = pkg_config(pkgconfig, '--cflags', 'sysprof-6')
    capture_flags = pkg_config(pkgconfig, '--cflags', 'sysprof-capture-4')
    if any('glib' in flag for flag in capture_flags):
        faults.append('sysprof-capture-4.pc asks for GLib')

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = []
        for language, compilers in LANGUAGES.items():
            for compiler in compilers:
                if has(compiler[0]):
                    jobs += [pool.submit(compile_alone, name, language, compiler, flags) for name in names]
                    jobs += [pool.submit(compile_alone, name, language, compiler, capture_flags)
                             for name in sorted(CAPTURE_HEADERS)]
        faults += [job.result() for job in jobs if job.result() is not None]

    for module in 'sysprof-6', 'sysprof-capture-4':
        version = pkg_config(pkgconfig, '--modversion', module)
        if version != ['51.0.0']:
            faults.append(f'{module}.pc says version {version}')

    program = installed / 'capture-program'
    subprocess.run(['gcc', '-std=c11', '-Wall', '-Werror', *os.environ.get('CFLAGS', '').split(), '-x', 'c', '-', '-o', program,
                    *pkg_config(pkgconfig, '--cflags', '--libs', 'sysprof-capture-4')],
                   input=CAPTURE_PROGRAM, check=True, text=True)
    if subprocess.run([program]).returncode != 0:
        faults.append('a program of the capture library alone does not do what it should')
    if b'libglib' in subprocess.run(['ldd', program], check=True, capture_output=True).stdout:
        faults.append('a program of the capture library alone needs GLib')

    print('\n'.join(faults))
    print(f'{len(names)} headers in {len(jobs)} compilations')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
