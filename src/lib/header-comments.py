#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Converts the comments of public headers into documentation blocks for g-ir-scanner, with ownership annotations.

A header documents a function in a plain comment before its declaration. The comment also applies to further declarations
that follow without a blank line. In it, *(full)*, *(none)* and *(nullable)*
describe the ownership of the result. Functions that need more annotations have a documentation block in the header,
which the scanner reads directly.

usage: header-comments.py OUTPUT HEADER...
"""
import pathlib
import re
import sys

COMMENT = r'/\*(?!\*)((?:[^*]|\*(?!/))*)\*/\n'
DECLARATION = re.compile(r'(?:' + COMMENT + r')?'
                         r'((?:SYSPROF_(?:AVAILABLE|DEPRECATED)_IN_\w+(?: \(\w+\))?\n(?:(?!/\*|G_DECLARE)[^;{}])*;\n)+)')
FUNCTION = re.compile(r'SYSPROF_(?:AVAILABLE|DEPRECATED)_IN_(\w+?)(?:_FOR \((\w+)\))?\n([^;]*?)\b(sysprof_\w+) \(([^;]*)\);', re.S)
ENUM = re.compile(r'typedef enum\n\{\n(.*?)\} (\w+);', re.S)
VECTOR = re.compile(r'char ?\*(?:const )?\*')
TAG = re.compile(r'\s*\*\(([a-z,\s]+)\)\*[,;]?')
PROPERTY = re.compile(r'\s*Propert(?:y|ies)\s("[\w-]+"(?:,\s"[\w-]+")*)(?:,\s(notified[^.]*))?\.')


def plain(comment):
    lines = [re.sub(r'^ ?\* ?', '', line.strip()) if i else line.strip() for i, line in enumerate(comment.strip().split('\n'))]
    return re.sub(r'\b(NULL|TRUE|FALSE)\b', r'%\1', '\n'.join(lines)).strip()


def take_tags(text):
    tags = ' '.join(f'({word.strip()})' if word.strip() == 'nullable' else f'(transfer {word.strip()})'
                    for match in TAG.findall(text) for word in match.split(','))
    text = TAG.sub('', text)
    text = PROPERTY.sub('', text)
    return tags, re.sub(r'\s*Since\s\d+\.', '', text).strip(' ;\n')


def block(name, parameters, text, returns=None, notes=()):
    lines = [f'{name}:', *(f'@{parameter}: {what}' for parameter, what in parameters)]
    if text:
        lines += ['', *text.split('\n')]
    if returns is not None:
        lines += ['', f'Returns:{returns}']
    if notes:
        lines += ['', *notes]
    return '/**\n' + ''.join(f' * {line}'.rstrip() + '\n' for line in lines) + ' */\n'


def describe_function(comment, version, instead, returned, name, arguments):
    tags, text = take_tags(plain(comment))
    vectors = [bool(VECTOR.search(argument)) for argument in arguments.split(',')]
    names = [re.search(r'(\w+)(?:\[\d*\])?$', argument.strip()).group(1)
             for argument in arguments.split(',') if argument.strip() not in ('void', '')]
    parameters = [(name, {'self': 'the object', 'cancellable': '(nullable): a cancellable',
                          'callback': 'called when the operation is complete', 'user_data': 'for @callback',
                          'result': 'the result that was passed to the callback'}.get(name, f'the {name.replace("_", " ")}'))
                  for name in names if name != 'error']
    array = ('(nullable) ' if '%NULL' in text else '') + '(array zero-terminated=1): '
    parameters = [(parameter, array + what if is_vector else what)
                  for (parameter, what), is_vector in zip(parameters, vectors)]
    if VECTOR.search(returned):
        tags = '(array zero-terminated=1) ' + (tags or '(transfer none)')
    if '_set_' in name and 'nullable' in tags and len(parameters) > 1 and not parameters[1][1].startswith('(nullable)'):
        parameter, what = parameters[1]
        parameters[1] = (parameter, '(nullable)' + (' ' if what.startswith('(') else ': ') + what)
    returns = None if returned.strip() == 'void' else (f' {tags}:' if tags else '') + ' ' + (
        re.sub(r'^Returns (\w)', r'\1', text.split('\n\n')[0].split('. ')[0].replace('\n', ' ')) or 'the ' + re.sub(r'.*_get_', '', name).replace('_', ' '))
    notes = []
    if version.isdigit():
        notes.append(f'Since: {version}')
    if instead:
        notes.append(f'Deprecated: {version.split("_")[0]}: Use {instead}() instead')
    return block(name, parameters, text, returns, notes)


def describe_enum(body, name):
    values = re.findall(r'^  (SYSPROF_\w+)[^,\n]*,?(?:\s*/\* ([^*]*) \*/)?$', body.split('/*< private >*/')[0], re.M)
    return block(name, [(value, text.strip() or value.rsplit('_', 1)[-1].lower()) for value, text in values], '')


def main():
    output, *headers = sys.argv[1:]
    out = ['/* Made of the public headers; for g-ir-scanner only. */\n']

    for path in headers:
        text = pathlib.Path(path).read_text()
        own = set(re.findall(r'/\*\*\n \* (\w+):', text)) | {name for _, name in ENUM.findall(text)}
        for comment in re.findall(r'\n\n' + COMMENT, text):
            title = re.match(r'(Sysprof\w+): (.*)', plain(comment), re.S)
            if title and title.group(1) not in own:
                words = title.group(2)
                out.append(block(title.group(1), [], words[0].upper() + words[1:]))
        out += [describe_enum(body, name) for body, name in ENUM.findall(text)]

        for comment, declarations in DECLARATION.findall(text):
            for version, instead, returned, name, arguments in FUNCTION.findall(declarations):
                if name not in own and not name.endswith('_get_type'):
                    out.append(describe_function(comment, version, instead, returned, name, arguments))

    pathlib.Path(output).write_text('\n'.join(out))


if __name__ == '__main__':
    main()
