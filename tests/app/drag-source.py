#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A window from which a file can be dragged, as from a file manager. Says when a drag begins, and when what is below the pointer
would take it.

usage: drag-source.py FILE
"""
import pathlib
import sys

import gi
gi.require_version('Gdk', '4.0')
gi.require_version('Gtk', '4.0')
from gi.repository import Gdk, GLib, Gtk  # noqa: E402


def begin(source, drag):
    print('begun', flush=True)
    drag.connect('notify::selected-action', lambda drag, property: drag.get_selected_action() and print('accepted', flush=True))


uri = pathlib.Path(sys.argv[1]).as_uri()
source = Gtk.DragSource(content=Gdk.ContentProvider.new_for_bytes('text/uri-list', GLib.Bytes(f'{uri}\r\n'.encode())))
source.connect('drag-begin', begin)
window = Gtk.Window(title='Drag Source', child=Gtk.Label(label='File'), default_width=60, default_height=60)
window.add_controller(source)
window.present()
GLib.MainLoop().run()
