// SPDX-License-Identifier: GPL-3.0-or-later

/* Explains failed recordings on another machine: failures of ssh, of the remote program, and of
 * the connection. */

#include "cli/host-private.h"

#include "util/util.h"

#include <string.h>

#define CANNOT_EXECUTE  126 /* exit statuses of shells */
#define NO_SUCH_PROGRAM 127

static const char *
advice_on_connection (const char *said)
{
  static const struct
  {
    const char *said; /* killed by ssh */
    const char *advice;
  } causes[] = {
    { "Could not resolve hostname", "Check the name, or give its address." },
    { "Connection refused", "The machine is up, but no ssh server listens: start one." },
    { "Permission denied",
      "It refuses this user: give USER@HOST, or install a key (ssh-copy-id)." },
    { "Host key verification failed", "Connect once with ssh, and compare its key." },
    { "No route to host", "Check that it is up and on this network." },
    { "timed out", "Check that it is up, and that no firewall blocks it." },
  };

  for (size_t i = 0; said != NULL && i < G_N_ELEMENTS (causes); i++)
    if (strstr (said, causes[i].said) != NULL)
      return causes[i].advice;
  return "Run 'ssh HOST true': it must succeed.";
}

void
sysprof_cli_host_explain_nothing (LocalEnd *self, int status)
{
  const char *host = self->options->host;

  if (self->n_signals > 0)
    sysprof_cli_terminal_print (
        &self->terminal,
        "sysprof-cli: Stopped before '%s' began to record; nothing was written.", host);
  else if ((status == FAILED_SSH || status < 0) && self->has_other_key)
    sysprof_cli_terminal_print (
        &self->terminal,
        "sysprof-cli: Cannot reach '%s' by ssh. Its key differs from the known one: "
        "check that it is the right machine, then remove its old key as ssh advises above.",
        host);
  else if (status == FAILED_SSH || status < 0)
    sysprof_cli_terminal_print (&self->terminal, "sysprof-cli: Cannot reach '%s' by ssh. %s",
                                host, advice_on_connection (self->last_line));
  else if (status == NO_SUCH_PROGRAM ||
           (self->last_line != NULL && strstr (self->last_line, "ommand not found") != NULL))
    sysprof_cli_terminal_print (
        &self->terminal,
        "sysprof-cli: There is no " FAR_PROGRAM
        " on '%s' in the PATH that ssh gives. Install Sysprof " SYSPROF_VERSION_S
        " or later there, as /usr/local/bin/" FAR_PROGRAM ".",
        host);
  else if (status == CANNOT_EXECUTE)
    sysprof_cli_terminal_print (
        &self->terminal,
        "sysprof-cli: The " FAR_PROGRAM
        " on '%s' cannot be executed there. Install the one that is built for that machine.",
        host);
  else if (self->is_too_old)
    sysprof_cli_terminal_print (
        &self->terminal,
        "sysprof-cli: The " FAR_PROGRAM
        " on '%s' has another version, which does not accept these options. "
        "Install Sysprof " SYSPROF_VERSION_S " or later there.",
        host);
  else if (self->last_line == NULL || !g_str_has_prefix (self->last_line, "sysprof-cli: "))
    sysprof_cli_terminal_print (
        &self->terminal,
        "sysprof-cli: '%s' sent nothing and exited with status %d. Try 'ssh %s " FAR_PROGRAM
        " --version'.",
        host, status, host);
}

void
sysprof_cli_host_explain_cut (LocalEnd *self, int status)
{
  g_autofree char *size = sysprof_text_of_size (self->n_bytes);
  g_autofree char *place = self->output.path != NULL
                               ? g_strdup_printf ("in '%s'", self->options->output)
                               : g_strdup ("and written to standard output");
  const char *what = self->n_signals > 2                  ? "was closed at once"
                     : status == FAILED_SSH || status < 0 ? "was lost"
                                                          : "ended too early";
  sysprof_cli_terminal_print (
      &self->terminal,
      "sysprof-cli: The connection to '%s' %s, after %.1f s of recording. The %s received so far are kept %s and can be read. "
      "The last events and the symbols are missing; functions are named from files with the same build IDs.",
      self->options->host, what, (double) self->status.duration / 1e9, size, place);
}

void
sysprof_cli_host_explain_left (LocalEnd *self)
{
  sysprof_cli_terminal_print (
      &self->terminal,
      "sysprof-cli: The connection to '%s' %s after the complete recording had arrived, but before "
      "the recorder there had ended%s.",
      self->options->host, self->n_signals > 2 ? "was closed" : "was lost",
      self->options->exit_status ? ": the exit status of the command is unknown" : "");
}
