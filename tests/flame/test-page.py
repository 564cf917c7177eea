#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Uses the flame-graph page in a browser as a person would.

usage: test-page.py DRAW_FLAME [--pictures FOLDER]
"""
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import browser  # noqa: E402
import stacks  # noqa: E402

DRAW = sys.argv.pop(1)


def draw(profile, *args):
    return subprocess.run([DRAW, 'html', *args], input=profile.rows(), stdout=subprocess.PIPE, check=True).stdout


class FlamePage(browser.Case):
    def open(self, profile, name='page', **options):
        path = pathlib.Path(self.folder.name) / f'{name}.html'
        path.write_bytes(draw(profile, 'T'))
        page = self.browser.open(path, **options)
        page.frame()
        self.addCleanup(lambda: self.assertEqual(page.faults(), []))
        return page

    def crumbs(self, page):
        return page.js('[...document.querySelectorAll("#crumbs button")].map((b) => b.textContent)')

    def status(self, page):
        return page.js('document.getElementById("status").textContent')

    def matched(self, page):
        return page.js('document.getElementById("matched").textContent').replace('\u00a0', ' ')

    def place(self, page, level, share):
        """A point `level` rows above the root, at `share` of the width."""
        box = page.js('(() => { const b = document.getElementById("canvas").getBoundingClientRect();'
                      'return [b.x, b.y, b.width, b.height]; })()')
        row = page.js('parseFloat(getComputedStyle(document.documentElement).fontSize)')
        row = round(round(row * 0.9) * (1.9 if page.js('matchMedia("(pointer: coarse)").matches') else 1.55))
        return box[0] + box[2] * share, box[1] + box[3] - 4 - row * (level + 0.5)

    def search(self, page, term):
        page.key('/')
        page.js('document.activeElement.value = ""')
        page.type(term)
        page.frame()

    def test_click_zooms_and_ways_back(self):
        page = self.open(stacks.small())
        # By name: Beta 0-10 %, alpha 10-50 %, beta 50-80 % of the whole; sh behind app.
        page.click(*self.place(page, 3, 0.3))
        self.assertEqual([text.split('\u203a')[-1] for text in self.crumbs(page)], ['All Processes', 'app', 'main', 'alpha'])
        self.assertIn('alpha', self.status(page))
        page.click(*self.place(page, 1, 0.5))
        self.assertEqual(len(self.crumbs(page)), 2, 'an ancestor is still there to click')
        page.key('Backspace')
        self.assertEqual(self.crumbs(page)[-1], 'alpha')
        page.click_on('document.querySelectorAll("#crumbs button")[2]')
        self.assertEqual(self.crumbs(page)[-1], 'main')
        page.click_on('document.getElementById("reset")')
        self.assertEqual(self.crumbs(page), [])
        page.click(*self.place(page, 3, 0.3))
        page.key('Escape')
        self.assertEqual(self.crumbs(page), [])
        page.click(*self.place(page, 3, 0.3))
        page.key('Home')
        self.assertEqual(self.crumbs(page), [])

    def test_search(self):
        profile = stacks.small()
        page = self.open(profile)
        self.search(page, 'beta')
        share = profile.share_matching(lambda name: 'beta' in name.lower())
        self.assertEqual(self.matched(page), '2 functions, %.2f %%' % share)
        self.assertEqual(share, 40)
        page.click_on('document.getElementById("match-case")')
        self.assertEqual(self.matched(page), '1 function, 30.00 %')
        page.key('f', ctrl=True)
        self.assertEqual(page.js('document.activeElement.id'), 'search')
        page.key('Escape')
        self.assertEqual(self.matched(page), '')

    def color_at(self, page, level, share):
        """As drawn: [red, green, blue] beside the name of a frame."""
        x, y = self.place(page, level, share)
        return page.js(f'''(() => {{ const c = document.getElementById("canvas"), b = c.getBoundingClientRect();
            const scale = c.width / b.width;
            return [...c.getContext("2d").getImageData(({x} - b.x) * scale, ({y} - b.y) * scale, 1, 1).data].slice(0, 3); }})()''')

    def test_what_matches_is_painted(self):
        page = self.open(stacks.small())
        before = [self.color_at(page, 3, share) for share in (0.05, 0.3, 0.75)]
        self.search(page, 'alpha')
        hit = self.color_at(page, 3, 0.4)
        self.assertEqual(hit, [0xb5, 0x17, 0x9e])
        for share, color in zip((0.05, 0.75), (before[0], before[2])):
            now = self.color_at(page, 3, share)
            self.assertNotEqual(now, hit)
            self.assertNotEqual(now, color, 'what does not match steps back')
        page.key('Escape')
        page.frame()
        self.assertEqual([self.color_at(page, 3, share) for share in (0.05, 0.3, 0.75)], before)

    def test_search_finds_what_is_too_narrow_to_draw(self):
        profile = stacks.Profile()
        for i in range(20000):
            profile.add(['app', f'f{i:05}'], 1)
        page = self.open(profile)
        before = self.color_at(page, 2, 0.5)
        self.search(page, 'f10')
        self.assertEqual(self.matched(page), '1,000 functions, 5.00 %')
        self.assertEqual(self.color_at(page, 2, 0.525), [0xb5, 0x17, 0x9e])
        self.assertNotEqual(self.color_at(page, 2, 0.3), [0xb5, 0x17, 0x9e])
        self.assertNotEqual(self.color_at(page, 2, 0.3), before)

    def test_search_takes_text_before_expressions(self):
        page = self.open(stacks.small().add(['app', 'main', '[lib+0x10]'], 1000))
        for term, found in (('[lib+0x10]', '1 function, 50.00 %'), ('^alp|vfs', '2 functions, 30.00 %'), ('(', 'No matches'),
                            ('main', '1 function, 100.00 %'), ('^main$', '1 function, 100.00 %'), ('^MAIN$', '1 function, 100.00 %')):
            self.search(page, term)
            self.assertEqual(self.matched(page), found, term)

    def test_kinds_and_contrast(self):
        """Kinds differ in hue, and every name can be read (WCAG: 4.5 to 1), in both themes."""
        def luminance(color):
            parts = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in color]
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

        profile = stacks.Profile()
        for i in range(20):
            profile.add([f'p{i}', f'u{i}', f'k{i}_[k]'], 1)
        for dark, text in ((False, (0x17, 0x16, 0x14)), (True, (0xf5, 0xf2, 0xee))):
            page = self.open(profile, dark=dark)
            colors = {level: [self.color_at(page, level, (i + 0.85) / 20) for i in range(20)] for level in range(4)}
            for level, found in colors.items():
                for color in found:
                    light, deep = sorted((luminance(color), luminance(text)), reverse=True)
                    self.assertGreaterEqual((light + 0.05) / (deep + 0.05), 4.5, f'{color} at level {level}, dark: {dark}')
            self.assertTrue(all(r > b for r, _, b in colors[2]), 'user: warm')
            self.assertTrue(all(b > r for r, _, b in colors[3]), 'kernel: cold')
            self.assertGreater(len(set(map(tuple, colors[2]))), 10, 'functions differ')
            legend = page.js('[...document.querySelectorAll("#legend li")].map((item) => item.textContent)')
            self.assertEqual(legend, ['user', 'kernel', 'process'])

    def test_processes_of_one_name(self):
        profile = (stacks.Profile().add(['cc', 'main', 'parse'], 100, pid=1).add(['cc', 'main', 'parse'], 200, pid=2)
                   .add(['cc', 'main', 'emit'], 100, pid=2).add(['sh', 'main'], 600, pid=3))
        page = self.open(profile)
        page.move(*self.place(page, 1, 0.2))
        text = page.js('document.getElementById("tip").innerText').replace('\u00a0', ' ').splitlines()
        self.assertEqual((text[0], text[2], text[-1]), ('cc', 'total: 400 samples, 40.00 %', '2 processes of that name'))
        page.click(*self.place(page, 3, 0.3))
        self.assertEqual(self.crumbs(page)[-1], 'parse')
        self.assertIn('300 samples, 30.00', self.status(page))
        page.key('m')
        self.assertEqual(self.crumbs(page)[-1], 'parse', 'zoomed into the same')
        self.assertIn('100 samples, 10.00', self.status(page))
        page.key('r')
        self.assertEqual(self.crumbs(page), [])
        page.move(*self.place(page, 1, 0.2))
        self.assertIn('300 samples', self.status(page))
        self.search(page, 'parse')
        self.assertEqual(self.matched(page), '1 function, 30.00 %')
        page.click_on('document.getElementById("merge")')
        self.assertEqual(self.matched(page), '1 function, 30.00 %')
        self.assertTrue(self.open(stacks.small()).js('document.getElementById("merge").hidden'), 'there is nothing to merge')

    def test_the_root_stays_in_sight(self):
        page = self.open(stacks.hostile().add(['app', 'main', 'shallow'], 1000))
        for _ in range(2):
            page.move(*self.place(page, 0, 0.5))
            self.assertTrue(self.status(page).startswith('All Processes'), self.status(page))
            self.assertFalse(page.js('document.getElementById("tip").hidden'))
            self.search(page, 'shallow')
            page.key('Enter')
            page.js('document.getElementById("chart").focus()')
            page.key('Enter')
            page.frame()
            self.assertEqual(self.crumbs(page)[-1], 'shallow')
        self.assertEqual(page.js('(() => { const c = document.getElementById("chart"); return c.scrollHeight - c.clientHeight; })()'), 0,
                         'only the levels of what is zoomed')

    def test_nothing_asks_the_network(self):
        page = self.open(stacks.small())
        self.assertEqual(page.js('performance.getEntriesByType("resource").length'), 0)

    def test_tooltip(self):
        profile = stacks.small()
        profile.places = {'beta': ('/src/beta.c', 12)}
        page = self.open(profile)
        page.move(*self.place(page, 3, 0.6))
        text = page.js('document.getElementById("tip").innerText').replace('\u00a0', ' ')
        self.assertEqual(text.splitlines(), ['beta', 'app · user', '/src/beta.c:12', 'total: 300 samples, 30.00 %',
                                             'self: 100 samples, 10.00 %', 'of its caller: 37.50 %'])
        page.move(*self.place(page, 12, 0.6))
        self.assertTrue(page.js('document.getElementById("tip").hidden'))

    def test_keyboard(self):
        page = self.open(stacks.small())
        page.js('document.getElementById("chart").focus()')
        walk = [('ArrowUp', 'All Processes'), ('ArrowUp', 'app'), ('ArrowUp', 'main'), ('ArrowUp', 'alpha'),
                ('ArrowRight', 'beta'), ('ArrowLeft', 'alpha'), ('ArrowLeft', 'Beta'), ('ArrowDown', 'main'),
                ('ArrowDown', 'app'), ('ArrowRight', 'sh')]
        for key, name in walk:
            page.key(key)
            self.assertTrue(self.status(page).startswith(name), f'{key}: {self.status(page)} is not {name}')
        page.key('Enter')
        self.assertEqual(self.crumbs(page)[-1], 'sh')
        page.key('r')
        self.assertEqual(self.crumbs(page), [])
        page.js('document.getElementById("chart").focus()')
        for key in ('ArrowUp', 'ArrowUp', 'ArrowRight', 'Enter'):
            page.key(key)
        self.assertEqual(self.crumbs(page)[-1], 'sh')
        page.key('ArrowUp')
        page.key('ArrowUp')
        page.key('ArrowUp')
        self.assertTrue(self.status(page).startswith('do_syscall_64'))
        page.key('Backspace')
        self.assertEqual(self.crumbs(page), [])

    def test_arrows_need_no_click_first(self):
        page = self.open(stacks.small())
        page.key('ArrowUp')
        page.key('ArrowUp')
        self.assertTrue(self.status(page).startswith('app'), self.status(page))

    def position(self, page):
        return page.js('document.getElementById("position").textContent')

    def test_matches_are_visited_heaviest_first(self):
        page = self.open(stacks.small().add(['app', 'tiny_beta'], 1))
        self.search(page, 'beta')
        self.assertEqual(self.matched(page), '3 functions, 40.06 %')
        seen = []
        for press in (lambda: page.key('Enter'), *[lambda: page.click_on('document.getElementById("next")')] * 3,
                      lambda: page.click_on('document.getElementById("previous")')):
            press()
            seen.append((self.position(page), self.status(page).split(' (')[0]))
        self.assertEqual(seen, [('1/4', 'beta'), ('2/4', 'beta'), ('3/4', 'Beta'), ('4/4', 'tiny_beta'), ('3/4', 'Beta')])
        self.search(page, 'nowhere')
        self.assertEqual(self.matched(page), 'No matches')
        self.assertTrue(page.js('document.getElementById("next").disabled'))

    def test_a_narrow_match_is_zoomed_to(self):
        profile = stacks.Profile().add(['app', 'wide'], 1000000).add(['app', 'narrow', 'inner'], 100)
        page = self.open(profile)
        self.search(page, 'narrow')
        page.key('Enter')
        self.assertEqual(self.crumbs(page)[-1], 'narrow')

    def test_hide_kernel(self):
        page = self.open(stacks.small().add(['app', 'main', 'irq_[k]', 'callback'], 1000))
        page.js('document.activeElement.blur()')
        page.key('k')
        self.search(page, 'read')
        page.key('Enter')
        self.assertIn('read (app): 200 samples, 10.00\u00a0%, self 10.00', self.status(page))
        self.assertEqual(self.matched(page), '1 function, 10.00 %', 'not vfs_read')
        self.search(page, 'callback')
        page.key('Enter')
        page.js('document.getElementById("chart").focus()')
        page.key('ArrowDown')
        self.assertTrue(self.status(page).startswith('main'), self.status(page))

    def test_inverted(self):
        """By hand: alpha 400, beta 300, vfs_read 200 and Beta 100 are innermost; beta was called by main and by helper."""
        page = self.open(stacks.small())
        page.key('v')
        seen = []
        for key in ('ArrowUp', 'ArrowUp', 'ArrowRight', 'ArrowUp', 'ArrowRight', 'ArrowUp'):
            page.key(key)
            seen.append(self.status(page).replace('\u00a0', ' '))
        self.assertEqual(seen, ['All Processes: 1,000 samples, 100.00 %', 'alpha (app): 400 samples, 40.00 %', 'beta (app): 300 samples, 30.00 %',
                                'helper (app): 200 samples, 20.00 %', 'main (app): 100 samples, 10.00 %', 'app: 100 samples, 10.00 %'])

    def sandwich(self, page, term):
        self.search(page, term)
        page.key('Enter')
        page.js('document.getElementById("chart").focus()')
        page.key('s')
        page.frame()

    def test_sandwich(self):
        """Callers above the function, callees below it; where it calls itself, it counts once."""
        profile = stacks.small().add(['sh', 'other', 'beta', 'helper'], 100)
        page = self.open(profile)
        self.sandwich(page, '^beta$')
        self.assertEqual([text.lstrip('\u203a\u00a0') for text in self.crumbs(page)], ['Whole graph', 'beta: callers above, callees below'])
        self.assertIn('beta (app): 400 samples, 36.36', self.status(page))
        seen = []
        for key in ('ArrowUp', 'ArrowUp', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp'):
            page.key(key)
            seen.append(self.status(page).split(',')[0].replace(' (app)', ''))
        self.assertEqual(seen, ['beta: 400 samples', 'main: 300 samples', 'other: 100 samples', 'sh: 100 samples', 'other: 100 samples',
                                'beta: 400 samples', 'helper: 300 samples', 'beta: 200 samples', 'beta: 200 samples', 'helper: 300 samples'])
        heights = []
        for name in ('main', 'beta', 'helper'):
            heights.append(page.js(f"""(() => {{ const box = document.getElementById("canvas").getBoundingClientRect();
              for (let y = box.top + 1; y < box.bottom; y += 3) {{
                canvas.dispatchEvent(new PointerEvent("pointermove", {{ clientX: box.left + 5, clientY: y, bubbles: true }}));
                const tip = document.getElementById("tip");
                if (!tip.hidden && tip.firstChild.textContent === "{name}") return y;
              }} }})()"""))
        self.assertEqual(heights, sorted(heights))

    def test_sandwich_is_left_again(self):
        for leave in (lambda page: page.key('Backspace'), lambda page: page.key('r'),
                      lambda page: page.click_on('document.querySelector("#crumbs button")')):
            page = self.open(stacks.small())
            self.sandwich(page, 'helper')
            self.assertEqual(len(self.crumbs(page)), 2)
            leave(page)
            self.assertEqual(self.crumbs(page), [])

    def picture(self, page):
        page.frame()
        return page.js('document.getElementById("canvas").toDataURL()')

    def test_an_address_opens_the_same_picture(self):
        profile = stacks.small().add(['app', 'main', 'alpha'], 70, pid=7)
        page = self.open(profile)
        steps = [lambda: page.key('k'), lambda: page.key('m'), lambda: page.key('i'), lambda: page.key('l'),
                 lambda: self.search(page, 'b+eta'), lambda: page.key('Escape'), lambda: self.search(page, 'beta'), lambda: page.key('Enter'),
                 lambda: page.js('document.getElementById("chart").focus()'), lambda: page.key('Enter'), lambda: page.key('f'),
                 lambda: page.key('s'), lambda: page.key('ArrowUp'), lambda: page.key('ArrowUp'), lambda: page.key('Enter'),
                 lambda: page.key('r'), lambda: page.key('v')]
        seen = set()
        for step in steps:
            step()
            page.js('document.getElementById("chart").focus()') if page.js('document.activeElement.id') != 'search' else None
            picture, fragment = self.picture(page), page.js('location.hash')
            seen.add(fragment)
            again = self.browser.open(pathlib.Path(self.folder.name) / 'page.html', fragment=fragment)
            self.assertEqual(self.picture(again), picture, fragment)
            self.assertEqual(again.js('document.getElementById("functions").innerText'),
                             page.js('document.getElementById("functions").innerText'), fragment)
            again.call('Page.close')
            page.call('Page.bringToFront')
        self.assertGreater(len(seen), 10)
        page.js('new Promise((done) => { addEventListener("hashchange", () => done()); location.hash = "#search=alpha&zoom=99999999"; })')
        self.assertEqual(self.matched(page), '1 function, 43.93 %')
        self.assertEqual(self.crumbs(page), [])

    def test_table_of_functions(self):
        page = self.open(stacks.small())
        page.click_on('document.getElementById("table")')
        text = page.js('[...document.querySelectorAll("#functions tbody tr")].map((r) => [...r.cells].map((c) => c.textContent).join(" "))')
        self.assertEqual([row.replace('\u00a0', ' ') for row in text],
                         ['alpha 40040.00 % 40040.00 %', 'beta 30030.00 % 30030.00 %', 'vfs_read 20020.00 % 20020.00 %',
                          'Beta 10010.00 % 10010.00 %', 'main 00.00 % 1,000100.00 %', 'helper 00.00 % 20020.00 %',
                          'read 00.00 % 20020.00 %', 'do_syscall_64 00.00 % 20020.00 %'])
        names = '[...document.querySelectorAll("#functions tbody button")].map((b) => b.textContent)'
        page.click_on('document.querySelector("[data-sort=total] button")')
        self.assertEqual(page.js(names)[:3], ['main', 'alpha', 'beta'])
        page.click_on('document.querySelector("[data-sort=name] button")')
        self.assertEqual(page.js(names)[:3], ['Beta', 'alpha', 'beta'])
        self.assertEqual(page.js('document.querySelector("[data-sort=name]").ariaSort'), 'ascending')
        self.search(page, 'be')
        self.assertEqual(page.js(names), ['Beta', 'beta'])
        page.js('document.querySelector("#functions tbody button").focus()')
        page.key('ArrowDown')
        page.key('Enter')
        self.assertTrue(self.status(page).startswith('beta (app): 300 samples'), self.status(page))
        page.js('document.getElementById("chart").focus()')
        page.key('s')
        page.click_on('document.querySelectorAll("#functions tbody button")[0]')
        self.assertIn('Beta', self.crumbs(page)[-1], 'another function in the sandwich')

    def test_copy(self):
        page = self.open(stacks.small())
        page.js('document.addEventListener("copy", (event) => { window.copied = event.clipboardData.getData("text/plain"); })')
        self.search(page, '^beta$')
        page.key('Enter')
        page.key('Enter')
        page.click_on('document.getElementById("copy-name")')
        self.assertEqual(page.js('copied'), 'beta')
        self.assertEqual(self.status(page), 'Copied the name.')
        page.js('document.getElementById("chart").focus()')
        page.key('C')
        self.assertEqual(page.js('copied'), 'beta\nhelper\nbeta\nmain\napp')
        page.key('v')
        page.key('ArrowUp')
        page.key('ArrowUp')
        page.key('ArrowUp')
        page.key('C')
        self.assertEqual(page.js('copied'), 'alpha\nmain', 'innermost first, as always')

    def test_menu(self):
        page = self.open(stacks.small())
        items = '[...document.querySelectorAll("#menu:not([hidden]) [role=menuitem]")].map((item) => item.firstChild.textContent)'
        self.assertEqual(page.js(items), [])
        page.click(*self.place(page, 3, 0.3), button='right')
        self.assertEqual(page.js(items), ['Zoom in', 'Callers and callees', 'Search this name', 'Copy name', 'Copy stack'])
        page.key('ArrowDown')
        page.key('ArrowDown')
        page.key('Enter')
        self.assertEqual((page.js(items), self.matched(page)), ([], '1 function, 40.00 %'))
        page.key('ContextMenu')
        page.key('Enter')
        self.assertEqual(self.crumbs(page)[-1], 'alpha')
        page.key('ContextMenu')
        page.key('Escape')
        self.assertEqual((page.js(items), self.crumbs(page)[-1]), ([], 'alpha'))

    def test_waits_and_durations(self):
        second = 1000000000
        profile = (stacks.Profile().add(['app', 'main', 'work'], 2 * second).add(['app', 'main', 'write', 'vfs_write_[k]'], second // 2)
                   .add(['app', 'main', 'read', 'schedule_[w]'], 6 * second + 1500000).add(['app', 'main', 'read', 'look_[w]'], 1234))
        page = self.open(profile)
        page.move(*self.place(page, 4, 0.3))
        self.assertEqual(page.js('document.getElementById("tip").innerText').replace('\u00a0', ' ').splitlines(),
                         ['schedule', '[kernel] \u00b7 kernel, off the CPU', 'total: 6.00 s, 70.59 %', 'self: 6.00 s, 70.59 %', 'of its caller: 100.00 %'])
        self.assertEqual(page.js('[...document.querySelectorAll("#legend li")].map((item) => item.textContent)'),
                         ['user', 'kernel', 'off the CPU', 'process'])
        red, green, blue = self.color_at(page, 4, 0.5)
        self.assertTrue(green > red and green > blue, (red, green, blue))
        red, green, blue = self.color_at(page, 4, 0.97)
        self.assertTrue(blue > red and blue > green, (red, green, blue))
        page.js('document.getElementById("chart").focus()')
        self.search(page, 'look')
        page.key('Enter')
        self.assertIn(': 1.23\u00a0us, ', self.status(page))

    def test_icicle_and_order(self):
        page = self.open(stacks.small())
        page.click_on('document.getElementById("heavy")')
        page.move(*self.place(page, 3, 0.2))
        self.assertTrue(self.status(page).startswith('alpha'))
        page.click_on('document.getElementById("icicle")')
        self.assertEqual(page.js('document.getElementById("icicle").getAttribute("aria-pressed")'), 'true')
        box = page.js('(() => { const b = document.getElementById("canvas").getBoundingClientRect(); return [b.x, b.y]; })()')
        page.move(box[0] + 50, box[1] + 10)
        self.assertTrue(self.status(page).startswith('All Processes'))

    def test_themes(self):
        for dark, theme in ((False, 'light'), (True, 'dark')):
            page = self.open(stacks.small(), dark=dark)
            self.assertEqual(page.js('document.documentElement.dataset.theme'), theme)
        page.click_on('document.getElementById("theme")')
        self.assertEqual(page.js('document.documentElement.dataset.theme'), 'light')

    def test_accessible_names(self):
        page = self.open(stacks.small())
        self.assertIn('1,000 samples', page.js('document.getElementById("chart").getAttribute("aria-label")'))
        tree = page.call('Accessibility.getFullAXTree')['nodes']
        unnamed = [node['role']['value'] for node in tree if not node.get('ignored') and
                   node['role']['value'] in ('button', 'searchbox', 'application') and not node.get('name', {}).get('value')]
        self.assertEqual(unnamed, [])

    def test_hostile_names(self):
        page = self.open(stacks.hostile())
        self.assertEqual(page.js('document.querySelectorAll("script").length'), 2)
        for term, share in (('<>&"\'\\;#', 300 / 1050), ('</script>', 200 / 1050), ('level999', 50 / 1050), ('LLLL', 100 / 1050)):
            self.search(page, term)
            self.assertEqual(self.matched(page), '1 function, %.2f %%' % (100 * share), term)

    def test_deep_stacks_scroll(self):
        page = self.open(stacks.hostile())
        self.search(page, 'level999')
        page.key('Enter')
        page.frame()
        self.assertIn('level999', self.status(page))
        page.js('document.getElementById("chart").focus()')
        page.key('Enter')
        page.frame()
        self.assertLessEqual(len(self.crumbs(page)), 61)
        # The zoomed frame is on the screen, full width.
        found = page.js('''(() => {
          const box = document.getElementById("canvas").getBoundingClientRect();
          for (let y = box.top + 2; y < box.bottom; y += 8) {
            document.getElementById("canvas").dispatchEvent(
              new PointerEvent("pointermove", { clientX: box.left + 5, clientY: y, bubbles: true }));
            if (document.getElementById("status").textContent.startsWith("level999")) return true;
          }
          return false; })()''')
        self.assertTrue(found)

    def cpu_seconds(self, page):
        return {row['name']: row['value'] for row in page.call('Performance.getMetrics')['metrics']}['TaskDuration']

    def test_many_frames(self):
        """As many as in 300,000 samples of a busy machine: 500,000 places."""
        profile = stacks.large(24000)
        page = self.open(profile, width=1600, height=900)
        nodes = page.js('JSON.parse(document.getElementById("profile").textContent).nodes.length / 3')
        self.assertGreater(nodes, 450000)
        # CPU time, because the machine may be busy.
        page.call('Performance.enable', timeDomain='threadTicks')
        before = self.cpu_seconds(page)
        page.call('Page.reload')
        self.browser.wait_for('Page.loadEventFired')
        page.frame()
        self.assertLess(self.cpu_seconds(page) - before, 1)
        # Nothing vanishes silently: what is too narrow says how much it is.
        fog = page.js('''(() => {
          const canvas = document.getElementById("canvas"), box = canvas.getBoundingClientRect();
          for (let y = box.bottom - 40; y > box.top; y -= 6)
            for (let x = box.left; x < box.right; x += 3) {
              canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y, bubbles: true }));
              const text = document.getElementById("status").textContent;
              if (/^[0-9,]+ functions?, [0-9.]+.%$/.test(text)) return text;
            }
          return null; })()''')
        self.assertIsNotNone(fog)
        self.search(page, 'parse_3')
        share = profile.share_matching(lambda name: 'parse_3' in name)
        self.assertTrue(self.matched(page).endswith(' functions, %.2f %%' % share), self.matched(page))

    def test_phone(self):
        page = self.open(stacks.small(), width=360, height=740, scale=3, phone=True)
        self.assertEqual(page.js('document.documentElement.scrollWidth'), 360, 'nothing sticks out at the side')
        self.assertGreater(page.js('document.getElementById("chart").clientHeight'), 300)
        x, y = self.place(page, 3, 0.3)
        page.call('Input.dispatchTouchEvent', type='touchStart', touchPoints=[{'x': x, 'y': y}])
        page.call('Input.dispatchTouchEvent', type='touchEnd', touchPoints=[])
        page.frame()
        self.assertEqual(self.crumbs(page)[-1], 'alpha')

    def test_sharp_and_readable_on_large_screens(self):
        page = self.open(stacks.small(), width=3840, height=2160)
        self.assertGreaterEqual(page.js('parseFloat(getComputedStyle(document.body).fontSize)'), 20)
        page = self.open(stacks.small(), width=1920, height=1080, scale=2)
        self.assertEqual(page.js('document.getElementById("canvas").width'), 3840)


def take_pictures(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    sizes = {'light': {}, 'dark': {'dark': True}, 'phone': dict(width=390, height=844, scale=2, phone=True),
             '4k': dict(width=3840, height=2160)}
    profiles = {'large': stacks.large(), 'small': stacks.small(), 'hostile': stacks.hostile()}
    with browser.Browser() as chromium:
        for name, profile in profiles.items():
            path = folder / f'{name}.html'
            path.write_bytes(draw(profile, 'Flame Graph', f'{name}.syscap: {profile.total():,} samples in 12.40 s'))
            for look, options in sizes.items():
                page = chromium.open(path, **options)
                page.frame()
                page.screenshot(folder / f'{name}-{look}.png')


if __name__ == '__main__':
    if not browser.find():
        sys.exit(77)
    if '--pictures' in sys.argv:
        take_pictures(sys.argv[2])
        sys.exit(0)
    unittest.main()
