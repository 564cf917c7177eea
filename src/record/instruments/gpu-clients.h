// SPDX-License-Identifier: GPL-3.0-or-later

/* What the kernel reports about one client of a graphics device, in the fdinfo of a
 * descriptor. */

#pragma once

#include "record/counters/sampled-counters.h"

#define GPU_MAX_ENGINES 12
#define GPU_MAX_REGIONS 8
#define GPU_NAME_SIZE   16 /* of engines and regions; longer names are truncated */
/* "0000:03:00.0", or the driver's name if the device has no address */
#define GPU_DEVICE_SIZE 24

typedef struct
{
  char name[GPU_NAME_SIZE]; /* "render", "gfx", "rcs", … */
  uint64_t busy_nsec;
  uint64_t cycles;
  uint64_t total_cycles; /* of the device's clock, busy or idle */
  uint64_t capacity;     /* number of engines of this kind; at least 1 */
  bool has_time;
  bool has_cycles;
  bool has_total;
} GpuEngine;

typedef struct
{
  char name[GPU_NAME_SIZE]; /* "vram", "system0", … */
  uint64_t size;            /* bytes; resident if known, else total */
  unsigned rank;            /* of the key that the size comes from; internal */
} GpuRegion;

typedef struct
{
  char driver[GPU_NAME_SIZE];
  char device[GPU_DEVICE_SIZE];
  uint64_t id; /* unique for the device; several descriptors may belong to one client */
  unsigned n_engines;
  unsigned n_regions;
  GpuEngine engines[GPU_MAX_ENGINES];
  GpuRegion regions[GPU_MAX_REGIONS];
} GpuClient;

/* FALSE if the text does not describe a GPU client. */
bool sysprof_gpu_client_parse (Text text, GpuClient *client);

/* The number of graphics devices with a kernel driver. */
unsigned sysprof_gpu_count (Privilege *machine);
