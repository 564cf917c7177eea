// SPDX-License-Identifier: GPL-3.0-or-later

/* What a harness provides: called by libFuzzer (make fuzz), and by replay.c (make check). */

#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size);
