// SPDX-License-Identifier: GPL-3.0-or-later

#include "util/errors.h"

#include <errno.h>

G_DEFINE_QUARK (sysprof-error-quark, sysprof_error)

static SysprofErrorCode
code_from_errno (int number)
{
  switch (number)
    {
    case EACCES:
    case EPERM:
      return SYSPROF_ERROR_DENIED;
    case ENOSPC:
    case EDQUOT:
      return SYSPROF_ERROR_NO_SPACE;
    case EPIPE:
    case ECONNRESET:
      return SYSPROF_ERROR_PEER_GONE;
    default:
      return SYSPROF_ERROR_FAILED;
    }
}

void
sysprof_set_error_errno (GError **error, const char *format, ...)
{
  int number = errno;
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);

  g_set_error (error,
               SYSPROF_ERROR,
               code_from_errno (number),
               "%s: %s",
               what,
               g_strerror (number));
  errno = number;
}
