// SPDX-License-Identifier: BSD-2-Clause

/* What there is to know about frames that is the same task for every type, in one table: how
 * long one is at least, which integers it holds, what follows the fixed part, and whether it is
 * state or event.
 *
 * Offsets count from the start of the frame; they are those of the format's description
 * (docs/format.md). The file header is here, too: all writers begin with the same bytes.
 */

#include "capture/byte-order.h"
#include "capture/capture.h"

#include <time.h>

#define HEADER_SIZE  24
#define LEN_AT       0
#define TYPE_AT      16
#define PADDING2_AT  20
#define INDEX_LENGTH 32

#define COUNTER_SIZE  128
#define COUNTER_ID_AT 116
#define GROUP_SIZE    96
#define GROUP_IDS     8

#define N_ELEMENTS(array) (sizeof (array) / sizeof (array)[0])

typedef enum
{
  TAIL_NONE,
  TAIL_TEXT,      /* to the end of the frame */
  TAIL_BYTES,     /* as many as the count says */
  TAIL_ADDRESSES, /* u64 */
  TAIL_COUNTERS,
  TAIL_GROUPS, /* of counter values */
  TAIL_NAMES,  /* of a jitmap: u64, text, NUL */
  TAIL_PATHS,  /* of an overlay: two texts of given lengths */
} Tail;

static const uint8_t tail_item_size[] = {
  [TAIL_BYTES] = 1,
  [TAIL_ADDRESSES] = 8,
  [TAIL_COUNTERS] = COUNTER_SIZE,
  [TAIL_GROUPS] = GROUP_SIZE,
};

typedef struct
{
  uint8_t at;
  uint8_t width; /* bytes: 2, 4 or 8 */
  uint8_t n;
} Integers;

typedef struct
{
  uint8_t at;
  uint16_t size; /* bytes; 0 ends the list */
} Text;

typedef struct
{
  uint16_t least; /* bytes, the NULs of texts included */
  uint16_t fixed; /* bytes before the tail */
  bool is_state;  /* stays true after its time */
  Tail tail;
  uint8_t count_at;      /* u16 that counts the tail's items */
  uint8_t bit_fields_at; /* u16 whose bits stand elsewhere in the other byte order; 0 = none */
  Integers integers[3];  /* beyond the header's; a width of 0 ends the list */
  Text texts[2];         /* in fields of fixed size */
} FrameLayout;

static const Text counter_texts[] = { { 0, 32 }, { 32, 32 }, { 64, 52 } };

/* clang-format off */
static const FrameLayout layouts[SYSPROF_CAPTURE_FRAME_LAST] = {
  [SYSPROF_CAPTURE_FRAME_TIMESTAMP]    = { 24,  24, false, TAIL_NONE,      0,  0, { { 0 } } },
  [SYSPROF_CAPTURE_FRAME_SAMPLE]       = { 32,  32, false, TAIL_ADDRESSES, 24, 0, { { 24, 2, 1 }, { 28, 4, 1 } } },
  [SYSPROF_CAPTURE_FRAME_MAP]          = { 57,  56, true,  TAIL_TEXT,      0,  0, { { 24, 8, 4 } } },
  [SYSPROF_CAPTURE_FRAME_PROCESS]      = { 25,  24, true,  TAIL_TEXT,      0,  0, { { 0 } } },
  [SYSPROF_CAPTURE_FRAME_FORK]         = { 28,  28, true,  TAIL_NONE,      0,  0, { { 24, 4, 1 } } },
  [SYSPROF_CAPTURE_FRAME_EXIT]         = { 24,  24, true,  TAIL_NONE,      0,  0, { { 0 } } },
  [SYSPROF_CAPTURE_FRAME_JITMAP]       = { 28,  28, true,  TAIL_NAMES,     0,  0, { { 24, 4, 1 } } },
  [SYSPROF_CAPTURE_FRAME_CTRDEF]       = { 32,  32, true,  TAIL_COUNTERS,  24, 0, { { 24, 2, 1 } } },
  [SYSPROF_CAPTURE_FRAME_CTRSET]       = { 32,  32, false, TAIL_GROUPS,    24, 0, { { 24, 2, 1 } } },
  [SYSPROF_CAPTURE_FRAME_MARK]         = { 97,  96, false, TAIL_TEXT,      0,  0, { { 24, 8, 1 } }, { { 32, 24 }, { 56, 40 } } },
  [SYSPROF_CAPTURE_FRAME_METADATA]     = { 65,  64, true,  TAIL_TEXT,      0,  0, { { 0 } }, { { 24, 40 } } },
  [SYSPROF_CAPTURE_FRAME_LOG]          = { 65,  64, false, TAIL_TEXT,      0,  0, { { 24, 2, 1 } }, { { 32, 32 } } },
  [SYSPROF_CAPTURE_FRAME_FILE_CHUNK]   = { 284, 284, true, TAIL_BYTES,     26, 24, { { 26, 2, 1 } }, { { 28, 256 } } },
  [SYSPROF_CAPTURE_FRAME_ALLOCATION]   = { 48,  48, false, TAIL_ADDRESSES, 44, 0, { { 24, 8, 2 }, { 40, 4, 1 }, { 44, 2, 1 } } },
  [SYSPROF_CAPTURE_FRAME_OVERLAY]      = { 34,  32, true,  TAIL_PATHS,     0,  0, { { 28, 2, 2 } } },
  [SYSPROF_CAPTURE_FRAME_TRACE]        = { 32,  32, false, TAIL_ADDRESSES, 24, 26, { { 24, 2, 1 }, { 28, 4, 1 } } },
  [SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE] = { 28,  28, false, TAIL_BYTES,     26, 24, { { 26, 2, 1 } } },
};
/* clang-format on */

static bool
names_fit (const uint8_t *names, size_t size, uint32_t n_names)
{
  for (uint32_t i = 0; i < n_names; i++)
    {
      const uint8_t *nul;
      size_t used;

      if (size <= sizeof (uint64_t))
        return false;
      nul = memchr (names + sizeof (uint64_t), 0, size - sizeof (uint64_t));
      if (nul == NULL)
        return false;
      used = (size_t) (nul - names) + 1;
      names += used;
      size -= used;
    }

  return true;
}

static bool
tail_fits (const FrameLayout *layout, const uint8_t *frame, size_t size, bool swapped)
{
  switch (layout->tail)
    {
    case TAIL_BYTES:
    case TAIL_ADDRESSES:
    case TAIL_COUNTERS:
    case TAIL_GROUPS:
      return sysprof_load_u16 (frame + layout->count_at, swapped) <=
             size / tail_item_size[layout->tail];

    case TAIL_NAMES:
      return names_fit (frame + layout->fixed, size, sysprof_load_u32 (frame + 24, swapped));

    case TAIL_PATHS:
      return (size_t) sysprof_load_u16 (frame + 28, swapped) +
                 sysprof_load_u16 (frame + 30, swapped) + 2 <=
             size;

    case TAIL_NONE:
    case TAIL_TEXT:
      return true;
    }

  return false;
}

size_t
sysprof_capture_frame_length (const uint8_t *frame, size_t available, bool swapped)
{
  size_t length;

  if (available < HEADER_SIZE)
    return 0;

  length = sysprof_load_u16 (frame + LEN_AT, swapped);
  if (length < HEADER_SIZE || length % SYSPROF_CAPTURE_ALIGN != 0)
    return 0;

  return length;
}

bool
sysprof_capture_frame_validate (const uint8_t *frame, size_t available, bool swapped)
{
  size_t length = sysprof_capture_frame_length (frame, available, swapped);
  const FrameLayout *layout;

  if (length == 0 || length > available)
    return false;
  if (!sysprof_capture_frame_type_is_known (frame[TYPE_AT]))
    return true;

  layout = &layouts[frame[TYPE_AT]];
  return length >= layout->least && tail_fits (layout, frame, length - layout->fixed, swapped);
}

bool
sysprof_capture_frame_is_index (const uint8_t *frame, bool swapped)
{
  uint32_t mark;

  if (frame[TYPE_AT] != SYSPROF_CAPTURE_FRAME_TIMESTAMP ||
      sysprof_load_u16 (frame + LEN_AT, swapped) != INDEX_LENGTH)
    return false;

  mark = sysprof_load_u32 (frame + PADDING2_AT, false);
  return mark == SYSPROF_CAPTURE_FRAME_INDEX_MAGIC ||
         mark == __builtin_bswap32 (SYSPROF_CAPTURE_FRAME_INDEX_MAGIC);
}

bool
sysprof_capture_frame_type_is_state (uint8_t type)
{
  return sysprof_capture_frame_type_is_known (type) && layouts[type].is_state;
}

static void
swap_integers (uint8_t *bytes, size_t width, size_t n)
{
  for (size_t i = 0; i < n; i++, bytes += width)
    switch (width)
      {
      case 2:
        sysprof_store_u16 (bytes, sysprof_load_u16 (bytes, true));
        break;
      case 4:
        sysprof_store_u32 (bytes, sysprof_load_u32 (bytes, true));
        break;
      default:
        sysprof_store_u64 (bytes, sysprof_load_u64 (bytes, true));
        break;
      }
}

/* Big-endian compilers allocate bit-fields from the most significant end. Each of these gets
 * the word in the order of this machine with the foreign places, and gives it with the native
 * ones. */

static uint32_t
move_counter_bits (uint32_t word)
{
  if (SYSPROF_HOST_IS_LITTLE_ENDIAN)
    return word >> 8 | (word & 0xff) << 24;
  else
    return (word & 0xffffff) << 8 | word >> 24;
}

static uint16_t
move_one_bit (uint16_t word)
{
  return SYSPROF_HOST_IS_LITTLE_ENDIAN ? (uint16_t) (word >> 15)
                                       : (uint16_t) ((word & 1U) << 15);
}

static uint16_t
move_bus_bits (uint16_t word)
{
  if (SYSPROF_HOST_IS_LITTLE_ENDIAN)
    return (uint16_t) (word >> 14 | (word & 0x3fffU) << 2);
  else
    return (uint16_t) ((word & 3U) << 14 | word >> 2);
}

static void
swap_bit_fields (uint8_t *frame, uint8_t at)
{
  uint16_t word = sysprof_load_u16 (frame + at, true);

  sysprof_store_u16 (frame + at, frame[TYPE_AT] == SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE
                                     ? move_bus_bits (word)
                                     : move_one_bit (word));
}

static void
swap_counter (uint8_t *counter)
{
  uint8_t *word = counter + COUNTER_ID_AT;

  sysprof_store_u32 (word, move_counter_bits (sysprof_load_u32 (word, true)));
  swap_integers (word + 4, 8, 1);
}

static void
swap_names (uint8_t *names, uint32_t n_names)
{
  for (uint32_t i = 0; i < n_names; i++)
    {
      swap_integers (names, 8, 1);
      names += 8;
      names += strlen ((const char *) names) + 1;
    }
}

static void
swap_tail (uint8_t *frame, const FrameLayout *layout)
{
  uint8_t *tail = frame + layout->fixed;
  uint16_t n = sysprof_load_u16 (frame + layout->count_at, false);

  switch (layout->tail)
    {
    case TAIL_ADDRESSES:
      swap_integers (tail, 8, n);
      break;

    case TAIL_COUNTERS:
      for (unsigned i = 0; i < n; i++)
        swap_counter (tail + (size_t) i * COUNTER_SIZE);
      break;

    case TAIL_GROUPS:
      for (unsigned i = 0; i < n; i++)
        {
          uint8_t *group = tail + (size_t) i * GROUP_SIZE;

          swap_integers (group, 4, GROUP_IDS);
          swap_integers (group + 4 * GROUP_IDS, 8, GROUP_IDS);
        }
      break;

    case TAIL_NAMES:
      swap_names (tail, sysprof_load_u32 (frame + 24, false));
      break;

    case TAIL_NONE:
    case TAIL_TEXT:
    case TAIL_BYTES:
    case TAIL_PATHS:
      break;
    }
}

void
sysprof_capture_frame_swap (uint8_t *frame)
{
  const FrameLayout *layout;
  bool is_index = sysprof_capture_frame_is_index (frame, true);

  swap_integers (frame, 2, 2);      /* len, cpu */
  swap_integers (frame + 4, 4, 1);  /* pid */
  swap_integers (frame + 8, 8, 1);  /* time */
  swap_integers (frame + 20, 4, 1); /* padding2 */
  if (is_index)
    swap_integers (frame + HEADER_SIZE, 8, 1);

  if (!sysprof_capture_frame_type_is_known (frame[TYPE_AT]))
    return;

  layout = &layouts[frame[TYPE_AT]];
  for (size_t i = 0; i < N_ELEMENTS (layout->integers) && layout->integers[i].width != 0; i++)
    swap_integers (frame + layout->integers[i].at, layout->integers[i].width,
                   layout->integers[i].n);
  if (layout->bit_fields_at != 0)
    swap_bit_fields (frame, layout->bit_fields_at);
  swap_tail (frame, layout);
}

static void
end_texts (uint8_t *bytes, const Text *texts, size_t n_texts)
{
  for (size_t i = 0; i < n_texts && texts[i].size != 0; i++)
    bytes[texts[i].at + texts[i].size - 1] = '\0';
}

void
sysprof_capture_frame_end_texts (uint8_t *frame)
{
  const FrameLayout *layout;
  size_t length = sysprof_load_u16 (frame + LEN_AT, false);

  if (!sysprof_capture_frame_type_is_known (frame[TYPE_AT]))
    return;

  layout = &layouts[frame[TYPE_AT]];
  end_texts (frame, layout->texts, N_ELEMENTS (layout->texts));

  if (layout->tail == TAIL_TEXT)
    {
      frame[length - 1] = '\0';
    }
  else if (layout->tail == TAIL_COUNTERS)
    {
      for (unsigned i = 0; i < sysprof_load_u16 (frame + layout->count_at, false); i++)
        end_texts (frame + layout->fixed + (size_t) i * COUNTER_SIZE, counter_texts,
                   N_ELEMENTS (counter_texts));
    }
  else if (layout->tail == TAIL_PATHS)
    {
      size_t src_len = sysprof_load_u16 (frame + 28, false);
      size_t dst_len = sysprof_load_u16 (frame + 30, false);

      frame[layout->fixed + src_len] = '\0';
      frame[layout->fixed + src_len + 1 + dst_len] = '\0';
    }
}

/* --- the first 256 bytes of a capture file --- */

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
