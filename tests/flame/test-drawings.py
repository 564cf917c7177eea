#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads drawings of flame graphs with parsers that are not ours, and checks their contents."""
import html.parser
import json
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True
import stacks  # noqa: E402

DRAW = sys.argv.pop(1)
SVG = '{http://www.w3.org/2000/svg}'


def draw(profile, look, *args):
    return subprocess.run([DRAW, look, *args], input=profile.rows(), stdout=subprocess.PIPE, check=True).stdout


def frames_of(svg):
    """[(name, weight, percent, x, width, y)] from the titles, as a person reads them."""
    found = []
    for group in ET.fromstring(svg).iter(SVG + 'g'):
        if group.get('class') != 'frame':
            continue
        rect = group.find(SVG + 'rect')
        title = re.fullmatch(r'(.*) \(([\d,]+) samples?, (\d+\.\d\d)%\)', group.find(SVG + 'title').text, re.S)
        found.append((title[1], int(title[2].replace(',', '')), float(title[3]),
                      *(float(rect.get(key)) for key in ('x', 'width', 'y'))))
    return found


class DataOfPage(html.parser.HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.inside, self.text, self.urls, self.n_scripts = False, '', [], 0
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.n_scripts += tag == 'script'
        self.inside = attributes.get('id') == 'profile'
        self.urls += [attributes[key] for key in ('src', 'href') if key in attributes]

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.text += data


class Drawings(unittest.TestCase):
    def test_svg_weights(self):
        frames = {}
        for name, weight, percent, *_ in frames_of(draw(stacks.small(), 'svg')):
            frames.setdefault(name, []).append((weight, percent))
        self.assertEqual(frames['All Processes'], [(1000, 100.0)])
        self.assertEqual(frames['alpha'], [(400, 40.0)])
        self.assertEqual(sorted(frames['beta']), [(200, 20.0), (300, 30.0)])
        self.assertEqual(frames['vfs_read'], [(200, 20.0)])
        self.assertEqual(sorted(frames['main']), [(200, 20.0), (800, 80.0)])

    def test_svg_geometry(self):
        frames = frames_of(draw(stacks.small(), 'svg'))
        root = frames[0]
        for name, weight, _, x, width, y in frames:
            self.assertAlmostEqual(width, root[4] * weight / 1000, places=2)
            self.assertGreaterEqual(x, root[3] - 0.01)
            self.assertLessEqual(x + width, root[3] + root[4] + 0.01)
            self.assertLessEqual(y, root[5], 'the root is at the bottom')
        for a in frames:
            for b in frames:
                if a is not b and a[5] == b[5]:
                    self.assertTrue(a[3] + a[4] <= b[3] + 0.01 or b[3] + b[4] <= a[3] + 0.01, 'no overlap')

    def test_svg_leaves_out_what_nobody_can_see(self):
        profile = stacks.Profile().add(['app', 'wide'], 99990).add(['app', 'visible'], 9).add(['app', 'invisible'], 1)
        self.assertEqual({frame[0] for frame in frames_of(draw(profile, 'svg'))}, {'All Processes', 'app', 'wide', 'visible'})
        profile = stacks.large(5000)
        svg = draw(profile, 'svg')
        self.assertGreater(len(profile.rows().splitlines()), 30000)
        self.assertLess(len(svg), 2000000)
        self.assertGreater(len(frames_of(svg)), 1000)

    def test_svg_truncates_names_with_an_ellipsis(self):
        svg = draw(stacks.Profile().add(['app', 'a_function_with_a_long_name'], 1).add(['app', 'b'], 9), 'svg').decode()
        self.assertEqual(re.findall('>(a_function[^<]*)</text>', svg), ['a_function_wit\u2026'])

    def test_svg_thousands(self):
        svg = draw(stacks.Profile().add(['app', 'f'], 1234567), 'svg').decode()
        self.assertIn('<title>f (1,234,567 samples, 100.00%)</title>', svg)

    def test_svg_survives_without_cdata(self):
        svg = draw(stacks.hostile(), 'svg').decode()
        self.assertNotIn('CDATA', svg)
        script = svg[svg.index('<script>') + 8:svg.index('</script>')]
        self.assertNotRegex(script, '[<&]')
        self.assertNotRegex(svg, r'\bid="')

    def test_svg_of_hostile_names_is_xml(self):
        names = [frame[0] for frame in frames_of(draw(stacks.hostile(), 'svg', 'T <&> "x"', 'S ]]> \x1b'))]
        self.assertIn('<>&"\'\\;#', names)
        self.assertIn('newline\nin it', names)
        self.assertIn('</script><script>alert(1)</script>', names)
        self.assertIn('not utf-8 \ufffd\ufffd', names)
        self.assertIn('bell \ufffd esc \ufffd[31m', names)
        self.assertIn('L' * 100000, names)
        self.assertIn('日本語の関数', names)
        self.assertIn('level999', names)

    def test_svg_is_the_same_each_time(self):
        self.assertEqual(draw(stacks.large(2000), 'svg'), draw(stacks.large(2000), 'svg'))

    def test_svg_classes_differ_by_content(self):
        first = re.search(rb'class="(fg-\w+)"', draw(stacks.small(), 'svg'))[1]
        second = re.search(rb'class="(fg-\w+)"', draw(stacks.small(), 'svg', 'Another title'))[1]
        self.assertNotEqual(first, second)

    def test_svg_schemes(self):
        seen = set()
        for scheme in ('kind', 'hot', 'mem', 'io', 'java', 'red', 'orange', 'yellow', 'green', 'aqua', 'blue', 'purple', 'grey'):
            svg = draw(stacks.small(), 'svg', 'T', '', scheme).decode()
            seen.add(re.search(r'alpha [^<]*</title><rect[^>]* fill="([^"]+)"', svg)[1])
        self.assertEqual(len(seen), 13)

    def test_svg_legend(self):
        words = [text.text for group in ET.fromstring(draw(stacks.small(), 'svg')).iter(SVG + 'g') if group.get('class') == 'legend'
                 for text in group.iter(SVG + 'text')]
        self.assertEqual(words, ['user', 'kernel', 'process'])
        self.assertNotIn('legend"', draw(stacks.small(), 'svg', 'T', '', 'hot').decode(), 'no other scheme tells kinds apart')

    def test_a_name_has_one_colour(self):
        """In any picture; those of the kernel are cold, those of programs warm; names can be read on them."""
        def colors(svg):
            return dict(re.findall(r'<title>(\S+) \([^<]*</title><rect[^>]* fill="rgb\(([\d,]+)\)"', svg.decode()))

        def luminance(color):
            parts = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in color]
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

        profile = stacks.Profile()
        for i in range(300):
            profile.add([f'process{i}', f'user{i}', f'kernel{i}_[k]'], 1)
        found = {name: tuple(map(int, rgb.split(','))) for name, rgb in colors(draw(profile, 'svg')).items()}
        self.assertEqual(len(found), 900)
        for name, (red, green, blue) in found.items():
            self.assertGreater((luminance((red, green, blue)) + 0.05) / (luminance((0x11, 0x11, 0x11)) + 0.05), 4.5, name)
            if name.startswith(('user', 'kernel')):
                self.assertEqual(red > blue, name.startswith('user'), name)
        self.assertGreater(len({found[f'user{i}'] for i in range(300)}), 60)
        other = stacks.Profile().add(['process7', 'user7', 'user9'], 1)
        for name, rgb in colors(draw(other, 'svg')).items():
            self.assertEqual(tuple(map(int, rgb.split(','))), found[name])

    def test_html_data(self):
        page = DataOfPage(draw(stacks.small(), 'html').decode())
        data = json.loads(page.text)
        names = data['functions'][0::3]
        totals = {}
        for function, depth, total in zip(*[iter(data['nodes'])] * 3):
            totals.setdefault(names[function], []).append((depth, total))
        self.assertEqual(totals['All Processes'], [(0, 1000)])
        self.assertEqual(totals['beta'], [(3, 300), (5, 200)])
        self.assertEqual(totals['vfs_read'], [(5, 200)])
        self.assertEqual([url for url in page.urls if not url.startswith('data:')], [])

    def test_where_functions_are_written(self):
        """In a line of text beside the name, where that leaves room; on the page with folders."""
        profile = stacks.Profile().add(['app', 'main', 'alpha'], 90).add(['app', 'main', 'beta'], 10)
        profile.places = {'alpha': ('/src/the/alpha.c', 12), 'beta': ('beta.c', 3)}
        data = json.loads(DataOfPage(draw(profile, 'html').decode()).text)
        names = data['functions'][0::3]
        self.assertEqual({names[int(at)]: place for at, place in data['files'].items()}, {'alpha': '/src/the/alpha.c:12', 'beta': 'beta.c:3'})
        text = draw(profile, 'text').decode()
        self.assertRegex(text, r'\u2502alpha  alpha\.c:12 +\u2502beta *\n')
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        profile.places = {}
        self.assertEqual(draw(profile, 'text').decode(), text.replace('  alpha.c:12', ' ' * 12))

    def test_html_of_hostile_names(self):
        page = DataOfPage(draw(stacks.hostile(), 'html', '</title><script>alert(1)</script>').decode())
        self.assertEqual(page.n_scripts, 2, 'the data and the program, no third one')
        data = json.loads(page.text)
        self.assertNotRegex(page.text, '[<>&\u2028\u2029]')
        names = data['functions'][0::3]
        self.assertEqual(data['title'], '</title><script>alert(1)</script>')
        for name in ('<>&"\'\\;#', 'newline\nin it', 'not utf-8 \ufffd\ufffd', 'sep <U+2028> <U+2029> \x85', 'L' * 100000,
                     'level999', 'bell \a esc \x1b[31m'):
            self.assertIn(name, names)

    def test_text_is_safe_for_terminals(self):
        text = draw(stacks.hostile(), 'text').decode()
        self.assertNotRegex(text, '[\x00-\x09\x0b-\x1f\x7f-\x9f]')

    def test_nothing_to_draw(self):
        empty = stacks.Profile()
        for look in ('svg', 'html', 'text'):
            self.assertTrue(draw(empty, look))
        self.assertIn(b'No samples', draw(empty, 'svg'))


if __name__ == '__main__':
    unittest.main()
