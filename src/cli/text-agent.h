// SPDX-License-Identifier: GPL-3.0-or-later

/* A program that asks for a password on the terminal if the desktop has none that does. */

#pragma once

#include "cli/options.h"

/* Whether the recording asks the service for rights. To record single processes, users need no
 * password. */
bool sysprof_cli_asks_service (const CliOptions *options);

/* Waits until polkit knows it. NULL if no password will be needed, in a desktop session,
 * without a terminal, and if pkttyagent is not installed. *(full)* */
GSubprocess *sysprof_cli_text_agent_start (const CliOptions *options);
/* NULL does nothing. */
void sysprof_cli_text_agent_end (GSubprocess **self);
