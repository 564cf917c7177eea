// SPDX-License-Identifier: GPL-3.0-or-later

/* Adds to each system error what the user can do about it. */

#include "util/errors.h"

#include <errno.h>

/* clang-format takes the name for a subtraction. */
/* clang-format off */
G_DEFINE_QUARK (sysprof-error-quark, sysprof_error)
/* clang-format on */

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

const char *
sysprof_advice_on_errno (int number)
{
  switch (number)
    {
    case ENOENT:
    case ENOTDIR:
      return "Check the name, and that its directory exists.";
    case EEXIST:
    case EISDIR:
    case ENAMETOOLONG:
      return "Choose another name.";
    case EACCES:
    case EPERM:
      return "Run as a user with the permission, or change the permissions.";
    case EROFS:
      return "Choose a directory on a writable file system.";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "Free some space, or choose another disk.";
    case EMFILE:
    case ENFILE:
      return "Allow more open files with 'ulimit -n 65536'.";
    case ENOMEM:
      return "End other programs, or use a machine with more memory.";
    case EAGAIN:
      return "Try again when fewer programs are running.";
    case EPIPE:
    case ECONNRESET:
      return "Keep the program at the other end running until this one has ended.";
    case ENOEXEC:
      return "Use a program that is built for this machine.";
    case ETXTBSY:
      return "Wait until it is no longer in use, or choose another name.";
    case EBADMSG:
      return "Use a file that sysprof-cli or Sysprof has recorded.";
    case EIO:
      return "Look for errors of the device with 'dmesg'.";
    default:
      return "If this persists, please report it with this text.";
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

  g_set_error (error, SYSPROF_ERROR, code_from_errno (number), "%s: %s. %s", what,
               g_strerror (number), sysprof_advice_on_errno (number));
  errno = number;
}
