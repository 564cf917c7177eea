# SPDX-License-Identifier: GPL-3.0-or-later
"""The view `waits` and the weights `time` and `wall`, over captures from seeds: all is counted again here, as plainly as possible."""
import collections
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'data'))
import captures  # noqa: E402
import waits  # noqa: E402

REPORT = sys.argv[1]
FOLDER = tempfile.TemporaryDirectory()
BEGIN, END = waits.BEGIN, waits.END
ALL = ((BEGIN, END),)
KERNEL_EXIT = 0xffffffff80001000
EVENT_CALLS = ('poll', 'epoll_wait')
n_checks = 0


def check(ok, *what):
    global n_checks
    n_checks += 1
    if not ok:
        sys.exit('not ok: ' + ' '.join(map(str, what)))


def same(got, wanted, what):
    if got != wanted:
        for key in sorted(set(got) | set(wanted), key=str) if isinstance(got, dict) else ():
            if got.get(key) != wanted.get(key):
                print(key, 'is', got.get(key), 'not', wanted.get(key))
    check(got == wanted, what)


def save(name, capture):
    return capture.save(f'{FOLDER.name}/{name}.syscap')


def run(*arguments):
    return subprocess.run([REPORT, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def report(*arguments):
    done = run(*arguments, '--format', 'json')
    check(done.returncode == 0 and not done.stderr, arguments, done.stderr)
    return json.loads(done.stdout)


def names(stack):
    return tuple(entry['symbol'] for entry in stack if entry['kind'] != 'marker')


# --- answers ---

def overlap(begin, end, ranges):
    return sum(max(min(end, b) - max(begin, a), 0) for a, b in ranges)


def reason_of(wait):
    if wait['reason'] == waits.SYSCALL:
        return 'syscall:' + waits.SYSCALLS[wait['syscall']]
    return waits.NAME_OF_REASON[wait['reason']]


def is_idle(wait):
    return (wait['reason'] == waits.SYSCALL and waits.SYSCALLS[wait['syscall']] in EVENT_CALLS
            and 'g_main_context_dispatch' not in wait['stack'])


def parts(wait, ranges):
    """ns waiting and ns runnable."""
    end = wait['begin'] + wait['duration']
    woken = end - wait['runnable']
    return (overlap(wait['begin'], woken, ranges) * wait['weight'], overlap(woken, end, ranges) * wait['weight'])


def touches(wait, ranges):
    end = wait['begin'] + wait['duration']
    return any(a <= wait['begin'] < b or wait['begin'] < b and end > a for a, b in ranges)


def waker_of(wait):
    if wait['waker']:
        return '%s/%d' % (wait['waker'][2], wait['waker'][0])
    return '[interrupt]' if wait['flags'] & waits.BY_INTERRUPT else ''


def rows_of(found, ranges=ALL):
    rows = collections.defaultdict(lambda: [0, 0, 0, 0.0])

    def add(wait, reason, idle, time):
        tid, pid, comm = wait['thread']
        row = rows[waits.COMMANDS[pid], pid, comm, tid, reason, waker_of(wait), tuple(wait['waker_stack'] or ()),
                   tuple(wait['stack']), idle]
        each = time // wait['weight']
        row[0] += wait['weight']
        row[1] += time
        row[2] = max(row[2], each)
        row[3] += each * each * wait['weight'] * (wait['weight'] - 1)

    for wait in found:
        if not touches(wait, ranges):
            continue
        waiting, runnable = parts(wait, ranges)
        if wait['reason'] == waits.PREEMPTED:
            add(wait, 'preempted', False, runnable)
            continue
        add(wait, reason_of(wait), is_idle(wait), waiting)
        if runnable:
            add(wait, 'runnable', False, runnable)
    return {key: (n, time, most, round(1.96 * math.sqrt(variance) / 1000)) for key, (n, time, most, variance) in rows.items()}


def shown(answer):
    rows = {}
    for row in answer['rows']:
        key = (row['process'], row['pid'], row['thread'], row['tid'], row['reason'], row['waker'], names(row['waker-stack']),
               names(row['stack']), row['idle'])
        check(key not in rows, 'two rows', key)
        rows[key] = row['count'], row['time'], row['max'], round(row['error'] / 1000)
    return rows


# --- tests ---

def check_view(path, found):
    answer = report('waits', path, '--details')
    rows = answer['rows']
    same(shown(answer), rows_of(found), 'rows')
    check(answer['weight'] == {'name': 'time', 'unit': 'ns', 'total': sum(row['time'] for row in rows)}, answer['weight'])
    order = [(row['idle'], -row['time']) for row in rows]
    check(order == sorted(order), 'idle last, then by time')


def check_selections(path, found):
    def offset(a, b):
        return ((BEGIN + a, BEGIN + b),)

    cases = [
        (['--process', 'daemon'], lambda w: w['thread'][1] == 20, ALL),
        (['--process', 10, '--process', 30], lambda w: w['thread'][1] in (10, 30), ALL),
        (['--thread', 11], lambda w: w['thread'][0] == 11, ALL),
        (['--cpu', '1-2'], lambda w: w['cpu'] in (1, 2), ALL),
        (['--symbol', 'read_f'], lambda w: 'read_file' in w['stack'], ALL),
        (['--symbol', '!work', '--cpu', 0], lambda w: 'work' not in w['stack'] and w['cpu'] == 0, ALL),
        (['--time', '500ms..700ms'], lambda w: True, offset(500_000_000, 700_000_000)),
        (['--time', '1.5s..'], lambda w: True, offset(1_500_000_000, 2_000_000_000)),
        (['--time', '0..1.5s'], lambda w: True, offset(0, 1_500_000_000)),
        (['--time', '!500ms..700ms'], lambda w: True, offset(0, 500_000_000) + offset(700_000_000, 2_000_000_000)),
        (['--thread', '!11'], lambda w: w['thread'][0] != 11, ALL),
        (['--time', '10ms..20ms', '--time', '25ms..900ms', '--process', 'prog'], lambda w: w['thread'][1] == 10,
         offset(10_000_000, 20_000_000) + offset(25_000_000, 900_000_000)),
    ]
    for arguments, keep, ranges in cases:
        some = [wait for wait in found if keep(wait)]
        same(shown(report('waits', path, '--details', *arguments)), rows_of(some, ranges), arguments)
        total = report('functions', path, '--weight', 'time', '--idle', *arguments)['weight']['total']
        check(total == sum(sum(parts(wait, ranges)) for wait in some), arguments, total)


def weights_of_time(found, with_idle, ranges=ALL):
    for wait in found:
        waiting, runnable = parts(wait, ranges)
        weight = runnable + (waiting if with_idle or not is_idle(wait) else 0)
        if weight:
            yield wait['thread'], wait['stack'], weight


def leaves(row):
    """Returns the self values of all rows of a tree; in a reversed one, which has none, what its rows have beside their children."""
    children = row.get('children', ())
    return row.get('self', row['total'] - sum(child['total'] for child in children)) + sum(map(leaves, children))


def check_weights(path, found, samples, period):
    for weight, idle in (('time', False), ('time', True), ('wall', False), ('wall', True)):
        weighed = list(weights_of_time(found, idle))
        if weight == 'wall':
            weighed += [(sample['thread'], sample['stack'], period) for sample in samples]
        options = ['--weight', weight] + (['--idle'] if idle else [])
        total = sum(n for _, _, n in weighed)

        functions = report('functions', path, *options)
        check(functions['weight'] == {'name': weight, 'unit': 'ns', 'total': total}, functions['weight'], total)
        own, all_ = collections.Counter(), collections.Counter()
        for _, stack, n in weighed:
            own[stack[0]] += n
            for name in set(stack):
                all_[name] += n
        same({row['symbol']: (row['self'], row['total']) for row in functions['rows']},
             {name: (own[name], all_[name]) for name in all_}, ('functions', options))

        by_process, by_thread, folded = collections.Counter(), collections.Counter(), collections.Counter()
        for thread, stack, n in weighed:
            by_process[thread[1]] += n
            by_thread[thread[0]] += n
            folded[';'.join([waits.COMMANDS[thread[1]]] + list(stack[::-1]))] += n
        same({row['pid']: row['total'] for row in report('processes', path, *options)['rows'] if row['total']}, dict(by_process),
             ('processes', options))
        same({row['tid']: row['total'] for row in report('threads', path, *options)['rows'] if row['total']}, dict(by_thread),
             ('threads', options))
        lines = dict(line.rsplit(' ', 1) for line in run('flame', path, *options, '--format', 'folded').stdout.splitlines())
        same({stack: int(n) for stack, n in lines.items()}, dict(folded), ('folded', options))
        for view in ('tree', 'flame'):
            answer = report(view, path, *options)
            check(answer['rows'][0]['total'] == total, view, options)
        for view, step in (('callers', 1), ('callees', -1)):
            rows = report(view, path, *options, '--focus', 'read_file')['rows']
            wanted = collections.Counter()
            for _, stack, n in weighed:
                for name in {stack[i + step] for i in range(len(stack)) if stack[i] == 'read_file' and 0 <= i + step < len(stack)}:
                    wanted[name] += n
            same({row['symbol']: row['total'] for row in rows}, dict(wanted), (view, options))
        for view, shape in (('tree', ()), ('flame', ()), ('tree', ('--bottom-up',))):
            answer, = report(view, path, *options, *shape, '--limit', 0)['rows']
            check(leaves(answer) == total, view, shape, options)
        for row in report('summary', path, *options)['processes']:
            check(row['total'] == by_process[row['pid']], 'summary', row)
        for form in ('text', 'svg', 'html', 'csv', 'markdown'):
            for view in ('functions', 'flame', 'heat', 'cpus', 'quality', 'samples'):
                done = run(view, path, *options, '--format', form)
                check(done.returncode == 0, view, form, options, done.stderr)


def check_by_thread(path, found, runs):
    rows = {row['tid']: row for row in report('waits', path, '--by-thread')['rows']}
    check(set(rows) == {run['thread'][0] for run in runs}, 'threads')
    for run in runs:
        tid = run['thread'][0]
        row = rows[tid]
        own = [wait for wait in found if wait['thread'][0] == tid]
        check(row['running'] == run['run'], tid, row, run)
        check(row['waiting'] == sum(parts(wait, ALL)[0] for wait in own), tid, 'waiting')
        check(row['runnable'] == sum(parts(wait, ALL)[1] for wait in own), tid, 'runnable')
        check(row['idle'] == sum(parts(wait, ALL)[0] for wait in own if is_idle(wait)), tid, 'idle')
        check(row['wall'] == END - BEGIN == row['running'] + row['runnable'] + row['waiting'], tid, 'wall', row)
    for row in report('waits', path, '--by-thread', '--time', '0.3s..0.9s')['rows']:
        check(row['wall'] == 600_000_000 == row['running'] + row['runnable'] + row['waiting'], 'part', row)


def check_by_lock(path, found):
    wanted = collections.defaultdict(lambda: [0, 0, 0] + [collections.Counter() for _ in range(5)])
    first = {}
    threads = {tid: '%s/%d' % (comm, tid) for tid, pid, comm in waits.THREADS}
    for wait in found:
        if wait['lock'] is None:
            continue
        key = hex(wait['lock']), wait['thread'][1]
        row = wanted[key]
        if key not in first or wait['begin'] < first[key]['begin']:
            first[key] = wait
        waiting = parts(wait, ALL)[0]
        row[0] += 1
        row[1] += waiting
        row[2] = max(row[2], waiting)
        row[3][threads[wait['thread'][0]]] += waiting
        if wait['holder']:
            row[4][threads.get(wait['holder'], str(wait['holder']))] += waiting
        if wait['waker']:
            row[5][threads[wait['waker'][0]]] += waiting
            row[7][wait['waker_stack'][0]] += waiting
        row[6][wait['stack'][0]] += waiting

    def in_order(counter):
        return [name for name, time in sorted(counter.items(), key=lambda item: (-item[1], item[0]))]

    answer = report('waits', path, '--by-lock')
    same({(row['lock'], row['pid']): (row['count'], row['time'], row['max'], row['waiters'], row['holders'], row['wakers'],
                                       row['waiting-functions'], row['holding-functions']) for row in answer['rows']},
         {key: (n, time, most, *map(in_order, names)) for key, (n, time, most, *names) in wanted.items()}, 'locks')
    for row in answer['rows']:
        check(row['name'] == 'first locked in ' + first[row['lock'], row['pid']]['stack'][0] and row['kind'] == 'futex', row)
    check([row['time'] for row in answer['rows']] == sorted((row['time'] for row in answer['rows']), reverse=True), 'order')


def path_of(found, thread, begin, end):
    """From the end backwards, as docs/decisions describes."""
    def last_before(who, time):
        own = [wait for wait in found if wait['thread'] == who and wait['begin'] < time]
        return max(own, key=lambda wait: wait['begin'], default=None)

    segments, wakes = [], ''
    while end > begin:
        wait = last_before(thread, end)
        if wait is None:
            segments.append((begin, end, thread, 'running', wakes))
            break
        until = min(wait['begin'] + wait['duration'], end)
        woken = min(wait['begin'] + wait['duration'] - wait['runnable'], until)
        segments.append((until, end, thread, 'running', wakes))
        segments.append((woken, until, thread, 'preempted' if wait['reason'] == waits.PREEMPTED else 'runnable', ''))
        waker = wait['waker']
        if waker and not wait['flags'] & waits.GOES_ON:
            its = last_before(waker, woken)
            if its is None or its['begin'] + its['duration'] <= woken:
                wakes, thread, end = '%s/%d' % (thread[2], thread[0]), waker, woken
                continue
        segments.append((wait['begin'], woken, thread, reason_of(wait), ''))
        end, wakes = wait['begin'], ''
    segments = [(max(a, begin), b, *rest) for a, b, *rest in segments]
    return [(a - begin, b - a, thread[0], state, by) for a, b, thread, state, by in reversed(segments) if b > a]


def sums_of(segments, found, samples):
    """By thread, state and innermost function. The time of a running thread is shared out among its samples."""
    sums = collections.Counter()
    for begin, duration, tid, state, _ in segments:
        functions = ['']
        if state == 'running':
            functions = [sample['stack'][0] for sample in samples
                         if sample['thread'][0] == tid and begin <= sample['time'] - BEGIN < begin + duration] or ['']
        elif state not in ('runnable', 'preempted'):
            functions = [wait['stack'][0] for wait in found
                         if wait['thread'][0] == tid and max(wait['begin'], BEGIN) == BEGIN + begin and wait['duration'] > 0 and reason_of(wait) == state][:1]
        for i, function in enumerate(functions):
            part = duration // (len(functions) - i)
            sums[tid, state, function] += part
            duration -= part
    return dict(sums)


def check_path(path, found, samples):
    for thread in waits.THREADS:
        sums = report('waits', path, '--critical-path', '--thread', thread[0])
        answer = report('waits', path, '--critical-path', '--details', '--thread', thread[0])
        got = [(row['time'], row['duration'], row['tid'], row['state'], row['wakes']) for row in answer['rows']]
        wanted = path_of(found, thread, BEGIN, END)
        for one, other in zip(got, wanted):
            check(one == other, 'path of', thread, one, other)
        check(len(got) == len(wanted), 'path of', thread, len(got), len(wanted))
        check(sum(row['duration'] for row in answer['rows']) == END - BEGIN, 'each moment once')
        same({(row['tid'], row['state'], row['function']): row['duration'] for row in sums['rows']}, sums_of(wanted, found, samples), 'sums')
        check(sums['weight'] == answer['weight'] and sums['weight']['total'] == END - BEGIN, sums['weight'])
        order = [row['duration'] for row in sums['rows']]
        check(order == sorted(order, reverse=True), 'heaviest first')
        by_process = collections.Counter()
        for row in sums['rows']:
            by_process[row['process']] += row['duration']
        lead = run('waits', path, '--critical-path', '--thread', thread[0]).stdout.splitlines()[2]
        check(lead.startswith(f'2.00 s: {by_process.most_common(1)[0][0]} ') and re.search(r' = \d+ %[,)]', lead), lead)
    done = run('waits', path, '--critical-path')
    check(done.returncode == 2 and '--thread' in done.stderr, done.stderr)


def causes_of(found):
    """Without symbols of libraries: the innermost function is the cause, and its caller."""
    causes = collections.defaultdict(lambda: [0, 0, 0, 0, collections.Counter()])
    for wait in found:
        waiting, runnable = parts(wait, ALL)
        is_preempted = wait['reason'] == waits.PREEMPTED
        stack = [] if is_preempted else wait['stack'][:1] + [name for name in wait['stack'][1:] if name != wait['stack'][0]][:1]
        time = runnable if is_preempted else waiting
        row = causes[wait['thread'][1], 'preempted' if is_preempted else reason_of(wait), ' < '.join(stack),
                     not is_preempted and is_idle(wait)]
        row[0] += wait['weight']
        row[1] += time
        row[2] = max(row[2], time // wait['weight'])
        row[3] += 0 if is_preempted else runnable
        row[4][waker_of(wait)] += time
    return {(pid, reason, cause): (*row[:4], sum(1 for waker in row[4] if waker), max(row[4].values()))
            for (pid, reason, cause, idle), row in causes.items() if not idle}


def check_causes(path, found):
    answer = report('waits', path)
    shown = {(row['pid'], row['reason'], row['cause']): (row['count'], row['time'], row['max'], row['runnable'], row['wakers'])
             for row in answer['rows'] if not (row['idle'] and row['reason'] != 'child')}
    wanted = causes_of(found)
    same(shown, {key: row[:5] for key, row in wanted.items()}, 'causes')
    check(answer['weight']['total'] == sum(row['time'] for row in answer['rows']), answer['weight'])
    order = [row['idle'] for row in answer['rows']]
    check(order == sorted(order), 'idle last')
    for row in answer['rows']:
        check(row['symbol'] == row['cause'].split(' < ')[0], row)


def check_same_in_all_forms(path):
    rows = report('waits', path)['rows']
    for form in ('text', 'csv', 'markdown', 'html', 'svg'):
        done = run('waits', path, '--format', form, '--limit', 0)
        check(done.returncode == 0, form, done.stderr)
        if form in ('csv', 'markdown', 'text'):
            check(done.stdout.count('syscall:fsync') == sum(row['reason'] == 'syscall:fsync' for row in rows), form)


def check_schema(path):
    """Each form keeps the installed schema, by a validator that is not ours, and has no member that it does not describe."""
    try:
        import jsonschema
    except ImportError:
        return
    schema = json.loads((pathlib.Path(__file__).resolve().parents[2] / 'data' / 'sysprof-report.schema.json').read_text())
    forms = {'wait': (), 'wait-detail': ('--details',), 'wait-thread': ('--by-thread',), 'wait-lock': ('--by-lock',), 
             'wait-path': ('--critical-path', '--thread', waits.THREADS[0][0]), 'wait-step': ('--critical-path', '--details', '--thread', waits.THREADS[0][0])}
    for kind, arguments in forms.items():
        answer = report('waits', path, *arguments)
        check(answer['rows'], kind)
        jsonschema.validate(answer, schema)
        whole = dict(schema, **{'$ref': '#/$defs/' + kind})
        whole = {key: whole[key] for key in ('$schema', '$ref', '$defs')}
        whole['$defs'] = dict(schema['$defs'], **{kind: dict(schema['$defs'][kind], additionalProperties=False)})
        validator = jsonschema.Draft202012Validator(whole)
        for row in answer['rows'][:100]:
            check(validator.is_valid(row), kind, [error.message for error in validator.iter_errors(row)])


def check_without_waits():
    path = save('none', captures.Capture(time=BEGIN, end_time=END).sample([captures.USER, 0x1000], 1, pid=1, time=BEGIN + 5))
    for weight in ('time', 'wall'):
        done = run('functions', path, '--weight', weight)
        check(done.returncode == 1 and '--off-cpu' in done.stderr and weight in done.stderr, done.stderr)
    done = run('waits', path)
    check(done.returncode == 0 and 'no waits' in done.stdout, done.stdout)
    check(report('waits', path)['rows'] == [], 'no rows')


def check_wall_of_counted_events():
    """Cycles are no time: what threads ran is shared out among their samples."""
    c = captures.Capture(time=BEGIN, end_time=END)
    c.jitmap([(waits.address(name), name) for name in waits.FUNCTIONS], time=BEGIN)
    c.file('__events__', b'0 count 5000 cycles\n', time=BEGIN)
    for i, name in enumerate(('work', 'work', 'lock')):
        c.sample(waits.stack_of([name]), 7, pid=7, time=BEGIN + i)
    stream = waits.Stream()
    stream.wait(BEGIN + 10, 50, (7, 7, 'p'), waits.SLEEP, stack=waits.stack_of(['wake']))
    without = bytes(stream.data)
    stream.run((7, 7, 'p'), 1000)
    bare = captures.Capture(time=BEGIN, end_time=END).raw(c.data[256:]).file('__waits__', without, time=BEGIN)
    rows = report('functions', save('cycles', waits.embed(c, stream, time=BEGIN)), '--weight', 'wall')['rows']
    same({row['symbol']: row['self'] for row in rows}, {'work': 667, 'lock': 333, 'wake': 50}, 'cycles')
    done = run('functions', save('bare', bare), '--weight', 'wall')
    check(done.returncode == 1 and 'cpu-clock' in done.stderr, done.stderr)


def check_ended_thread():
    """It began with a fork, waited once, continued and ended; its end was not recorded."""
    c = captures.Capture(time=BEGIN, end_time=END).process('/bin/p', pid=7, time=BEGIN).fork(8, pid=7, time=BEGIN + 100)
    c.sample([captures.USER, 0x1000], 7, pid=7, time=END)
    stream = waits.Stream().wait(BEGIN + 400, 1000, (8, 7, 't'), waits.SLEEP, runnable=10).run((8, 7, 't'), 300 + 70)
    row, = report('waits', save('ended', waits.embed(c, stream, time=BEGIN)), '--by-thread')['rows']
    check((row['running'], row['runnable'], row['waiting'], row['wall']) == (370, 10, 990, 1370), row)


def check_findings():
    """A command that waits: for a disk, a lock, or for work; and a whole machine, of which nothing is said."""
    cases = (((waits.IO, 74), 'io', 0), ((waits.FUTEX, 202), 'lock', 20), ((waits.SYSCALL, 0), 'wait', 120), ((waits.SLEEP, 230), 'sleep', 0))
    for (reason, syscall), kind, preempted in cases:
        c = captures.Capture(time=BEGIN, end_time=END).metadata('uname.machine', 'x86_64', time=BEGIN)
        c.metadata('spawnable.argv', "'./prog' ", time=BEGIN).metadata('spawnable.pid', '7', time=BEGIN)
        c.jitmap([(waits.address(name), name) for name in waits.FUNCTIONS], time=BEGIN)
        for pid, name in ((7, './prog'), (9, './other')):
            c.process(name, pid=pid, time=BEGIN).sample(waits.stack_of(['start']), pid, pid=pid, time=BEGIN + 5)
        stream = waits.Stream().wait(BEGIN + 10, 900, (9, 9, 'other'), waits.SLEEP, stack=waits.stack_of(['lock']))
        stream.wait(BEGIN + 100, 500, (7, 7, 'prog'), reason, syscall=syscall, stack=waits.stack_of(['work', 'start']))
        stream.wait(BEGIN + 700, 100, (7, 7, 'prog'), waits.OTHER, stack=waits.stack_of(['start']))
        if preempted:
            stream.wait(BEGIN + 850, preempted, (7, 7, 'prog'), waits.PREEMPTED)
        stream.run((7, 7, 'prog'), 200).run((9, 9, 'other'), 5)
        path = save('finding', waits.embed(c, stream, time=BEGIN))
        first = report(path)['findings'][0]
        check((first['kind'], first['process'], first['symbol'], first['share']) == (kind, 'prog/7', 'work', 500 / 800), first)
        check('ran 200 ns and waited 600 ns' in first['text'] and '83 % in work ← start' in first['text'], first)
        delay = f', and was ready to run but had no CPU for {preempted} ns' if preempted >= (800 + preempted) / 10 else ''
        check(first['text'].endswith(f'start{delay}.'), first)
        check(not [f for f in report('--all', path)['findings'] if f['kind'] == kind], 'of the machine')


def check_cut(seed):
    """Frames before the truncation are shown, and so are all other parts of the capture."""
    _, found, _, _ = waits.make(seed)
    stream = waits.Stream()
    ends = []
    for wait in found[:12]:
        stream.wait(wait['begin'], wait['duration'], wait['thread'], wait['reason'], wait['runnable'], wait['syscall'],
                    wait['flags'], waits.stack_of(wait['stack']), wait['waker'], wait['waker'] and waits.stack_of(wait['waker_stack']),
                    wait['lock'], wait['holder'], wait['cpu'])
        ends.append(len(stream.data))
    for size in list(range(0, len(stream.data), 7)) + ends:
        c = captures.Capture(time=BEGIN, end_time=END).metadata('uname.machine', 'x86_64', time=BEGIN)
        c.sample([captures.USER, 0x1000], 1, pid=1, time=BEGIN + 5)
        c.file('__waits__', bytes(stream.data[:size]), False, time=BEGIN)
        path = save('cut', c)
        answer = json.loads(run('waits', path, '--format', 'json').stdout)
        whole = [end for end in ends if end <= size]
        got = sum(row['count'] for row in answer['rows'] if row['reason'] != 'runnable')
        # zero-length ones at the very end of the recording are not within it
        wanted = [w for w in found[:len(whole)]]
        last = max([BEGIN + 5] + [w['begin'] + w['duration'] for w in wanted])
        check(got == sum(touches(w, ((BEGIN, max(last, BEGIN)),)) for w in wanted), size, got, len(wanted))
        check(answer['capture']['samples'] == 1, 'samples')


def check_gpu_fences():
    """A wait for a graphics device is in the kernel's function for this, whatever the system call."""
    kernel = {'schedule': 0xffffffff80001000, 'dma_fence_default_wait.part.0': 0xffffffff80002000, 'i915_request_wait': 0xffffffff80003000,
              'vfs_ioctl': 0xffffffff80004000}
    user = {'glFinish': 0x401000, 'dma_fence_default_wait': 0x402000}
    c = captures.Capture(time=BEGIN, end_time=END).metadata('uname.machine', 'x86_64', time=BEGIN)
    c.process('/usr/bin/game', pid=7, time=BEGIN).map(0x400000, 0x500000, '/usr/bin/game', pid=7, time=BEGIN)
    c.chunked_file('__symbols__', captures.symbol_table(
        [(at, at + 0x100, 0, name, 'Kernel') for name, at in kernel.items()]
        + [(at, at + 0x100, 7, name, 'game') for name, at in user.items()]), time=BEGIN)
    stream = waits.Stream()

    def wait(i, reason, functions, caller='glFinish', syscall=16, runnable=0):
        stack = [captures.KERNEL] + [kernel[name] + 8 for name in functions] + [captures.USER, user[caller] + 8]
        stream.wait(BEGIN + 100 * i, 100, (7, 7, 'game'), reason, runnable, syscall, stack=stack)

    part = 'dma_fence_default_wait.part.0'
    wait(0, waits.SYSCALL, ['schedule', part, 'vfs_ioctl'])
    wait(1, waits.IO, ['schedule', 'i915_request_wait', 'vfs_ioctl'], runnable=30)
    wait(2, waits.OTHER, ['schedule', part], syscall=None)
    wait(3, waits.SYSCALL, ['schedule', 'vfs_ioctl'])
    wait(4, waits.SYSCALL, ['schedule'], 'dma_fence_default_wait')  # a program's own of that name
    wait(5, waits.PAGE_FAULT, ['schedule', part], syscall=None)
    wait(6, waits.PREEMPTED, ['schedule', part], syscall=None)
    path = save('fences', waits.embed(c, stream, time=BEGIN))
    times = collections.Counter()
    for row in report('waits', path, '--details')['rows']:
        times[row['reason']] += row['time']
    same(dict(times), {'gpu-fence': 270, 'runnable': 30, 'syscall:ioctl': 200, 'page-fault': 100, 'preempted': 100}, 'fences')
    states = [row['state'] for row in report('waits', path, '--critical-path', '--details', '--process', 'game')['rows']]
    check(states[:4] == ['gpu-fence', 'gpu-fence', 'runnable', 'gpu-fence'], states)


def check_names_of_locks():
    """Objects have the names of the table in the capture; waits for the end of a thread are no locks."""
    code = {'work': 0x401000, 'put': 0x401100, 'main': 0x401200, 'std::vector<int> app::fill<std::mutex>(int)': 0x401300,
            'void std::condition_variable::wait<app::Full>(app::Full)': 0x401400, 'std::shared_lock<std::shared_mutex>::shared_lock()': 0x401500}
    library = {'pthread_mutex_lock': 0x700000, 'pthread_cond_wait': 0x700100, 'pthread_join': 0x700200, 'unnamed': 0x700300}
    c = captures.Capture(time=BEGIN, end_time=END).metadata('uname.machine', 'x86_64', time=BEGIN)
    c.process('/usr/bin/prog', pid=7, time=BEGIN).map(0x401000, 0x402000, '/usr/bin/prog', pid=7, time=BEGIN)
    c.map(0x700000, 0x710000, '/lib/libc.so.6', pid=7, time=BEGIN)
    c.chunked_file('__symbols__', captures.symbol_table(
        [(at, at + 0x100, 7, name, 'prog') for name, at in code.items()] + [(at, at + 0x100, 7, name, 'libc.so.6') for name, at in library.items()]
        + [(0x404040, 0x404068, 7, 'hot_lock', 'prog'), (0x404080, 0x4040b0, 7, 'filled', 'prog'), (0x405000, 0x405400, 7, 'table', 'prog'),
           (KERNEL_EXIT, KERNEL_EXIT + 0x100, 0, 'do_exit', '[kernel]')]), time=BEGIN)
    stream, n = waits.Stream(), 0

    def wait(lock, function, caller='work', holder=0, waker_stack=(captures.USER, code['put'] + 8)):
        nonlocal n
        n += 1
        stream.wait(BEGIN + 1000 * n, 100, (7, 7, 'prog'), waits.FUTEX, 10, 202, lock=lock, holder=holder, waker=(8, 7, 'other'), waker_stack=waker_stack,
                    stack=[captures.USER, library[function] + 8, code[caller] + 8])

    wait(0x404040, 'pthread_mutex_lock', holder=8)
    wait(0x4040a8, 'pthread_cond_wait')
    wait(0x4040ac, 'pthread_cond_wait')
    wait(0x404040, 'pthread_cond_wait', holder=8)  # the mutex again, after the condition
    wait(0x405040, 'pthread_mutex_lock')
    wait(0x999990, 'pthread_mutex_lock', 'main')
    wait(0x777770, 'pthread_cond_wait')
    wait(0x888880, 'pthread_join', 'main')
    wait(0x888890, 'unnamed', 'main', waker_stack=(captures.KERNEL, KERNEL_EXIT + 8))
    for lock, function in ((0x777700, 'void std::condition_variable::wait<app::Full>(app::Full)'), (0x777780, 'std::shared_lock<std::shared_mutex>::shared_lock()')):
        n += 1
        stream.wait(BEGIN + 1000 * n, 100, (7, 7, 'prog'), waits.FUTEX, 10, 202, lock=lock,
                    stack=[captures.USER, library['unnamed'] + 8, code[function] + 8, code['std::vector<int> app::fill<std::mutex>(int)'] + 8])
    filling = ['std::vector<int> app::fill<std::mutex>(int)'], [], []
    rows = report('waits', save('names', waits.embed(c, stream, time=BEGIN)), '--by-lock')['rows']
    same({row['name']: (row['kind'], row['lock'], row['count'], row['waiting-functions'], row['holding-functions'], row['signaling-functions']) for row in rows},
         {'hot_lock': ('mutex', '0x404040', 2, ['work'], ['put'], []), 'filled': ('condition', '0x404080', 2, ['work'], [], ['put']),
          'table+0x40': ('mutex', '0x405040', 1, ['work'], ['put'], []), 'first locked in main': ('mutex', '0x999990', 1, ['main'], ['put'], []),
          'first waited for in ' + filling[0][0]: ('condition', '0x777700', 1, *filling),
          'first locked in ' + filling[0][0]: ('rwlock', '0x777780', 1, *filling), 'first waited for in work': ('condition', '0x777770', 1, ['work'], [], ['put'])}, 'names of locks')


def check_path_of_device():
    """A kernel thread that an interrupt woke finishes a wait: the wait is that of the program, not the rest of the kernel thread."""
    kernel = 0xffffffff80002000
    c = captures.Capture(time=BEGIN, end_time=END).metadata('uname.machine', 'x86_64', time=BEGIN)
    c.jitmap([(waits.address(name), name) for name in waits.FUNCTIONS], time=BEGIN)
    c.process('/usr/bin/io', pid=7, time=BEGIN).process('kworker/0:1', pid=2, time=BEGIN)
    c.sample([captures.KERNEL, kernel], 2, pid=2, time=BEGIN + 5)
    stream, rests = waits.Stream(), [captures.KERNEL, kernel]
    stream.wait(BEGIN + 10, 890, (2, 2, 'kworker/0:1'), waits.OTHER, flags=waits.BY_INTERRUPT, stack=rests)
    stream.wait(BEGIN + 100, 850, (7, 7, 'io'), waits.IO, 0, 74, stack=waits.stack_of(['work', 'start']), waker=(2, 2, 'kworker/0:1'), waker_stack=rests)
    path = save('device', waits.embed(c, stream, time=BEGIN))
    check('\n\nNone of the selected threads waited for a lock.\n' in run('waits', path, '--by-lock').stdout, 'no locks')
    rows = report('waits', path, '--critical-path', '--process', 'io', '--time', '0..950ns')['rows']
    same({(row['process'], row['state'], row['function']): row['duration'] for row in rows}, {('io', 'io', 'work'): 850, ('io', 'running', ''): 100}, 'device')


def check_mixed():
    """Captures that were joined by who knows nothing of waits: what is of one is right, and what happened is said."""
    def stream(pid):
        s = waits.Stream()
        for i in range(40):
            s.wait(BEGIN + 10 * i, 10, (pid, pid, f'p{pid}'), waits.SLEEP, stack=waits.stack_of(['work' if pid == 7 else 'lock']))
        return bytes(s.data)

    def capture(chunks, events=()):
        c = captures.Capture(time=BEGIN, end_time=END)
        c.jitmap([(waits.address(name), name) for name in waits.FUNCTIONS], time=BEGIN)
        c.sample(waits.stack_of(['start']), 7, pid=7, time=BEGIN + 500)
        for data, is_last in chunks:
            c.file('__waits__', data, is_last, time=BEGIN)
        for data in events:
            c.file('__events__', data, time=BEGIN)
        return save('mixed', c)

    a, b = stream(7), stream(8)
    half = len(a) // 2
    turns = [(a[:half], False), (b[:half], False), (a[half:], True), (b[half:], True)]
    for chunks, least in (([(a, True), (b, True)], 40), (turns, 1), ([(a[:half], False), (b, True)], 1)):
        path = capture(chunks)
        done = run('waits', path, '--format', 'json')
        check(done.returncode == 0 and 'joined from several captures' in done.stderr and 'damage' not in done.stderr, done.stderr)
        answer = json.loads(done.stdout)
        row, = answer['rows']
        check(row['pid'] == 7 and least <= row['count'] <= 40 and row['time'] == 10 * row['count'], row)
        check('waits' not in answer['capture'] and 'damage' not in answer['capture'] and 'ff-CPU times' in answer['capture']['joined'], answer)
        check('Joined' in run('summary', path).stdout, 'summary')
    short = bytes(waits.Stream().wait(BEGIN, 10, (7, 7, 'thread'), waits.SLEEP, stack=waits.stack_of(['work'])).data)
    for size in range(8, len(short) + 1):
        done = run('waits', capture([(short[:size], False), (b, True)]))
        check('joined from several captures' in done.stderr and 'damage' not in done.stderr, size, done.stderr)
    clock, faults = b'0 ns 1000000 cpu-clock\n', b'0 count 1 page-faults\n'
    for events, is_known in (([clock, clock], True), ([clock, faults], False), ([clock, b''], False)):
        done = run('functions', capture([(a, True)], events), '--weight', 'period')
        check((done.returncode == 0) == is_known, events, done.stderr)
        check(('joined from several captures' in done.stderr) != is_known, events, done.stderr)


def totals_of_paths(path, weight):
    """{path: (weight, whether it is off the CPU)}"""
    totals, todo = {}, [((), row) for row in report('flame', path, '--weight', weight, '--merge-processes', '--limit', 0)['rows']]
    while todo:
        above, row = todo.pop()
        here = (*above, (row['symbol'], row['kind']))
        totals[here] = row['total'], row.get('off-cpu', False)
        todo += [(here, child) for child in row.get('children', ())]
    return totals


def check_off_cpu():
    """Functions of the kernel are off the CPU if at least half of their wall time is."""
    path = save('kernel', waits.some_of_everything())
    off, wall = totals_of_paths(path, 'time'), totals_of_paths(path, 'wall')
    check(any(kind == 'kernel' for (*_, (_, kind)) in off), off)
    for here, (total, is_off) in wall.items():
        check(is_off == (here[-1][1] == 'kernel' and 2 * off.get(here, (0,))[0] >= total), here)
    for here, (_, is_off) in off.items():
        check(is_off == (here[-1][1] == 'kernel'), here)
    check(not any(is_off for _, is_off in totals_of_paths(path, 'samples').values()))


for seed in (1, 2, 3):
    capture, found, runs, samples = waits.make(seed, big=seed == 2)
    path = save(f'seed{seed}', capture)
    check_view(path, found)
    check_causes(path, found)
    check_selections(path, found)
    check_weights(path, found, samples, 1_000_000)
    check_by_thread(path, found, runs)
    check_by_lock(path, found)
    check_path(path, found, samples)
check_same_in_all_forms(path)
check_schema(path)
capture, found, _, _ = waits.make(4, sampled=8)
check_view(save('sampled', capture), found)
check_without_waits()
check_off_cpu()
check_wall_of_counted_events()
check_ended_thread()
check_cut(5)
check_findings()
check_gpu_fences()
check_names_of_locks()
check_path_of_device()
check_mixed()
print(f'ok: {n_checks} checks')
