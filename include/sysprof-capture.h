// SPDX-License-Identifier: BSD-2-Clause

/* Placeholder: the types by name, until the capture library is there. */

#pragma once

typedef struct _SysprofCaptureReader SysprofCaptureReader;
typedef struct _SysprofCaptureWriter SysprofCaptureWriter;
