#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clicks through the interactive SVG in a browser: alone, and twice on one page without CDATA."""
import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import browser  # noqa: E402
import stacks  # noqa: E402

DRAW = sys.argv.pop(1)


def draw(profile, *args):
    return subprocess.run([DRAW, 'svg', *args], input=profile.rows(), stdout=subprocess.PIPE, check=True).stdout


class Picture:
    """One graph on a page; `root` is an expression that gives its svg element."""

    def __init__(self, page, root='document.documentElement'):
        self.page, self.root = page, root

    def frame(self, name, nth=0):
        return (f'[...{self.root}.querySelectorAll("g.frame")].filter('
                f'(g) => g.querySelector("title").textContent.startsWith("{name} ("))[{nth}]')

    def zoom(self, name, nth=0):
        self.page.click_on(self.frame(name, nth) + '.querySelector("rect")')

    def press(self, words):
        self.page.click_on(f'[...{self.root}.querySelectorAll("text")].find('
                           f'(t) => t.lastChild && t.lastChild.nodeValue === "{words}")')

    def width(self, name, nth=0):
        """As it is drawn; 0 when it is not."""
        return self.page.js(self.frame(name, nth) + '.querySelector("rect").getBoundingClientRect().width')

    def matched(self):
        return self.page.js(self.root + '.querySelector(".matched").textContent')

    def is_shown(self, words):
        return self.page.js(f'[...{self.root}.querySelectorAll("text")].some((t) => t.textContent.endsWith("{words}")'
                            ' && getComputedStyle(t).display !== "none")')

    def answer_prompt(self, term):
        self.page.js(f'window.prompt = () => {term!r}')


class InteractiveSvg(browser.Case):
    def open(self, content, name, **options):
        path = pathlib.Path(self.folder.name) / name
        path.write_bytes(content)
        page = self.browser.open(path, **options)
        self.addCleanup(lambda: self.assertEqual(page.faults(), []))
        return page

    def test_click_zooms_and_reset_zoom_returns(self):
        picture = Picture(self.open(draw(stacks.small()), 'zoom.svg'))
        full = picture.width('All Processes')
        self.assertAlmostEqual(picture.width('alpha'), full * 0.4, delta=1)
        self.assertFalse(picture.is_shown('Reset Zoom'))
        picture.zoom('beta')
        self.assertAlmostEqual(picture.width('beta'), full, delta=0.5)
        self.assertAlmostEqual(picture.width('helper'), full * 2 / 3, delta=1)
        self.assertAlmostEqual(picture.width('app'), full, delta=0.5, msg='a caller keeps its place')
        self.assertEqual(picture.width('alpha'), 0, 'a neighbour is gone')
        self.assertEqual(picture.width('sh'), 0)
        picture.zoom('app')
        self.assertAlmostEqual(picture.width('alpha'), full / 2, delta=1)
        picture.press('Reset Zoom')
        self.assertAlmostEqual(picture.width('alpha'), full * 0.4, delta=1)
        self.assertAlmostEqual(picture.width('sh'), full * 0.2, delta=1)
        self.assertFalse(picture.is_shown('Reset Zoom'))

    def test_script_and_renderer_shorten_names_alike(self):
        names = ['void std::vector<int, std::allocator<int> >::emplace_back<std::pair<int, int> >(std::pair<int, int>&&)',
                 'std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)',
                 '<alloc::vec::Vec<u8, A> as std::io::Write>::write_all', 'ns::(anonymous namespace)::T<(1 > 2)>::f() const',
                 'bool operator< <int>(A<int> const&, B)', 'A::operator std::vector<int>() const [clone .cold]',
                 'f(int) const::{lambda(auto:1)#2}::operator()<int>(int) const', 'f(((<<<>)', 'g<a(b>c)', 'py::<module>:/usr/a.py',
                 '-[NSString(Extra) compare:options:]', 'x' * 5000 + '<int>', 'non-virtual thunk to A<int>::f(int)']
        profile = stacks.Profile()
        for n in range(6 * len(names)):  # a name in each width
            profile.add(['app', *(names * 6)[:n + 1]], 10)
        picture = Picture(self.open(draw(profile), 'short.svg'))
        labels = 'JSON.stringify([...document.querySelectorAll("g.frame > text")].map((t) => t.textContent))'
        before = json.loads(picture.page.js(labels))
        self.assertGreater(sum('…' in label for label in before), 10)
        picture.zoom('app')
        picture.press('Reset Zoom')
        self.assertEqual([label for label in json.loads(picture.page.js(labels)) if label], before)

    def test_search_counts_nested_matches_once(self):
        profile = stacks.small()
        picture = Picture(self.open(draw(profile), 'search.svg'))
        picture.answer_prompt('beta')
        picture.press('Search')
        self.assertEqual(picture.matched(), '2 functions, %.2f%%' % profile.share_matching(lambda name: 'beta' in name.lower()))
        self.assertEqual(picture.matched(), '2 functions, 40.00%')
        picture.press('Aa')
        self.assertEqual(picture.matched(), '1 function, 30.00%')
        picture.press('Aa')
        self.assertEqual(picture.matched(), '2 functions, 40.00%')
        picture.zoom('beta')
        self.assertEqual(picture.matched(), '2 functions, 40.00%')
        picture.press('Reset Search')
        self.assertEqual(picture.matched(), '')

    def test_search_takes_expressions_and_any_text(self):
        picture = Picture(self.open(draw(stacks.small()), 'expression.svg'))
        for term, found in (('^alp|vfs', '2 functions, 60.00%'), ('(', 'No matches'), ('main$', '1 function, 100.00%'), ('^hel.er', '1 function, 20.00%')):
            picture.page.js('document.querySelector(".search").textContent === "Reset Search" '
                            '&& document.querySelector(".search").dispatchEvent(new MouseEvent("click", {bubbles: true}))')
            picture.answer_prompt(term)
            picture.press('Search')
            self.assertEqual(picture.matched(), found, term)

    def test_places_are_no_part_of_names(self):
        profile = stacks.small()
        profile.places = {'alpha': ('/src/beta (10%)', 5), 'beta': ('/a folder (x)/b.c', 7)}
        picture = Picture(self.open(draw(profile), 'places.svg'))
        picture.answer_prompt('beta')
        picture.press('Search')
        self.assertEqual(picture.matched(), '2 functions, %.2f%%' % profile.share_matching(lambda name: 'beta' in name.lower()))
        picture.press('Reset Search')
        picture.zoom('beta')
        self.assertEqual(picture.page.js(picture.frame('beta') + '.querySelector("text").textContent'), 'beta')
        self.assertTrue(picture.page.js(picture.frame('beta') + '.querySelector("title").textContent').endswith('%)\n/a folder (x)/b.c:7'))

    def test_keyboard(self):
        picture = Picture(self.open(draw(stacks.small()), 'keys.svg'))
        full = picture.width('All Processes')
        picture.answer_prompt('vfs')
        picture.page.key('f', ctrl=True)
        self.assertEqual(picture.matched(), '1 function, 20.00%')
        picture.zoom('sh')
        picture.page.key('Escape')
        self.assertAlmostEqual(picture.width('sh'), full * 0.2, delta=1)

    def test_enter_presses_the_button_with_the_focus(self):
        picture = Picture(self.open(draw(stacks.small()), 'enter.svg'))
        full = picture.width('All Processes')
        picture.zoom('sh')
        picture.page.js('document.querySelector(".unzoom").focus()')
        picture.page.key('Enter')
        self.assertAlmostEqual(picture.width('sh'), full * 0.2, delta=1)
        picture.answer_prompt('MAIN')
        picture.page.js('document.querySelector(".case").focus()')
        picture.page.key('Enter')
        self.assertEqual(picture.page.js('document.querySelector(".case").getAttribute("aria-pressed")'), 'true')
        picture.page.js('document.querySelector(".search").focus()')
        picture.page.key('Enter')
        self.assertEqual(picture.matched(), 'No matches')
        picture.page.key('i', ctrl=True)
        self.assertEqual(picture.matched(), '1 function, 100.00%')

    def details(self, picture):
        return picture.page.js('document.querySelector(".details").textContent')

    def test_arrows_walk_and_enter_zooms(self):
        picture = Picture(self.open(draw(stacks.small()), 'arrows.svg'))
        full = picture.width('All Processes')
        for key, name in (('ArrowUp', 'All Processes'), ('ArrowUp', 'app'), ('ArrowUp', 'main'), ('ArrowUp', 'alpha'), ('ArrowRight', 'beta'),
                          ('ArrowLeft', 'alpha'), ('ArrowDown', 'main'), ('ArrowRight', 'main'), ('ArrowUp', 'read')):
            picture.page.key(key)
            self.assertTrue(self.details(picture).startswith(f'Function: {name} ('), f'{key}: {self.details(picture)}')
        picture.page.key('Enter')
        self.assertAlmostEqual(picture.width('read'), full, delta=0.5)

    def test_matches_are_visited_heaviest_first(self):
        profile = stacks.small().add(['app', 'tiny_beta'], 1)
        picture = Picture(self.open(draw(profile), 'next.svg'))
        full = picture.width('All Processes')
        picture.answer_prompt('beta')
        picture.page.key('/')
        for key, found in (('n', 'beta (300 '), ('n', 'beta (200 '), ('n', 'Beta (100 '), ('n', 'tiny_beta (1 '), ('n', 'beta (300 '),
                           ('N', 'tiny_beta (1 ')):
            picture.page.key(key)
            self.assertTrue(self.details(picture).startswith('Function: ' + found), f'{key}: {self.details(picture)}')
        self.assertAlmostEqual(picture.width('app'), full, delta=0.5, msg='as near as the narrow match needs')

    def test_an_address_opens_the_same_picture(self):
        page = self.open(draw(stacks.small()), 'address.svg')
        picture = Picture(page)
        full = picture.width('All Processes')
        picture.answer_prompt('be+ta')
        picture.press('Search')
        picture.press('Aa')
        picture.zoom('main')
        fragment = page.js('location.hash')
        again = Picture(self.browser.open(pathlib.Path(self.folder.name) / 'address.svg', fragment=fragment))
        self.assertEqual(again.matched(), '1 function, 30.00%')
        self.assertAlmostEqual(again.width('main'), full, delta=0.5)
        self.assertEqual(again.width('sh'), 0)
        page.js('new Promise((done) => { addEventListener("hashchange", () => done()); location.hash = ""; })')
        self.assertEqual((picture.matched(), round(picture.width('main'))), ('', round(full * 0.8)))

    def test_dark(self):
        """Names can be read on every kind of frame (WCAG: 4.5 to 1)."""
        def luminance(color):
            parts = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in color]
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

        profile = stacks.Profile()
        for i in range(40):
            profile.add([f'process{i}', f'user{i}', f'kernel{i}_[k]'], 1)
        page = self.open(draw(profile), 'dark.svg', dark=True)
        numbers = r'.match(/[\d.]+/g).map(Number)'
        paper = page.js('getComputedStyle(document.querySelector(".paper")).fill' + numbers)
        text = page.js('getComputedStyle(document.querySelector(".details")).fill' + numbers)
        self.assertLess(luminance(paper), 0.02)
        for fill, opacity in page.js('[...document.querySelectorAll(".frame rect")].map((r) => getComputedStyle(r)).map((s) => '
                                     f'[s.fill{numbers}, Number(s.fillOpacity)])'):
            color = [opacity * c + (1 - opacity) * p for c, p in zip(fill, paper)]
            self.assertGreaterEqual((luminance(text) + 0.05) / (luminance(color) + 0.05), 4.5, fill)

    def test_what_matches_is_painted(self):
        picture = Picture(self.open(draw(stacks.small()), 'paint.svg'))

        def fills():
            return {name: picture.page.js(f'getComputedStyle({picture.frame(name)}.querySelector("rect")).fill')
                    for name in ('alpha', 'beta', 'sh')}

        before = fills()
        picture.answer_prompt('alpha')
        picture.press('Search')
        found = fills()
        self.assertEqual(found, {**before, 'alpha': 'rgb(230, 0, 230)'})
        picture.press('Reset Search')
        self.assertEqual(fills(), before)

    def test_zooming_in_writes_names_that_had_no_room(self):
        profile = stacks.Profile().add(['app', 'wide'], 999).add(['app', 'tiny_function_name', 'leaf'], 1)
        picture = Picture(self.open(draw(profile), 'tiny.svg'))
        text = picture.frame('tiny_function_name') + '.querySelector("text")'
        self.assertIsNone(picture.page.js(text + ' && 1'))
        # Its neighbour covers its pixel, as people cannot aim at it either; the frame's own event counts.
        picture.page.js(picture.frame('tiny_function_name') + '.dispatchEvent(new MouseEvent("click", { bubbles: true }))')
        self.assertEqual(picture.page.js(text + '.textContent'), 'tiny_function_name')
        inside = picture.page.js(f'''(() => {{ const t = {text}.getBoundingClientRect(),
            r = {picture.frame('tiny_function_name')}.querySelector("rect").getBoundingClientRect();
            return t.top >= r.top - 2 && t.bottom <= r.bottom + 2 && t.left >= r.left; }})()''')
        self.assertTrue(inside, 'the name stands in its frame')
        picture.press('Reset Zoom')
        self.assertEqual(picture.page.js(text + '.textContent'), '')

    def in_sight(self, page, expression):
        return page.js(f'''(() => {{ const b = ({expression}).getBoundingClientRect();
            const top = document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2);
            return b.top >= 0 && b.bottom <= innerHeight && !!top && ({expression}).contains(top); }})()''')

    def test_a_high_picture_keeps_root_and_buttons_in_sight(self):
        profile = stacks.hostile()
        page = self.open(draw(profile), 'high.svg')
        picture = Picture(page)
        self.assertGreater(page.js('document.documentElement.getBoundingClientRect().height'), 10000)
        self.assertGreater(page.js('scrollY'), 5000)
        for what in ('document.querySelector(".search")', 'document.querySelector(".heading")',
                     picture.frame('All Processes')):
            self.assertTrue(self.in_sight(page, what), what)
        page.js('scrollTo(0, 3000)')
        page.frame()
        self.assertTrue(self.in_sight(page, 'document.querySelector(".search")'))
        self.assertFalse(self.in_sight(page, picture.frame('All Processes')))
        picture.answer_prompt('level999')
        picture.press('Search')
        page.frame()
        self.assertTrue(self.in_sight(page, 'document.querySelector(".matched")'))

    def test_an_icicle_begins_at_the_top(self):
        page = self.open(draw(stacks.hostile(), 'T', '', 'kind', 'icicle'), 'icicle.svg')
        self.assertEqual(page.js('scrollY'), 0)
        self.assertTrue(self.in_sight(page, Picture(page).frame('All Processes')))

    def test_a_narrow_page_shows_it_whole(self):
        page = self.open(b'<!DOCTYPE html><meta name="viewport" content="width=device-width"><body>' + draw(stacks.small()),
                         'narrow.html', width=400)
        picture = Picture(page, 'document.querySelector("svg")')
        self.assertLessEqual(page.js('document.documentElement.scrollWidth'), 400)
        full = picture.width('All Processes')
        picture.zoom('alpha')
        self.assertAlmostEqual(picture.width('alpha'), full, delta=0.5)

    def test_hover_tells(self):
        picture = Picture(self.open(draw(stacks.small()), 'hover.svg'))
        picture.page.move(*picture.page.middle(picture.frame('alpha')))
        self.assertEqual(picture.page.js('document.querySelector(".details").textContent'),
                         'Function: alpha (400 samples, 40.00%)')

    def test_two_pictures_on_one_page(self):
        """In the same page, and the same picture twice: what one does, the other does not."""
        other = stacks.Profile().add(['app', 'main', 'gamma'], 75).add(['app', 'main', 'beta'], 25)
        page = ('<!DOCTYPE html><meta charset="utf-8"><body>' + draw(stacks.small(), 'One').decode() + '<hr>' +
                draw(other, 'Two').decode() + '<hr>' + draw(stacks.small(), 'One').decode())
        page = page.replace('<![CDATA[', '').replace(']]>', '').encode()
        page = self.open(page, 'two.html')
        one, two, again = (Picture(page, f'document.querySelectorAll("svg")[{i}]') for i in range(3))
        full = one.width('All Processes')
        one.zoom('alpha')
        self.assertAlmostEqual(one.width('alpha'), full, delta=0.5)
        self.assertAlmostEqual(two.width('gamma'), full * 0.75, delta=1)
        self.assertAlmostEqual(again.width('alpha'), full * 0.4, delta=1)
        page.js('document.querySelectorAll("svg")[1].scrollIntoView()')
        two.answer_prompt('BETA')
        two.press('Search')
        self.assertEqual([p.matched() for p in (one, two, again)], ['', '1 function, 25.00%', ''])
        two.press('Aa')
        self.assertEqual([p.matched() for p in (one, two, again)], ['', 'No matches', ''])
        self.assertEqual(page.js('location.hash'), '', 'the address is that of the page')
        two.zoom('beta')
        self.assertTrue(two.is_shown('Reset Zoom'))
        self.assertFalse(again.is_shown('Reset Zoom'))
        page.js('document.querySelectorAll("svg")[2].scrollIntoView()')
        again.zoom('sh')
        self.assertAlmostEqual(again.width('sh'), full, delta=0.5)
        self.assertAlmostEqual(one.width('alpha'), full, delta=0.5, msg='also of two that are equal')
        page.js('scrollTo(0, 0)')
        one.press('Reset Zoom')
        self.assertAlmostEqual(one.width('alpha'), full * 0.4, delta=1)
        self.assertAlmostEqual(two.width('beta'), full, delta=0.5)

    def test_hostile_names(self):
        profile = stacks.hostile()
        page = self.open(draw(profile, '<>&"', ']]>'), 'hostile.svg')
        self.assertEqual(page.js('document.querySelectorAll("g.frame").length'), len(profile.rows().splitlines()))
        self.assertEqual(page.js('document.querySelectorAll("script").length'), 1)

    def test_many_frames(self):
        profile = stacks.large(100)
        picture = Picture(self.open(draw(profile), 'many.svg'))
        picture.answer_prompt('read')
        picture.press('Search')
        shown = float(re.fullmatch(r'\d+ functions, (.*)%', picture.matched())[1])
        self.assertAlmostEqual(shown, profile.share_matching(lambda name: 'read' in name), delta=0.01)


if __name__ == '__main__':
    if not browser.find():
        sys.exit(77)
    unittest.main()
