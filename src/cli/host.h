// SPDX-License-Identifier: GPL-3.0-or-later

/* Recording on another machine.
 *
 *      here                                         there
 *      sysprof-cli --host ── ssh ═════════ sshd ── sysprof-cli --far-end TOKEN -o -
 *        standard input  ──►  one byte for each ^C; its end: nobody is interested any more
 *        standard output ◄──  the capture
 *        standard error  ◄──  what there is to say; where TOKEN and an object stand, that is the status
 *
 * The token is new each time, so that nothing a recorded command prints is taken for a status by accident. It stands in the
 * command line there: who wants to can forge the numbers. */

#pragma once

#include "cli/options.h"

/* Records as `options` say on `options->host`. Gives the exit status. */
int sysprof_cli_record_there (const CliOptions *options);
