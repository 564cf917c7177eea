// SPDX-License-Identifier: GPL-3.0-or-later

/* sysprof-cli: records from a terminal. */

#include "cli/host.h"
#include "cli/merge.h"
#include "cli/options.h"
#include "cli/session.h"

#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliOptions, sysprof_cli_options_clear)

/* A file that is opened later must not become what others write their messages to. */
static void
open_standard_descriptors (void)
{
  int fd;

  do
    fd = open ("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0)
    (void) close (fd); /* never written to */
}

int
main (int argc, char **argv)
{
  g_auto (CliOptions) options = { 0 };
  g_autoptr (GError) error = NULL;

  open_standard_descriptors ();
  setlocale (LC_ALL, "");
  if (!sysprof_cli_options_parse (&options, argc, argv, &error))
    {
      fprintf (stderr, "sysprof-cli: %s\n", error->message);
      return EXIT_FAILURE;
    }
  if (options.version)
    {
      printf ("Sysprof %s\n", SYSPROF_VERSION_S);
      return EXIT_SUCCESS;
    }
  if (options.help != NULL)
    {
      fputs (options.help, stdout);
      return EXIT_SUCCESS;
    }
  if (options.host != NULL)
    return sysprof_cli_record_there (&options);
  if (!options.merge)
    return sysprof_cli_record (&options);
  if (!sysprof_cli_merge ((const char *const *) options.files, &error))
    {
      fprintf (stderr, "sysprof-cli: %s\n", error->message);
      return EXIT_FAILURE;
    }
  return EXIT_SUCCESS;
}
