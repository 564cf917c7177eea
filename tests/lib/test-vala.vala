// SPDX-License-Identifier: GPL-3.0-or-later
// The library from Vala: reads the capture that is given.

int main (string[] args) {
    try {
        var document = new Sysprof.DocumentLoader (args[1]).load (null);
        var allocations = document.list_allocations ();
        var first = (Sysprof.DocumentAllocation) allocations.get_item (0);
        var loop = new MainLoop ();
        Sysprof.Callgraph? graph = null;

        assert (allocations.get_n_items () == 2);
        assert (first.get_size () == 64);
        document.callgraph_async.begin (Sysprof.CallgraphFlags.NONE, document.list_samples (), 0, null, null,
                                        (source, result) => {
            try {
                graph = document.callgraph_async.end (result);
            } catch (Error error) {
                printerr ("%s\n", error.message);
            }
            loop.quit ();
        });
        loop.run ();
        assert (graph != null);
        assert (((Sysprof.CallgraphFrame) graph.get_item (0)).get_total () == 2);
        print ("read\n");
        return 0;
    } catch (Error error) {
        printerr ("%s\n", error.message);
        return 1;
    }
}
