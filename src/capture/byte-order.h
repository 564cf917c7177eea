// SPDX-License-Identifier: BSD-2-Clause

/* Integers in bytes of no particular alignment and of either byte order. */

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SYSPROF_HOST_IS_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

static inline uint16_t
sysprof_load_u16 (const uint8_t *bytes, bool swapped)
{
  uint16_t value;

  memcpy (&value, bytes, sizeof value);
  return swapped ? __builtin_bswap16 (value) : value;
}

static inline uint32_t
sysprof_load_u32 (const uint8_t *bytes, bool swapped)
{
  uint32_t value;

  memcpy (&value, bytes, sizeof value);
  return swapped ? __builtin_bswap32 (value) : value;
}

static inline uint64_t
sysprof_load_u64 (const uint8_t *bytes, bool swapped)
{
  uint64_t value;

  memcpy (&value, bytes, sizeof value);
  return swapped ? __builtin_bswap64 (value) : value;
}

static inline void
sysprof_store_u16 (uint8_t *bytes, uint16_t value)
{
  memcpy (bytes, &value, sizeof value);
}

static inline void
sysprof_store_u32 (uint8_t *bytes, uint32_t value)
{
  memcpy (bytes, &value, sizeof value);
}

static inline void
sysprof_store_u64 (uint8_t *bytes, uint64_t value)
{
  memcpy (bytes, &value, sizeof value);
}
