// SPDX-License-Identifier: BSD-2-Clause

/* The frames of a capture as C structs. A capture is a SysprofCaptureFileHeader followed by
 * frames. Each frame starts with a SysprofCaptureFrame, whose `len` is the distance to the
 * next. Integers have the byte order of the file; a reader converts them to that of the
 * machine. */

#pragma once

#include "sysprof-clock.h"
#include "sysprof-macros.h"
#include "sysprof-version-macros.h"

#include <endian.h>
#include <inttypes.h>
#include <sys/types.h>

SYSPROF_BEGIN_DECLS

#define SYSPROF_CAPTURE_CURRENT_TIME (sysprof_clock_get_current_time ())
#if __BYTE_ORDER == __BIG_ENDIAN /* stored little-endian by every machine */
#  define SYSPROF_CAPTURE_MAGIC (0x5E97CAFDU)
#else
#  define SYSPROF_CAPTURE_MAGIC (0xFDCA975EU)
#endif
#define SYSPROF_CAPTURE_ALIGN (sizeof (SysprofCaptureAddress))

#define SYSPROF_CAPTURE_ADDRESS_FORMAT "0x%016" PRIx64

/* Addresses with these high bits set are numbers of names in jitmap frames. */
#if UINTPTR_MAX > 0xFFFFFFFFU
#  define SYSPROF_CAPTURE_JITMAP_MARK (UINT64_C (0xE000000000000000))
#else
#  define SYSPROF_CAPTURE_JITMAP_MARK (UINT64_C (0xE0000000))
#endif

#define SYSPROF_CAPTURE_FRAME_INDEX_MAGIC (0x53504958U)

#define SYSPROF_CAPTURE_COUNTER_INT64  0
#define SYSPROF_CAPTURE_COUNTER_DOUBLE 1

#define SYSPROF_CAPTURE_DBUS_TYPE_SYSTEM             0
#define SYSPROF_CAPTURE_DBUS_TYPE_SESSION            1
#define SYSPROF_CAPTURE_DBUS_TYPE_A11Y               2
#define SYSPROF_CAPTURE_DBUS_TYPE_OTHER              3
#define SYSPROF_CAPTURE_DBUS_FLAGS_MESSAGE_TOO_LARGE 1

typedef struct _SysprofCaptureReader SysprofCaptureReader;
typedef struct _SysprofCaptureWriter SysprofCaptureWriter;
typedef struct _SysprofCaptureCursor SysprofCaptureCursor;
typedef struct _SysprofCaptureCondition SysprofCaptureCondition;

typedef uint64_t SysprofCaptureAddress;

/* Stores up to `n_addrs` addresses, innermost caller first, and returns their number, zero or
 * less if there are none. */
typedef int (*SysprofBacktraceFunc) (SysprofCaptureAddress *addrs,
                                     unsigned int n_addrs,
                                     void *user_data);

typedef struct
{
  size_t frame_count[16]; /* by type; later types have no slot */
  size_t padding[48];
} SysprofCaptureStat;

typedef union
{
  int64_t v64;
  double vdbl;
} SysprofCaptureCounterValue;

typedef enum
{
  SYSPROF_CAPTURE_FRAME_TIMESTAMP = 1,
  SYSPROF_CAPTURE_FRAME_SAMPLE = 2,
  SYSPROF_CAPTURE_FRAME_MAP = 3,
  SYSPROF_CAPTURE_FRAME_PROCESS = 4,
  SYSPROF_CAPTURE_FRAME_FORK = 5,
  SYSPROF_CAPTURE_FRAME_EXIT = 6,
  SYSPROF_CAPTURE_FRAME_JITMAP = 7,
  SYSPROF_CAPTURE_FRAME_CTRDEF = 8,
  SYSPROF_CAPTURE_FRAME_CTRSET = 9,
  SYSPROF_CAPTURE_FRAME_MARK = 10,
  SYSPROF_CAPTURE_FRAME_METADATA = 11,
  SYSPROF_CAPTURE_FRAME_LOG = 12,
  SYSPROF_CAPTURE_FRAME_FILE_CHUNK = 13,
  SYSPROF_CAPTURE_FRAME_ALLOCATION = 14,
  SYSPROF_CAPTURE_FRAME_OVERLAY = 15,
  SYSPROF_CAPTURE_FRAME_TRACE = 16,
  SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE = 17,

  SYSPROF_CAPTURE_FRAME_LAST /* grows with new types */
} SysprofCaptureFrameType;

#pragma pack(push, 1)

typedef struct
{
  uint32_t magic;
  uint32_t version : 8;
  uint32_t little_endian : 1;
  uint32_t padding : 23;
  char capture_time[64]; /* ISO 8601, UTC */
  int64_t time;          /* begin, ns */
  int64_t end_time;      /* ns; 0 = not known */
  union
  {
    char suffix[168];
    struct
    {
      uint64_t last_frame_index; /* offset in the file; 0 = none */
      char padding[160];
    } frame_index;
  };
} SysprofCaptureFileHeader;

typedef struct
{
  uint16_t len; /* of the whole frame; a multiple of 8 */
  int16_t cpu;  /* -1 = none */
  int32_t pid;  /* -1 = none */
  int64_t time; /* ns */
  uint32_t type : 8;
  uint32_t padding1 : 24;
  uint32_t padding2;
  SYSPROF_EXTENSION uint8_t data[0]; /* not [], because other structs begin with a frame */
} SysprofCaptureFrame;

typedef struct
{
  SysprofCaptureFrame frame;
  uint64_t start;
  uint64_t end;
  uint64_t offset; /* of `start` in the file, bytes */
  uint64_t inode;
  char filename[]; /* may be followed by '@' and the build id in hex */
} SysprofCaptureMap;

typedef struct
{
  SysprofCaptureFrame frame;
  uint32_t n_jitmaps;
  uint8_t data[];
} SysprofCaptureJitmap;

typedef struct
{
  SysprofCaptureFrame frame;
  char cmdline[];
} SysprofCaptureProcess;

typedef struct
{
  SysprofCaptureFrame frame;
  uint32_t n_addrs : 16;
  uint32_t padding1 : 16;
  int32_t tid;
  SysprofCaptureAddress addrs[];
} SysprofCaptureSample;

typedef struct
{
  SysprofCaptureFrame frame;
  uint32_t n_addrs : 16;
  uint32_t entering : 1;
  uint32_t padding1 : 15;
  int32_t tid;
  SysprofCaptureAddress addrs[];
} SysprofCaptureTrace;

typedef struct
{
  SysprofCaptureFrame frame;
  int32_t child_pid;
} SysprofCaptureFork;

typedef struct
{
  SysprofCaptureFrame frame;
} SysprofCaptureExit;

typedef struct
{
  SysprofCaptureFrame frame;
} SysprofCaptureTimestamp;

typedef struct
{
  SysprofCaptureFrame frame; /* a timestamp whose padding2 is the frame index's magic */
  uint64_t previous_frame_index;
} SysprofCaptureFrameIndex;

typedef struct
{
  char category[32];
  char name[32];
  char description[52];
  uint32_t id : 24;
  uint32_t type : 8;
  SysprofCaptureCounterValue value;
} SysprofCaptureCounter;

typedef struct
{
  SysprofCaptureFrame frame;
  uint32_t n_counters : 16;
  uint32_t padding1 : 16;
  uint32_t padding2;
  SysprofCaptureCounter counters[];
} SysprofCaptureCounterDefine;

typedef struct
{
  uint32_t ids[8]; /* 0 = empty */
  SysprofCaptureCounterValue values[8];
} SysprofCaptureCounterValues;

typedef struct
{
  SysprofCaptureFrame frame;
  uint32_t n_values : 16; /* groups of eight */
  uint32_t padding1 : 16;
  uint32_t padding2;
  SysprofCaptureCounterValues values[];
} SysprofCaptureCounterSet;

typedef struct
{
  SysprofCaptureFrame frame;
  int64_t duration; /* ns */
  char group[24];
  char name[40];
  char message[];
} SysprofCaptureMark;

typedef struct
{
  SysprofCaptureFrame frame;
  char id[40];
  char metadata[];
} SysprofCaptureMetadata;

typedef struct
{
  SysprofCaptureFrame frame;
  uint32_t severity : 16; /* GLogLevelFlags */
  uint32_t padding1 : 16;
  uint32_t padding2 : 32;
  char domain[32];
  char message[];
} SysprofCaptureLog;

typedef struct
{
  SysprofCaptureFrame frame;
  uint32_t is_last : 1;
  uint32_t padding1 : 15;
  uint32_t len : 16;
  char path[256];
  uint8_t data[];
} SysprofCaptureFileChunk;

typedef struct
{
  SysprofCaptureFrame frame;
  SysprofCaptureAddress alloc_addr;
  int64_t alloc_size; /* bytes; 0 = freed */
  int32_t tid;
  uint32_t n_addrs : 16;
  uint32_t padding1 : 16;
  SysprofCaptureAddress addrs[];
} SysprofCaptureAllocation;

typedef struct
{
  SysprofCaptureFrame frame;
  uint32_t layer : 8; /* 0 = topmost */
  uint32_t padding : 24;
  uint32_t src_len : 16;
  uint32_t dst_len : 16;
  char data[]; /* src, NUL, dst, NUL */
} SysprofCaptureOverlay;

typedef struct
{
  SysprofCaptureFrame frame;
  uint16_t bus_type : 2;
  uint16_t flags : 14;
  uint16_t message_len;
  uint8_t message[];
} SysprofCaptureDBusMessage;

#pragma pack(pop)

/* Returns -1, 0 or 1 if `a` is below, equal to or above `b`. */
static inline int
sysprof_capture_address_compare (SysprofCaptureAddress a, SysprofCaptureAddress b)
{
  return a < b ? -1 : a > b;
}

SYSPROF_END_DECLS
