// SPDX-License-Identifier: GPL-3.0-or-later

/* How a file that is still being written is told from what it was. */

#pragma once

#include "store/store.h"

/* All 0 for what is no regular file: a pipe cannot be read twice. */
void sysprof_file_stamp_read (FileStamp *self, int fd);
