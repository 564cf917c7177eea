// SPDX-License-Identifier: BSD-2-Clause

/* The first 256 bytes of a capture file, as every writer begins it. */

#include "capture/byte-order.h"
#include "capture/capture.h"

#include <time.h>

void
sysprof_capture_header_init (SysprofCaptureFileHeader *header, int64_t begin)
{
  time_t now = time (NULL);
  struct tm utc;

  *header = (SysprofCaptureFileHeader){
    .magic = SYSPROF_CAPTURE_MAGIC,
    .version = 1,
    .time = begin,
  };
  /* Byte 5 holds the byte order, whoever allocates the bit-fields. */
  if (SYSPROF_HOST_IS_LITTLE_ENDIAN)
    header->little_endian = 1;
  if (gmtime_r (&now, &utc) != NULL)
    (void) strftime (header->capture_time, sizeof header->capture_time, "%Y-%m-%dT%H:%M:%SZ",
                     &utc);
}
