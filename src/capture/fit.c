// SPDX-License-Identifier: BSD-2-Clause

/* Frames that another program made, cut to the length that all readers of a recording take. Stacks stay whole: half of
 * one would be another stack. Counters and files are divided by those who write them.
 */

#include "capture/splice.h"

#define LONGEST      SYSPROF_CAPTURE_FRAME_USUAL_MAX
#define LONGEST_PATH ((LONGEST - sizeof (SysprofCaptureOverlay)) / 2 - 1)

/* Version 3.46's joins make metadata 8 bytes longer each time, and abort above the longest: room for 16 of them. */
#define METADATA_SPARE 128

/* Ends `text` so that it takes at most `size` bytes with its NUL, not inside a character of UTF-8. */
static bool
cut_text (char *text, size_t size)
{
  size_t length = strnlen (text, size);

  if (length < size)
    return false;

  length = size - 1;
  while (length > 0 && ((uint8_t) text[length] & 0xC0) == 0x80)
    length--;
  text[length] = '\0';

  return true;
}

static bool
cut_overlay (SysprofCaptureOverlay *overlay)
{
  char *target = overlay->data + overlay->src_len + 1;
  bool is_cut = cut_text (overlay->data, LONGEST_PATH);

  return cut_text (target, LONGEST_PATH) || is_cut;
}

bool
sysprof_capture_frame_fit (SysprofCaptureFrame *frame)
{
  size_t room;

  if (frame->len <=
      (frame->type == SYSPROF_CAPTURE_FRAME_METADATA ? LONGEST - METADATA_SPARE : LONGEST))
    return false;

  switch (frame->type)
    {
    case SYSPROF_CAPTURE_FRAME_MAP:
      room = LONGEST - sizeof (SysprofCaptureMap) - sizeof "@" - SYSPROF_CAPTURE_BUILD_ID_MAX;
      return cut_text (((SysprofCaptureMap *) frame)->filename, room);

    case SYSPROF_CAPTURE_FRAME_PROCESS:
      return cut_text (((SysprofCaptureProcess *) frame)->cmdline,
                       LONGEST - sizeof (SysprofCaptureProcess));

    case SYSPROF_CAPTURE_FRAME_MARK:
      return cut_text (((SysprofCaptureMark *) frame)->message,
                       LONGEST - sizeof (SysprofCaptureMark));

    case SYSPROF_CAPTURE_FRAME_METADATA:
      return cut_text (((SysprofCaptureMetadata *) frame)->metadata,
                       LONGEST - sizeof (SysprofCaptureMetadata) - METADATA_SPARE);

    case SYSPROF_CAPTURE_FRAME_LOG:
      return cut_text (((SysprofCaptureLog *) frame)->message,
                       LONGEST - sizeof (SysprofCaptureLog));

    case SYSPROF_CAPTURE_FRAME_OVERLAY:
      return cut_overlay ((SysprofCaptureOverlay *) frame);

    case SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE:
      {
        SysprofCaptureDBusMessage *message = (SysprofCaptureDBusMessage *) frame;

        message->flags |= SYSPROF_CAPTURE_DBUS_FLAGS_MESSAGE_TOO_LARGE;
        message->message_len = 0;
        return true;
      }

    default:
      return !sysprof_capture_frame_type_is_known (frame->type);
    }
}
