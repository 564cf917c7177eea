// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

/* The calling thread goes before all that computes, where that is permitted: for those that samples wait for, and that have
 * little to do. */
void sysprof_raise_priority (void);
