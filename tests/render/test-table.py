#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sorts the table of a view in a browser, with the mouse and with the keyboard.

usage: test-table.py SYSPROF_REPORT
"""
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'flame'))
import browser  # noqa: E402

REPORT = sys.argv.pop(1)
# Self and total order the functions differently; 9 is after 10 as a text.
STACKS = 'app;main;Zeta 10\napp;main;alpha;beta 9\napp;main;alpha 2\n'


class Table(browser.Case):
    def open(self, view, *options):
        folder = pathlib.Path(self.folder.name)
        (folder / 'stacks.folded').write_text(STACKS)
        path = folder / f'{view}.html'
        path.write_bytes(subprocess.run([REPORT, view, '--format', 'html', *options, folder / 'stacks.folded'],
                                        stdout=subprocess.PIPE, check=True).stdout)
        page = self.browser.open(path)
        page.frame()
        self.addCleanup(lambda: self.assertEqual(page.faults(), [], 'nothing fails, and nothing is asked of the network'))
        return page

    def heading(self, page, title):
        return page.js('[...document.querySelectorAll("th")].findIndex((h) => h.textContent.toLowerCase().startsWith('
                       f'{title.lower()!r}))')

    def names(self, page):
        return page.js('[...document.querySelectorAll("tbody tr")].map((r) => r.querySelector(".name").textContent.trim())')

    def sorts(self, page):
        return page.js('[...document.querySelectorAll("th")].map((h) => h.getAttribute("aria-sort")).filter(Boolean)')

    def press(self, page, key, text):
        code = {'Enter': 13, ' ': 32}[key]
        for kind in ('keyDown', 'keyUp'):
            page.call('Input.dispatchKeyEvent', type=kind, key=key, code='Space' if key == ' ' else key, windowsVirtualKeyCode=code,
                      **({'text': text} if kind == 'keyDown' else {}))

    def test_mouse(self):
        page = self.open('functions')
        self.assertEqual(self.sorts(page), [])
        column = self.heading(page, 'self')
        page.click_on(f'document.querySelectorAll("th button")[{column}]')
        self.assertEqual([name.split()[0] for name in self.names(page)], ['Zeta', 'beta', 'alpha', 'main'])
        self.assertEqual(self.sorts(page), ['descending'])
        page.click_on(f'document.querySelectorAll("th button")[{column}]')
        self.assertEqual([name.split()[0] for name in self.names(page)], ['main', 'alpha', 'beta', 'Zeta'])
        self.assertEqual(self.sorts(page), ['ascending'])

    def test_keyboard(self):
        page = self.open('functions')
        for key, text, order in (('Enter', '\r', 'ascending'), (' ', ' ', 'descending')):
            page.js(f'document.querySelectorAll("th button")[{self.heading(page, "function")}].focus()')
            self.press(page, key, text)
            names = self.names(page)
            self.assertEqual(names, sorted(names, reverse=order == 'descending'))
            self.assertEqual(self.sorts(page), [order])

    def filter(self, page, term):
        page.js('document.activeElement.blur()')
        page.key('/')
        page.js('(() => { const input = document.activeElement; input.value = ""; input.dispatchEvent(new Event("input")); })()')
        page.type(term)
        shown = page.js('[...document.querySelectorAll("tbody tr:not([hidden]) .name")].map((c) => c.textContent.trim())')
        return [name.split()[0] for name in shown], page.js('document.querySelector(".filter output").textContent')

    def test_filter(self):
        page = self.open('functions')
        everything = len(self.names(page))
        self.assertEqual(self.filter(page, 'ETA'), (['Zeta', 'beta'], '2 rows'))
        self.assertEqual(self.filter(page, 'nowhere'), ([], 'No matches'))
        self.assertEqual(len(self.filter(page, '')[0]), everything)
        self.assertEqual(self.filter(page, 'beta'), (['beta'], '1 row'))
        page.click_on(f'document.querySelectorAll("th button")[{self.heading(page, "self")}]')
        self.assertEqual(self.filter(page, 'beta'), (['beta'], '1 row'), 'also of a sorted table')

    def test_a_filtered_tree_has_the_callers(self):
        names, count = self.filter(self.open('tree'), 'beta')
        self.assertEqual((names[-2:], count), (['alpha', 'beta'], '1 row'))
        self.assertNotIn('Zeta', names)
        self.assertIn('main', names)

    def test_bars_leave_the_digits_free(self):
        page = self.open('functions')
        sizes = page.js('[...document.querySelectorAll("td.share")].map((cell) => getComputedStyle(cell).backgroundSize)')
        self.assertEqual(set(sizes), {'100% 3px'})

    def test_trees_keep_their_order(self):
        page = self.open('tree')
        self.assertEqual(page.js('document.querySelectorAll("th button").length'), 0)


if __name__ == '__main__':
    if not browser.find():
        sys.exit(77)
    unittest.main()
