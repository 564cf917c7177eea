// SPDX-License-Identifier: GPL-3.0-or-later

/* Resolves names by the symbol table in a capture with the installed library of Sysprof 3.46.
 * Reads lines `PID kernel|user ADDRESS` from standard input; writes a name, or "-", to standard
 * output.
 *
 *     peer-names CAPTURE */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysprof.h>

int
main (int argc, char **argv)
{
  g_autoptr (SysprofSymbolResolver) resolver = sysprof_capture_symbol_resolver_new ();
  SysprofCaptureReader *reader = argc == 2 ? sysprof_capture_reader_new (argv[1]) : NULL;
  char line[128];

  if (reader == NULL)
    return 1;
  sysprof_symbol_resolver_load (resolver, reader);

  while (fgets (line, sizeof line, stdin) != NULL)
    {
      g_autofree char *name = NULL;
      char context[16];
      uint64_t address;
      GQuark tag = 0;
      int pid;

      if (sscanf (line, "%d %15s %" SCNx64, &pid, context, &address) != 3)
        return 2;
      name = sysprof_symbol_resolver_resolve_with_context (resolver, 0, pid,
                                                           strcmp (context, "kernel") == 0
                                                               ? SYSPROF_ADDRESS_CONTEXT_KERNEL
                                                               : SYSPROF_ADDRESS_CONTEXT_USER,
                                                           address, &tag);
      puts (name != NULL ? name : "-");
    }

  sysprof_capture_reader_unref (reader);
  return 0;
}
