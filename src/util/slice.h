// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

/* Gives the calling thread the shortest time slice. It then runs soon after a wake-up even if
 * other threads are busy, without a larger share of the CPU (Linux 6.12; older kernels ignore
 * it). */
void sysprof_shorten_slice (void);
