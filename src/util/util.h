// SPDX-License-Identifier: GPL-3.0-or-later

/* util: the few helpers that at least three modules need and GLib lacks.
 *
 *   errors.h    the error domain SYSPROF_ERROR; messages from errno
 *   autofd.h    descriptors that close with their scope
 *   arena.h     memory that is freed all at once
 *   confined-child.h  a child without rights that parses for us
 *   file-budget.h  a limit on the work that files of untrusted owners may cause
 *   hidden-text.h  characters that are not shown, or that reorder others
 *   intern.h    string to id and back
 *   closest.h   what a mistyped word may have meant
 *   completion.h  what shells complete command lines with
 *   mountinfo.h what a process has mounted
 *   overlay-layers.h  the directories that overlays are made of
 *   opener.h    a child that opens files which may never answer
 *   color.h     whether a terminal is written to in colours
 *   text.h      bounded cursor over a text from an untrusted source
 *   process-files.h  opens files that a process names, as that process's user
 *   process-user.h  the user and groups of a process
 *   regular-file.h  opens untrusted paths without side effects
 *   usage.h     what GOption leaves to be wished for
 *   parallel.h  fork and join over ranges
 *   large.h     arrays on huge pages
 *   size.h      sizes as people read them
 *   slice.h     the shortest time slice, for threads that others wait for
 *   temporary.h files that nobody else sees
 *   unfinished.h files that no signal leaves behind
 *   write-all.h write() that goes on where the kernel took a part
 *
 * But for unfinished.h nothing here keeps global state; nothing starts threads that outlive a call. */

#pragma once

#include "util/arena.h"
#include "util/autofd.h"
#include "util/closest.h"
#include "util/color.h"
#include "util/completion.h"
#include "util/confined-child.h"
#include "util/errors.h"
#include "util/file-budget.h"
#include "util/hidden-text.h"
#include "util/intern.h"
#include "util/kept-files.h"
#include "util/large.h"
#include "util/mountinfo.h"
#include "util/opener.h"
#include "util/overlay-layers.h"
#include "util/parallel.h"
#include "util/process-files.h"
#include "util/process-user.h"
#include "util/regular-file.h"
#include "util/size.h"
#include "util/slice.h"
#include "util/temporary.h"
#include "util/text.h"
#include "util/unfinished.h"
#include "util/usage.h"
#include "util/write-all.h"
