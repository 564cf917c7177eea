// SPDX-License-Identifier: GPL-3.0-or-later

/* Appends short records to a file that is deleted at the end, each with an fsync. Most of its
 * time it waits in append_record. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_RECORDS 1500

__attribute__ ((noinline)) static void
append_record (int fd, int number)
{
  char text[128];
  int length = snprintf (text, sizeof text, "record %d\n", number);

  if (write (fd, text, (size_t) length) != length || fsync (fd) != 0)
    {
      perror ("cannot write the record");
      exit (1);
    }
}

int
main (void)
{
  char path[] = "records-XXXXXX";
  int fd = mkstemp (path);

  if (fd < 0 || unlink (path) != 0)
    {
      perror ("cannot create the file of records");
      return 1;
    }
  for (int i = 0; i < N_RECORDS; i++)
    append_record (fd, i);
  close (fd);
  return 0;
}
