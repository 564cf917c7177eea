// SPDX-License-Identifier: GPL-3.0-or-later

#include "bpf/bpf.h"

/* Without pointer authentication, or another machine: addresses of programs have so many bits. */
#define ADDRESS_BITS 52
#define ADDRESS_MASK ((UINT64_C (1) << ADDRESS_BITS) - 1)

uint64_t
sysprof_walk_code_mask (void)
{
#ifdef __aarch64__
  /* XPACLRI, which does nothing where there is no such thing, makes an address of what has all bits set but those that say that
   * it is a program's: the upper ones that it clears are a signature's. */
  register uint64_t link __asm__("x30") = UINT64_C (0x007fffffffffffff);

  __asm__("hint #7" : "+r"(link));
  return link & ADDRESS_MASK;
#else
  return ADDRESS_MASK;
#endif
}
