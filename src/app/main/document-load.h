// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens captures, compressed captures and files of other profilers, off the main thread. */

#pragma once

#include "app/session/session.h"

typedef void AppLoadProgress (double fraction, const char *message, gpointer data);

/* `progress` is called on the main thread while the file loads, with `data`, which must live
 * until `callback`. */
void app_document_load_async (GFile *file,
                              GCancellable *cancellable,
                              AppLoadProgress *progress,
                              gpointer data,
                              GAsyncReadyCallback callback,
                              gpointer user_data);
SysprofDocument *app_document_load_finish (GAsyncResult *result, GError **error);
