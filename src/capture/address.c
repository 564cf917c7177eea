// SPDX-License-Identifier: BSD-2-Clause

/* Names the context markers among the addresses of a stack. */

#include <sysprof-address.h>

/* perf_event.h calls them PERF_CONTEXT_…; from MAX_MARKER on no address is code. */
#define MAX_MARKER UINT64_C (0xFFFFFFFFFFFFF001) /* -4095 */

typedef struct
{
  uint64_t marker;
  const char *text;
} Context;

static const Context contexts[] = {
  [SYSPROF_ADDRESS_CONTEXT_NONE] = { 0, "- - Unknown - -" },
  [SYSPROF_ADDRESS_CONTEXT_HYPERVISOR] = { UINT64_C (0xFFFFFFFFFFFFFFE0),
                                           "- - Hypervisor - -" },
  [SYSPROF_ADDRESS_CONTEXT_KERNEL] = { UINT64_C (0xFFFFFFFFFFFFFF80), "- - Kernel - -" },
  [SYSPROF_ADDRESS_CONTEXT_USER] = { UINT64_C (0xFFFFFFFFFFFFFE00), "- - User - -" },
  [SYSPROF_ADDRESS_CONTEXT_GUEST] = { UINT64_C (0xFFFFFFFFFFFFF800), "- - Guest - -" },
  [SYSPROF_ADDRESS_CONTEXT_GUEST_KERNEL] = { UINT64_C (0xFFFFFFFFFFFFF780),
                                             "- - Guest Kernel - -" },
  [SYSPROF_ADDRESS_CONTEXT_GUEST_USER] = { UINT64_C (0xFFFFFFFFFFFFF600),
                                           "- - Guest User - -" },
};

#define N_CONTEXTS (sizeof contexts / sizeof contexts[0])

bool
sysprof_address_is_context_switch (SysprofAddress address, SysprofAddressContext *context)
{
  SysprofAddressContext found = SYSPROF_ADDRESS_CONTEXT_NONE;

  if (address < MAX_MARKER)
    return false;

  for (size_t i = 1; i < N_CONTEXTS; i++)
    if (contexts[i].marker == address)
      found = (SysprofAddressContext) i;
  if (context != NULL)
    *context = found;

  return true;
}

const char *
sysprof_address_context_to_string (SysprofAddressContext context)
{
  return (size_t) context < N_CONTEXTS ? contexts[context].text
                                       : contexts[SYSPROF_ADDRESS_CONTEXT_NONE].text;
}
