// SPDX-License-Identifier: GPL-3.0-or-later

#include "util/errors.h"

#include <errno.h>

/* The formatter takes the name for a difference. */
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
      return "Check the name, and that its folder is there.";
    case EEXIST:
    case EISDIR:
    case ENAMETOOLONG:
      return "Give another name.";
    case EACCES:
    case EPERM:
      return "Run as a user who may, or have the permissions changed.";
    case EROFS:
      return "Choose a place that can be written.";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "Make room, or choose another disk.";
    case EMFILE:
    case ENFILE:
      return "Allow more open files with 'ulimit -n 65536'.";
    case ENOMEM:
      return "End other programs, or use a machine with more memory.";
    case EAGAIN:
      return "Try again when fewer programs run.";
    case EPIPE:
    case ECONNRESET:
      return "Let the program at the other end run until this one has ended.";
    case ENOEXEC:
      return "Give a program that this machine can run.";
    case ETXTBSY:
      return "Wait until nobody uses it, or give another name.";
    case EBADMSG:
      return "Give a file that sysprof-cli or Sysprof recorded.";
    case EIO:
      return "'dmesg' may tell what is wrong with the device.";
    default:
      return "If it stays so, please report it with this text.";
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
