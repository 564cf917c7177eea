// SPDX-License-Identifier: GPL-3.0-or-later

/* util: small functions that at least three modules need and GLib does not have.
 *
 *   arena.h           memory that is freed all at once
 *   autofd.h          descriptors that are closed at the end of their scope
 *   closest.h         suggestions for mistyped words
 *   color.h           whether to write colors to a terminal
 *   completion.h      shell completion
 *   errors.h          the error domain SYSPROF_ERROR; messages from errno
 *   foreign-file.h    names files of other programs that are not captures
 *   hidden-text.h     characters that are not shown, or that reorder others
 *   index-set.h       sets of numbers with a fast intersection
 *   intern.h          strings as numbers
 *   large.h           arrays on huge pages
 *   mountinfo.h       the mounts of a process
 *   overlay-layers.h  the directories of overlays
 *   parallel.h        fork and join over ranges
 *   pinned-files.h    files that are held open
 *   regular-file.h    opens untrusted paths without side effects
 *   size.h            formats sizes
 *   slice.h           the shortest time slice, for threads that others wait for
 *   temporary-files.h files that are removed if a signal ends the program, or have no name
 *   text.h            a bounded cursor over untrusted text
 *   usage.h           extends GOption
 *   write-all.h       repeats write() until all is written
 *
 *   children/child-service.h   calls to children
 *   children/confined-child.h  a sandboxed child that parses untrusted files
 *   children/envelope.h        sockets that contain a file
 *   children/file-budget.h     limits the work for files of untrusted owners
 *   children/opener.h          a child that opens files which may block forever
 *   children/process-files.h   opens files with the rights of a process's user
 *   children/process-user.h    the user and groups of a process
 *
 * Only temporary-files.h and confined-child.h have global state. No thread that is started here
 * outlives its call. */

#pragma once

#include "util/arena.h"
#include "util/autofd.h"
#include "util/children/child-service.h"
#include "util/children/confined-child.h"
#include "util/children/envelope.h"
#include "util/children/file-budget.h"
#include "util/children/opener.h"
#include "util/children/process-files.h"
#include "util/children/process-user.h"
#include "util/closest.h"
#include "util/color.h"
#include "util/completion.h"
#include "util/errors.h"
#include "util/foreign-file.h"
#include "util/hidden-text.h"
#include "util/intern.h"
#include "util/large.h"
#include "util/mountinfo.h"
#include "util/overlay-layers.h"
#include "util/parallel.h"
#include "util/pinned-files.h"
#include "util/regular-file.h"
#include "util/size.h"
#include "util/slice.h"
#include "util/temporary-files.h"
#include "util/text.h"
#include "util/usage.h"
#include "util/write-all.h"
