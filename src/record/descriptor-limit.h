// SPDX-License-Identifier: GPL-3.0-or-later

/* How many descriptors this process may have. Events can be many; the program that is recorded shall not notice. */

#pragma once

/* Raises the limit to `needed`, as far as it may be; 0: again to what was raised to last. Pump thread only. */
void sysprof_descriptor_limit_raise (unsigned long needed);

/* Puts back what it was before. */
void sysprof_descriptor_limit_restore (void);
