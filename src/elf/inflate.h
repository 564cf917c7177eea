// SPDX-License-Identifier: GPL-3.0-or-later

/* Unpacking with limits: output sizes are checked before and while memory grows. */

#pragma once

#include "elf/bytes.h"

/* An SHF_COMPRESSED section (zlib, zstd), its header in front. Fresh memory, NUL behind. */
ElfStatus sysprof_elf_inflate_section (Bytes section, uint8_t **bytes, uint64_t *size);

/* A whole file that is packed by xz, zstd or gzip. Fresh memory. ELF_NOT_ELF: it is none of these. */
ElfStatus sysprof_elf_inflate_file (const ElfSource *source, uint8_t **bytes, uint64_t *size);

/* An xz stream, as .gnu_debugdata holds. Fresh memory. */
ElfStatus sysprof_elf_inflate_xz (const uint8_t *packed,
                                  uint64_t packed_size,
                                  uint8_t **bytes,
                                  uint64_t *size);
