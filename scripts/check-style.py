#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks rules of docs/style.md that a program can check, each with `--rule NAME`, or all of them.

Reads permitted exceptions from scripts/style-exceptions.txt and prints those that are no longer needed.
Exit status: 0 no faults, 1 faults, 77 the rule cannot be checked here.

usage: check-style.py [--rule NAME] [SOURCE_ROOT]
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

MAX_COLUMNS = 96
MAX_FUNCTION_LINES = 80
MAX_FILE_LINES = 600
MAX_FILES_PER_FOLDER = 22
MAX_SUBJECT = 72
MAX_CIRCLE = 3  # files
CODE = ('src', 'include', 'tests', 'bench', 'fuzz', 'examples')
CLANG_FORMAT = 'clang-format version 14.'  # other versions lay out code differently

Fault = collections.namedtuple('Fault', 'key where text')  # key: what an exception names


class CannotCheck(Exception):
    """The machine or the source tree has not what the rule needs."""


def sources(root, folders=CODE, suffixes=('.c', '.h')):
    """Yields (path below root, text)."""
    for folder in folders:
        for path in sorted((root / folder).rglob('*')):
            if path.suffix in suffixes and path.is_file():
                yield str(path.relative_to(root)), path.read_text(encoding='utf-8')


def without_comments(text):
    """Returns the text with comments, strings and characters emptied. Line numbers stay."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\''
    return re.sub(pattern, lambda m: '\n' * m[0].count('\n'), text, flags=re.S)


def check_format(root):
    """`make format` changes no file."""
    try:
        version = subprocess.run(['clang-format', '--version'], capture_output=True, text=True, check=True).stdout
    except OSError as error:
        raise CannotCheck('clang-format is not installed') from error
    if CLANG_FORMAT not in version:
        raise CannotCheck(f'needs {CLANG_FORMAT}x, found {version.strip()}')
    paths = [name for name, _ in sources(root)]
    run = subprocess.run(['clang-format', '--dry-run', '--ferror-limit=1', *paths], cwd=root, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        yield Fault('clang-format', 'clang-format', run.stderr.strip())
    for where in re.findall(r'(?m)^(\S+?:\d+):\d+: warning:', run.stderr):
        yield Fault(where.partition(':')[0], where, 'layout differs: run `make format`')


def check_width(root):
    """Lines of C code and of its comments have at most 96 columns."""
    for name, text in sources(root):
        for number, line in enumerate(text.split('\n'), 1):
            if len(line) > MAX_COLUMNS:
                yield Fault(name, f'{name}:{number}', f'{len(line)} columns, at most {MAX_COLUMNS}: wrap the line')


def check_functions(root):
    """A function has at most 80 lines."""
    for name, text in sources(root):
        lines = without_comments(text).split('\n')
        begin = None
        for number, line in enumerate(lines):
            if line == '{':
                begin = number
            elif line == '}' and begin is not None:
                head = begin
                while head > 0 and not re.match(r'\w+ ?\(', lines[head]):
                    head -= 1
                size = number - head + 1
                if size > MAX_FUNCTION_LINES:
                    function = re.match(r'\w*', lines[head])[0]
                    yield Fault(function, f'{name}:{head + 1}', f'{function} has {size} lines, at most {MAX_FUNCTION_LINES}: split it')
                begin = None


def check_files(root):
    """A file has at most 600 lines."""
    for name, text in sources(root):
        size = text.count('\n')
        if size > MAX_FILE_LINES:
            yield Fault(pathlib.Path(name).name, name, f'{size} lines, at most {MAX_FILE_LINES}: split it by what it does')


def check_folders(root):
    """A folder of src has at most 22 .c files."""
    folders = collections.Counter(str(pathlib.Path(name).parent) for name, _ in sources(root, ('src',), ('.c',)))
    for folder, count in sorted(folders.items()):
        if count > MAX_FILES_PER_FOLDER:
            yield Fault(folder, folder, f'{count} .c files, at most {MAX_FILES_PER_FOLDER}: make a sub-folder with a row in src/LAYERS')


def check_first_comments(root):
    """A file opens with a comment about its purpose."""
    for name, text in sources(root, suffixes=('.c', '.cc')):
        rest = re.sub(r'^// SPDX[^\n]*\n', '', text).lstrip()
        if not rest.startswith(('/*', '//')):
            yield Fault(name, name, 'no first comment: say what the file is for and what it must never do')
    for name, text in sources(root, (*CODE, 'scripts'), ('.py',)):
        rest = re.sub(r'^(#![^\n]*\n)?(# SPDX[^\n]*\n)?', '', text).lstrip()
        if not rest.startswith(('"""', '#', 'r"""')):
            yield Fault(name, name, 'no first comment: say what the file is for')


def check_callers(root):
    """A function that other files of src could call is called, or is part of the public interface."""
    definitions, uses = {}, collections.Counter()
    for name, text in sources(root, ('src', 'include')):
        text = without_comments(text)
        if name.startswith('src/') and name.endswith('.c') and not name.endswith('.bpf.c'):  # the kernel calls BPF programs
            for match in re.finditer(r'(?m)^(sysprof_\w+) \(', text):
                # The line before has the return type: "static" there means that the compiler reports it.
                before = text[:match.start()].rstrip('\n').rpartition('\n')[2]
                if not before.startswith('static'):
                    definitions[match[1]] = f'{name}:{text.count(chr(10), 0, match.start()) + 1}'
        # Lines that begin in column 0 declare and define, except for those of macros. The public interface is in include/.
        for line in text.split('\n'):
            if name.startswith('include/') or line[:1].isspace() or line[:1].isupper() or line.startswith('#') or '=' in line:
                uses.update(re.findall(r'\bsysprof_\w+', line))
    for function, where in sorted(definitions.items(), key=lambda item: item[1]):
        if not uses[function]:
            yield Fault(function, where, f'{function} has no caller in src: delete it')


def calls_between_files(root):
    """Returns {file: files of the same folder of src whose functions it calls}."""
    texts = {name: without_comments(text) for name, text in sources(root, ('src',), ('.c',))}
    definitions = {}  # (folder, function): file
    for name, text in texts.items():
        for function in re.findall(r'(?m)^(sysprof_\w+) \(', text):
            definitions[str(pathlib.Path(name).parent), function] = name
    return {name: {definitions.get((str(pathlib.Path(name).parent), function), name) for function in re.findall(r'\bsysprof_\w+', text)} - {name}
            for name, text in texts.items()}


def check_circles(root):
    """Files of one folder do not call each other in circles of more than three."""
    calls = calls_between_files(root)
    reached = {}
    for name in calls:
        reached[name], waiting = set(), [name]
        while waiting:
            new = calls[waiting.pop()] - reached[name]
            reached[name] |= new
            waiting += new
    circles = {frozenset(other for other in reached[name] if name in reached[other]) for name in calls}
    for circle in sorted(sorted(circle) for circle in circles if len(circle) > MAX_CIRCLE):
        folder, files = str(pathlib.Path(circle[0]).parent), ', '.join(pathlib.Path(name).name for name in circle)
        yield Fault(folder, folder, f'a circle of {len(circle)} files, at most {MAX_CIRCLE}: {files} call each other; let calls go one way')


def check_subjects(root):
    """Subjects of commits have at most 72 characters and name the module."""
    first = exceptions_of(root).get(('subjects', 'after'))
    git = ['git', '-C', str(root)]
    if not (root / '.git').exists() or first is None:
        raise CannotCheck('no git repository')
    if subprocess.run([*git, 'merge-base', '--is-ancestor', first, 'HEAD'], capture_output=True, check=False).returncode:
        raise CannotCheck(f'commit {first} is not part of this history')
    log = subprocess.run([*git, 'log', '--no-merges', '--format=%h %s', f'{first}..HEAD'], capture_output=True, text=True, check=True)
    for line in log.stdout.splitlines():
        commit, _, subject = line.partition(' ')
        if len(subject) > MAX_SUBJECT:
            yield Fault(commit, commit, f'subject has {len(subject)} characters, at most {MAX_SUBJECT}: "{subject}"')
        if not re.match(r'[\w.,*/ -]+: \S', subject):
            yield Fault(commit, commit, f'subject does not begin with a module, as in "record: …": "{subject}"')


RULES = {
    'format': check_format,
    'width': check_width,
    'functions': check_functions,
    'files': check_files,
    'folders': check_folders,
    'first-comments': check_first_comments,
    'callers': check_callers,
    'circles': check_circles,
    'subjects': check_subjects,
}
MAX_SHOWN = 30  # faults of one rule


def exceptions_of(root):
    """Returns {(rule, key): value} of scripts/style-exceptions.txt."""
    exceptions = {}
    for line in (root / 'scripts/style-exceptions.txt').read_text(encoding='utf-8').splitlines():
        if line.strip() and not line.startswith('#'):
            rule, key, value = line.split(None, 2)
            exceptions[rule, key] = value
    return exceptions


def faults_and_notes(root, rule):
    """Returns the faults that no exception permits, and notes about exceptions that are larger than needed."""
    exceptions = {key: value for (name, key), value in exceptions_of(root).items() if name == rule and key != 'after'}
    numbers = {key: int(value) for key, value in exceptions.items() if value.isdigit()}
    found, used = collections.defaultdict(list), set()
    for fault in RULES[rule](root):
        if fault.key in exceptions:
            used.add(fault.key)
        else:
            found[fault.where.split('/')[0]].append(fault)
    faults = []
    notes = [f'{rule} {key}: no longer needed' for key in exceptions if key not in used and key not in numbers]
    for top in sorted({*found, *numbers}):
        n_faults, limit = len(found[top]), numbers.get(top, 0)
        if n_faults > limit:
            faults += found[top]
            if limit:
                faults.insert(0, Fault(top, top, f'{n_faults} faults, and scripts/style-exceptions.txt permits {limit}'))
        elif n_faults < limit:
            notes.append(f'{rule} {top}: {n_faults} faults are left, {limit} permitted')
    return faults, notes


def main():
    parser = argparse.ArgumentParser(description='Checks rules of docs/style.md.')
    parser.add_argument('--rule', choices=RULES, action='append', help='check this rule only')
    parser.add_argument('root', nargs='?', default='.', type=pathlib.Path, help='directory of the sources')
    args = parser.parse_args()
    root, status = args.root.resolve(), 0
    for rule in args.rule or RULES:
        try:
            faults, notes = faults_and_notes(root, rule)
        except CannotCheck as error:
            print(f'{rule}: not checked: {error}')
            status = status or 77
            continue
        for note in notes:
            print(f'scripts/style-exceptions.txt: {note}')
        for fault in faults[:MAX_SHOWN]:
            print(f'{fault.where}: {fault.text}')
        if len(faults) > MAX_SHOWN:
            print(f'… and {len(faults) - MAX_SHOWN} more')
        print(f'{rule}: {"broken" if faults else "kept"}: {RULES[rule].__doc__}')
        status = 1 if faults else status
    return status


if __name__ == '__main__':
    sys.exit(main())
