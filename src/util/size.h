// SPDX-License-Identifier: GPL-3.0-or-later

/* Formats sizes for people. */

#pragma once

#include <stdint.h>

/* "1.3 MB", with a plain space, which every terminal and log can show. *(full)* */
char *sysprof_text_of_size (uint64_t bytes);
