// SPDX-License-Identifier: GPL-3.0-or-later
// The library from JavaScript: reads a capture that was written without it, and makes one.
//
// usage: gjs test-gjs.js CAPTURE     (GI_TYPELIB_PATH and LD_LIBRARY_PATH lead to the build)

imports.gi.versions.Sysprof = '6';
const { Gio, GLib, Sysprof } = imports.gi;
const System = imports.system;

function assertEqual(got, expected, what) {
    if (JSON.stringify(got) !== JSON.stringify(expected))
        throw new Error(`${what}: ${JSON.stringify(got)} instead of ${JSON.stringify(expected)}`);
}

// Calls an asynchronous function and iterates until it is done.
function wait(start, finish) {
    let result = null;
    start((source, r) => {
        result = r;
    });
    while (result === null)
        GLib.MainContext.default().iteration(true);
    return finish(result);
}

function items(model) {
    const list = [];
    for (let i = 0; i < model.get_n_items(); i++)
        list.push(model.get_item(i));
    return list;
}

function load(path) {
    return Sysprof.DocumentLoader.new(path).load(null);
}

function reads(path) {
    const document = load(path);
    assertEqual(document.title, GLib.path_get_basename(path), 'title');
    assertEqual(items(document.list_allocations()).map(a => a.size), [64, 0], 'allocations');
    assertEqual(document.find_counter('Disk', 'Reads').get_value_int64(0), [77, 1006], 'counter');
    assertEqual(items(document.list_logs()).map(l => l.message), ['broken ? text'], 'logs');
    assertEqual(document.lookup_process(10).get_command_line(), '/usr/bin/example --run', 'process');
}

// Returns the result of a bulk accessor: one call for all items.
function numbers(bytes) {
    const data = bytes.toArray();
    return Array.from(new BigInt64Array(data.buffer, data.byteOffset, data.byteLength / 8), Number);
}

// Columns hold what the items say one by one, and lists are intersected.
function readsAtOnce(path) {
    const document = load(path);
    const samples = document.list_samples();
    const marks = document.list_marks();
    const allocations = document.list_allocations();
    const reads = document.find_counter('Disk', 'Reads');
    assertEqual(numbers(document.dup_column(samples, Sysprof.DocumentColumn.TID)), items(samples).map(s => s.tid), 'threads');
    assertEqual(numbers(document.dup_spans(marks)), items(marks).flatMap(m => [m.time, m.end_time]), 'spans');
    assertEqual(numbers(reads.dup_values()), items(reads).map(v => v.get_value_int64()), 'values');
    assertEqual(numbers(reads.dup_times()), items(reads).map(v => v.get_time()), 'times');
    assertEqual(document.intersect(document.list_traceables(), allocations).get_n_items(), 2, 'intersected');
}

function makesGraph(path) {
    const document = load(path);
    const seen = [];
    const graph = wait(done => document.callgraph_async(Sysprof.CallgraphFlags.NONE, document.list_samples(), 0,
        (callgraph, node, frame, summarize) => seen.push([frame.get_time(), summarize]), null, done),
    result => document.callgraph_finish(result));
    assertEqual(seen, [[1015, true], [1016, true]], 'frames');
    const root = graph.get_item(0);
    assertEqual([root.get_symbol().name, root.get_total()], ['All Processes', 2], 'root');
    assertEqual(root.get_item(0).get_symbol().name, '[example]', 'process');
}

// A capture that grows: first a part of it, cut anywhere, then all.
function follows(path) {
    const whole = GLib.file_get_contents(path)[1];
    const directory = GLib.dir_make_tmp('gjs-XXXXXX');
    const growing = GLib.build_filenamev([directory, 'growing.syscap']);
    GLib.file_set_contents(growing, whole.slice(0, whole.length / 2));
    const loader = Sysprof.DocumentLoader.new(growing);
    const first = loader.load(null);
    assertEqual(loader.follow(first, null), null, 'nothing new');

    const stream = Gio.File.new_for_path(growing).append_to(Gio.FileCreateFlags.NONE, null);
    stream.write_all(whole.slice(whole.length / 2), null);
    stream.close(null);
    const second = wait(done => loader.follow_async(first, null, done), result => loader.follow_finish(result));
    assertEqual(items(second).map(frame => frame.time), items(load(path)).map(frame => frame.time), 'times');
    assertEqual(first.get_n_items() < second.get_n_items(), true, 'it grows');
    GLib.unlink(growing);
    GLib.rmdir(directory);
}

function records() {
    const directory = GLib.dir_make_tmp('gjs-XXXXXX');
    const path = GLib.build_filenamev([directory, 'made.syscap']);
    const profiler = Sysprof.Profiler.new();
    const spawnable = Sysprof.Spawnable.new();
    profiler.set_acquire_privileges(false);
    profiler.add_instrument(Sysprof.MemoryUsage.new());
    spawnable.append_args(['/bin/sh', '-c', 'sleep 1']);
    profiler.set_spawnable(spawnable);
    const recording = wait(done => profiler.record_to_path_async(path, null, done), result => profiler.record_finish(result));
    wait(done => recording.wait_async(null, done), result => recording.wait_finish(result));
    const memory = items(load(path).list_counters()).filter(counter => counter.category === 'Memory');
    assertEqual(memory.length > 0 && memory[0].get_n_values() > 0, true, 'counters');
    GLib.unlink(path);
    GLib.rmdir(directory);
}

const tests = { reads, 'reads-at-once': readsAtOnce, 'makes-graph': makesGraph, follows, records };
let number = 0;
print(`1..${Object.keys(tests).length}`);
for (const [name, test] of Object.entries(tests)) {
    number++;
    try {
        test(ARGV[0]);
        print(`ok ${number} ${name}`);
    } catch (error) {
        print(`not ok ${number} ${name}`);
        printerr(error.message, error.stack);
        System.exit(1);
    }
}
