// SPDX-License-Identifier: BSD-2-Clause

/* Addresses of call chains, and the markers between them that say in which context the following ones ran. */

#pragma once

#include "sysprof-macros.h"
#include "sysprof-version-macros.h"

SYSPROF_BEGIN_DECLS

typedef uint64_t SysprofAddress;

typedef enum
{
  SYSPROF_ADDRESS_CONTEXT_NONE = 0,
  SYSPROF_ADDRESS_CONTEXT_HYPERVISOR,
  SYSPROF_ADDRESS_CONTEXT_KERNEL,
  SYSPROF_ADDRESS_CONTEXT_USER,
  SYSPROF_ADDRESS_CONTEXT_GUEST,
  SYSPROF_ADDRESS_CONTEXT_GUEST_KERNEL,
  SYSPROF_ADDRESS_CONTEXT_GUEST_USER,
} SysprofAddressContext;

/* True if `address` is a marker and not code. Only then `context` (may be NULL) is set: to the context of what
 * follows it, NONE for a marker of a newer kernel whose meaning is not known. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_address_is_context_switch (SysprofAddress address, SysprofAddressContext *context);

/* The text shown for a context, "- - Kernel - -" for example. Static. */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_address_context_to_string (SysprofAddressContext context);

/* -1, 0 or 1 as `a` is below, equal to or above `b`. */
static inline int
sysprof_address_compare (SysprofAddress a, SysprofAddress b)
{
  return a < b ? -1 : a > b;
}

SYSPROF_END_DECLS
