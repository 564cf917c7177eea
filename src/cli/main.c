// SPDX-License-Identifier: GPL-3.0-or-later

/* sysprof-cli: records system-wide profiles from a terminal. See options.h, session.h,
 * host.h, mark.h and merge.h. */

#include "cli/host.h"
#include "cli/mark.h"
#include "cli/merge.h"
#include "cli/options.h"
#include "cli/session.h"

#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliOptions, sysprof_cli_options_clear)

/* Opens descriptors 0 to 2 if they are closed, so that no file opened later becomes standard
 * error. */
static void
open_standard_descriptors (void)
{
  int fd;

  do
    fd = open ("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0)
    (void) close (fd); /* nothing is ever written to it */
}

int
main (int argc, char **argv)
{
  g_auto (CliOptions) options = { 0 };
  g_autoptr (GError) error = NULL;

  open_standard_descriptors ();
  setlocale (LC_ALL, "");
  if (argc > 1 && strcmp (argv[1], "mark") == 0)
    return sysprof_cli_mark (argc - 1, argv + 1);
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
