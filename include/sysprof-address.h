// SPDX-License-Identifier: BSD-2-Clause

/* Addresses of call stacks, and the context markers between them. A marker is the context of
 * the following addresses. */

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

/* Returns true if `address` is a context marker. Only then it sets `context` (may be NULL) to
 * the context of the following addresses, or to NONE for an unknown marker of a newer kernel.
 */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_address_is_context_switch (SysprofAddress address, SysprofAddressContext *context);

/* The text that is shown for a context, for example "- - Kernel - -". Static. */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_address_context_to_string (SysprofAddressContext context);

/* Returns -1, 0 or 1 if `a` is below, equal to or above `b`. */
static inline int
sysprof_address_compare (SysprofAddress a, SysprofAddress b)
{
  return a < b ? -1 : a > b;
}

SYSPROF_END_DECLS
