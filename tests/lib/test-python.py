#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The library from Python: reads a capture that was written without it, and makes one.

usage: test-python.py CAPTURE     (GI_TYPELIB_PATH and LD_LIBRARY_PATH lead to the build)
"""
import os
import sys
import tempfile

try:
    import gi
except ImportError:
    print('1..0 # SKIP no PyGObject here')
    sys.exit(0)
gi.require_version('Sysprof', '6')
from gi.repository import Gio, GLib, Sysprof  # noqa: E402


def wait(start, finish):
    """Calls an asynchronous function and iterates until it is done."""
    results = []
    start(lambda source, result: results.append(result))
    while not results:
        GLib.MainContext.default().iteration(True)
    return finish(results[0])


def load(path, symbolizer=None):
    loader = Sysprof.DocumentLoader.new(path)
    loader.set_symbolizer(symbolizer)
    return loader.load(None)


def test_reads(path):
    document = load(path, Sysprof.NoSymbolizer.get())
    assert len(document) == document.get_n_items() > 0
    assert document.props.title == os.path.basename(path)
    assert [type(frame).__name__ for frame in document.list_allocations()] == ['DocumentAllocation'] * 2
    assert [allocation.get_size() for allocation in document.list_allocations()] == [64, 0]
    assert document.find_counter('Disk', 'Reads').get_value_int64(0) == (77, 1006)
    assert document.lookup_file('two.txt').dup_bytes().get_data() == b'one, two'
    assert document.lookup_process(10).list_mounts()[1].get_mount_point() == '/mnt/with blank'
    assert [log.props.message for log in document.list_logs()] == ['broken ? text']
    jitmap = document.list_jitmaps()[0]
    assert jitmap.get_mapping(1) == ('second', 0xe000000000000002)
    groups = document.catalog_marks()
    assert [(catalog.get_name(), len(catalog)) for catalog in groups[1]] == [('y', 4), ('z', 1)]
    span = document.get_time_span()
    assert span.end_nsec > span.begin_nsec == 1000
    message = document.list_dbus_messages()[0]
    assert message.get_member() == 'Look' and len(message.get_message_data()) == message.get_message_length()
    chunk = [frame for frame in document if isinstance(frame, Sysprof.DocumentFileChunk) and frame.get_path() == 'two.txt'][0]
    assert bytes(chunk.get_data()) == b'one, '
    assert document.list_samples()[0].get_stack_address(1) == 0xffffffff81000000


def children(frame):
    return [frame.get_item(i) for i in range(frame.get_n_items())]


def numbers(data, kind='q'):
    """Returns the result of a bulk accessor: one call for all items."""
    return memoryview(data.get_data()).cast(kind).tolist()


def test_reads_at_once(path):
    """Columns hold what the items say one by one, and lists are intersected."""
    document = load(path, None)
    samples, marks, allocations = document.list_samples(), document.list_marks(), document.list_allocations()
    column = lambda frames, which: numbers(document.dup_column(frames, which))
    assert column(samples, Sysprof.DocumentColumn.TIME) == [sample.get_time() for sample in samples] != []
    assert column(samples, Sysprof.DocumentColumn.TID) == [sample.get_tid() for sample in samples] == [12, 10]
    assert column(allocations, Sysprof.DocumentColumn.SIZE) == [allocation.get_size() for allocation in allocations]
    assert numbers(document.dup_spans(marks)) == [at for mark in marks for at in (mark.get_time(), mark.get_end_time())] != []
    for counter in document.list_counters():
        if counter.get_n_values() == 0:
            continue
        is_whole = counter.get_value_type().name == 'gint64'
        get = counter.get_value_int64 if is_whole else counter.get_value_double
        pairs = [get(nth) for nth in range(counter.get_n_values())]
        assert numbers(counter.dup_times()) == [time for _, time in pairs]
        assert numbers(counter.dup_values(), 'q' if is_whole else 'd') == [value for value, _ in pairs]
    both = document.intersect(document.list_traceables(), allocations)
    assert [frame.get_time() for frame in both] == [frame.get_time() for frame in allocations]
    assert len(document.intersect(marks, samples)) == 0

    graph = wait(lambda done: document.callgraph_async(Sysprof.CallgraphFlags.NONE, allocations, 0, None, None, None, done),
                 document.callgraph_finish)
    root = graph.get_item(0)
    nodes = numbers(root.dup_nodes(Sysprof.DocumentColumn.SIZE))
    assert nodes[0] == -1 and nodes[3] == root.sum_total(Sysprof.DocumentColumn.SIZE) == 64
    assert document.get_nth_symbol(nodes[5]).get_name() == '[example]'


def test_makes_graph(path):
    document = load(path, None)
    seen = []
    graph = wait(lambda done: document.callgraph_async(
        Sysprof.CallgraphFlags.INCLUDE_THREADS, document.list_samples(), 0,
        lambda graph, node, frame, summarize, data: seen.append((frame.get_time(), summarize, data)), ('mine',), None, done),
        document.callgraph_finish)
    assert seen == [(1015, True, 'mine'), (1016, True, 'mine')], seen
    root = graph.get_item(0)
    assert root.get_symbol().get_name() == 'All Processes' and root.get_total() == 2
    process, = children(root)
    assert process.get_symbol().get_kind() == Sysprof.SymbolKind.PROCESS
    assert sorted(thread.get_symbol().get_name() for thread in children(process)) == ['Thread 10', 'Thread 12']
    assert sum(symbol.get_self() for symbol in graph.list_symbols()) == 2
    frames = wait(lambda done: process.list_traceables_async(None, done), process.list_traceables_finish)
    assert [frame.get_tid() for frame in frames] == [12, 10]


def test_saves(path):
    document = load(path, None)
    with tempfile.TemporaryDirectory() as directory:
        copy = os.path.join(directory, 'copy.syscap')
        assert wait(lambda done: document.save_async(Gio.File.new_for_path(copy), None, done), document.save_finish)
        assert open(copy, 'rb').read() == open(path, 'rb').read()
        try:
            load(os.path.join(directory, 'none.syscap'))
        except GLib.Error as error:
            assert 'none.syscap' in error.message
        else:
            raise AssertionError('loaded what is not there')


def test_follows(path):
    """A capture that grows: first a part of it, cut anywhere, then all."""
    whole = open(path, 'rb').read()
    with tempfile.TemporaryDirectory() as directory:
        growing = os.path.join(directory, 'growing.syscap')
        with open(growing, 'wb') as file:
            file.write(whole[:len(whole) // 2])
            file.flush()
            loader = Sysprof.DocumentLoader.new(growing)
            first = loader.load(None)
            assert loader.follow(first, None) is None
            file.write(whole[len(whole) // 2:])
            file.flush()
            second = wait(lambda done: loader.follow_async(first, None, done), loader.follow_finish)
        n_all = len(load(path))
        assert 0 < len(first) < len(second) == n_all, (len(first), len(second), n_all)
        assert [frame.get_time() for frame in second] == [frame.get_time() for frame in load(path)]


def test_records():
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, 'made.syscap')
        profiler = Sysprof.Profiler.new()
        profiler.set_acquire_privileges(False)
        profiler.add_instrument(Sysprof.MemoryUsage.new())
        spawnable = Sysprof.Spawnable.new()
        spawnable.append_args(['/bin/sh', '-c', 'sleep 1'])
        profiler.set_spawnable(spawnable)
        recording = wait(lambda done: profiler.record_to_path_async(path, None, done), profiler.record_finish)
        assert wait(lambda done: recording.wait_async(None, done), recording.wait_finish)
        document = load(path)
        counters = [counter for counter in document.list_counters() if counter.get_category() == 'Memory']
        assert counters and counters[0].get_n_values() > 0
        values = {item.get_id(): item.get_value() for item in document.list_metadata()}
        assert values['spawnable.argv'].endswith("'sleep 1' "), values

        try:
            wait(lambda done: profiler.record_to_path_async('/no/such/directory/x', None, done), profiler.record_finish)
        except GLib.Error as error:
            assert '/no/such/directory/x' in error.message
        else:
            raise AssertionError('recorded into nowhere')


def main():
    path = sys.argv[1]
    tests = [lambda: test_reads(path), lambda: test_reads_at_once(path), lambda: test_makes_graph(path), lambda: test_saves(path),
             lambda: test_follows(path), test_records]
    print(f'1..{len(tests)}')
    for number, (name, test) in enumerate(zip(('reads', 'reads-at-once', 'makes-graph', 'saves', 'follows', 'records'), tests), 1):
        test()
        print(f'ok {number} {name}')


if __name__ == '__main__':
    main()
