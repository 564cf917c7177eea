// SPDX-License-Identifier: GPL-3.0-or-later

/* Recognizes waits for graphics devices.
 *
 * Each job of a device has a fence, which is signaled when the job is done. A thread that needs
 * the result sleeps in a kernel function that waits for fences, which is on the stack of the
 * wait. This file does not recognize threads that poll the descriptor of a fence, and drivers
 * outside of the kernel tree with other functions. */

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
