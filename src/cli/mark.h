// SPDX-License-Identifier: GPL-3.0-or-later

/* `sysprof-cli mark`: writes a mark from a shell script that is being recorded. */

#pragma once

/* `argv[0]` is the word "mark". Returns the exit status, or ends the process by the signal that
 * ended the command. */
int sysprof_cli_mark (int argc, char **argv);
