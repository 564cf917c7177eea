// SPDX-License-Identifier: GPL-3.0-or-later

/* locate: finds where a recorded file, and the files with its debug information, may be on this
 * machine. It opens files and compares owners and inodes, but knows nothing of their contents.
 *
 *   | question                                              | header               |
 *   | which roots did the processes have, which paths are   | file-locator.h       |
 *   |   the same file in this process's view                |                      |
 *   | how is a path of an exited process translated         | capture-mounts.h     |
 *   | where may the debug file, the supplement of dwz, or   | debug-candidates.h   |
 *   |   files with split units be                           |                      |
 *   | how are these paths tried                             | debug-search.h       |
 *   | which files can debuginfod servers provide            | debuginfod-client.h  |
 *   | how is a file opened that may block, with whose rights| open-file.h          |
 *
 *   FileLocator locator;
 *   FileRoots roots;
 *   sysprof_file_locator_init (&locator, &options);
 *   sysprof_file_roots_find (&roots, &locator, &batch);
 *   envelope = sysprof_open_file (&locator.opener, OPEN_REGULAR_FILE, READER_OURSELVES,
 *                                 roots.fd[0], batch.path, &info);
 *   …
 *   sysprof_file_locator_clear (&locator);
 *
 * A FileLocator is *owned* by the thread that symbolizes. */

#pragma once

#include "locate/debug-candidates.h"
#include "locate/debug-search.h"
#include "locate/debuginfod-client.h"
#include "locate/file-locator.h"
#include "locate/link-addresses.h"
#include "locate/open-file.h"
