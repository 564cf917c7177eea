// SPDX-License-Identifier: GPL-3.0-or-later

/* Tells waits for graphics devices.
 *
 * What a device works at has a fence, which is signalled when it is done. Whoever needs that sleeps in the kernel, in a function that
 * waits for fences, and that is on the stack of the wait. Who polls the descriptor of a fence is in poll() like everybody else, and
 * drivers outside of the kernel's tree have ways of their own: nothing tells these. */

#include "analyze/waits/waits.h"

static const char *const fence_functions[] = {
  /* of all drivers */
  "dma_fence_default_wait",
  "dma_fence_wait_any_timeout",
  "dma_fence_wait_timeout",
  "dma_resv_wait_timeout",
  "drm_atomic_helper_wait_for_fences",
  "drm_gem_dma_resv_wait",
  "drm_sched_entity_flush",
  "drm_syncobj_array_wait_timeout",
  /* of one */
  "etnaviv_gpu_wait_fence_interruptible",
  "i915_request_wait",
  "i915_request_wait_timeout",
  "lima_gem_wait",
  "msm_wait_fence",
  "nouveau_fence_wait",
  "panfrost_ioctl_wait_bo",
  "radeon_fence_wait_seq_timeout",
  "ttm_bo_wait_ctx",
  "vmw_fence_obj_wait",
  "xe_wait_user_fence_ioctl",
};

uint8_t *
sysprof_stacks_find_gpu_fences (const Store *store, const SymbolTable *symbols)
{
  return sysprof_stacks_find_functions (store, symbols, fence_functions,
                                        G_N_ELEMENTS (fence_functions), true);
}
