// SPDX-License-Identifier: BSD-2-Clause

/* Shortens frames that another program wrote to the length that version 3.46 can join. Stacks
 * stay complete, because a part of one would be another stack. The translation itself divides
 * counters and files. */

#include "join/parts.h"

#include <string.h>

#define LONGEST      SYSPROF_CAPTURE_FRAME_USUAL_MAX
#define LONGEST_PATH ((LONGEST - sizeof (SysprofCaptureOverlay)) / 2 - 1)

/* Bytes. Each join by version 3.46 makes metadata 8 bytes longer, and it aborts above the
 * limit: this is room for 16 joins. */
#define METADATA_SPARE 128

/* Truncates `text` to at most `size` bytes with its NUL, but not inside a UTF-8 character. True
 * if it was longer. */
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
sysprof_capture_frame_shorten (SysprofCaptureFrame *frame)
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
