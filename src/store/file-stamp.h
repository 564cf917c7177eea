// SPDX-License-Identifier: GPL-3.0-or-later

/* Detects whether a file was written since it was opened. */

#pragma once

#include "store/store.h"

/* All 0 if the file is not regular: a pipe cannot be read twice. */
void sysprof_file_stamp_read (FileStamp *self, int fd);
