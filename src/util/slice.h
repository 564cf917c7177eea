// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

/* Gives the calling thread the shortest time slice. It then runs soon after it is woken, beside threads that compute, without a larger
 * share of the CPU (kernel 6.12; older kernels ignore it). */
void sysprof_shorten_slice (void);
