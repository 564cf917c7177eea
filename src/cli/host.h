// SPDX-License-Identifier: GPL-3.0-or-later

/* Recording on another machine.
 *
 *      local                                        remote
 *      sysprof-cli --host ── ssh ═════════ sshd ── sysprof-cli --far-end TOKEN -o -
 *        standard input  ──►  one byte for each ^C; its end means that the local end has gone
 *        standard output ◄──  the capture
 *        standard error  ◄──  messages; TOKEN followed by a JSON object is the status
 *
 * The token is random, so output of a recorded command is not mistaken for a status by
 * accident. The remote command line contains the token, so a process on that machine can forge
 * the numbers. */

#pragma once

#include "cli/options.h"

/* Records as `options` say on `options->host`. Returns the exit status. */
int sysprof_cli_record_there (const CliOptions *options);
