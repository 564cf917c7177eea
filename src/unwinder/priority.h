// SPDX-License-Identifier: GPL-3.0-or-later

/* Scheduling priority for threads that do little work but that samples wait for. */

#pragma once

/* Gives the calling thread a real-time priority. Without the permission for that, the function
 * tries a lower nice value. Failure is not reported. */
void sysprof_raise_priority (void);
