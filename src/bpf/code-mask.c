// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the bits of an arm64 address that pointer authentication leaves unchanged. */

#include "bpf/bpf.h"

/* Upper limit for address bits, for machines without pointer authentication. */
#define ADDRESS_BITS 52
#define ADDRESS_MASK ((UINT64_C (1) << ADDRESS_BITS) - 1)

uint64_t
sysprof_walk_code_mask (void)
{
#ifdef __aarch64__
  /* XPACLRI removes a signature, and does nothing on CPUs without pointer authentication. Of a
   * value with all bits set, except the one that selects user addresses, it clears the bits of
   * the signature. */
  register uint64_t link __asm__("x30") = UINT64_C (0x007fffffffffffff);

  __asm__("hint #7" : "+r"(link));
  return link & ADDRESS_MASK;
#else
  return ADDRESS_MASK;
#endif
}
