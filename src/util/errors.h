// SPDX-License-Identifier: GPL-3.0-or-later

/* The error domain of the engine and everything above it. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SYSPROF_ERROR (sysprof_error_quark ())

/* Errors to which a caller may react. All others have only a message. */
typedef enum
{
  SYSPROF_ERROR_FAILED,
  SYSPROF_ERROR_DENIED,
  SYSPROF_ERROR_UNSUPPORTED,
  SYSPROF_ERROR_CORRUPT,
  SYSPROF_ERROR_TRUNCATED,
  SYSPROF_ERROR_NO_SPACE,
  SYSPROF_ERROR_PEER_GONE,
} SysprofErrorCode;

GQuark sysprof_error_quark (void);

/* A sentence with advice for the user. */
const char *sysprof_advice_on_errno (int number);

/* Sets `error` from errno: the message is FORMAT (what failed, on what), then ": ", the text of
 * errno, and what to do. The code is the one that fits errno (EACCES, EPERM: DENIED; ENOSPC,
 * EDQUOT: NO_SPACE; EPIPE, ECONNRESET: PEER_GONE; else FAILED). Keeps errno. */
void sysprof_set_error_errno (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

G_END_DECLS
