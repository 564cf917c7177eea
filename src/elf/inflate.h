// SPDX-License-Identifier: GPL-3.0-or-later

/* Decompression with limits: output sizes are checked before memory is allocated and while it
 * grows. */

#pragma once

#include "elf/bytes.h"

/* Decompresses an SHF_COMPRESSED section (zlib, zstd) with its header. The result is new
 * memory, terminated with NUL. */
ElfStatus sysprof_elf_inflate_section (Bytes section, uint8_t **bytes, uint64_t *size);

/* Decompresses a complete file (xz, zstd or gzip) into new memory. ELF_NOT_ELF: it has none of
 * these formats. */
ElfStatus sysprof_elf_inflate_file (const ElfSource *source, uint8_t **bytes, uint64_t *size);

/* Decompresses an xz stream such as .gnu_debugdata into new memory. */
ElfStatus sysprof_elf_inflate_xz (const uint8_t *packed,
                                  uint64_t packed_size,
                                  uint8_t **bytes,
                                  uint64_t *size);
