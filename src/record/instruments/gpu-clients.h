// SPDX-License-Identifier: GPL-3.0-or-later

/* What the kernel tells of one client of a graphics device, in the fdinfo of a descriptor. */

#pragma once

#include "util/util.h"

#define GPU_MAX_ENGINES 12
#define GPU_MAX_REGIONS 8
#define GPU_NAME_SIZE   16 /* of engines and regions; longer names are cut */
#define GPU_DEVICE_SIZE \
  24 /* "0000:03:00.0", or the driver's name where the device has no address */

typedef struct
{
  char name[GPU_NAME_SIZE]; /* "render", "gfx", "rcs", … */
  uint64_t busy_nsec;
  uint64_t cycles;
  uint64_t total_cycles; /* of the device's clock, busy or not */
  uint64_t capacity;     /* how many there are of the kind; at least 1 */
  bool has_time;
  bool has_cycles;
  bool has_total;
} GpuEngine;

typedef struct
{
  char name[GPU_NAME_SIZE]; /* "vram", "system0", … */
  uint64_t size;            /* bytes: what is resident, or else what there is */
  unsigned rank;            /* of the key it is from; internal */
} GpuRegion;

typedef struct
{
  char driver[GPU_NAME_SIZE];
  char device[GPU_DEVICE_SIZE];
  uint64_t id; /* within the device; several descriptors may be of one client */
  unsigned n_engines;
  unsigned n_regions;
  GpuEngine engines[GPU_MAX_ENGINES];
  GpuRegion regions[GPU_MAX_REGIONS];
} GpuClient;

/* FALSE when the text is of no such client. */
bool sysprof_gpu_client_parse (Text text, GpuClient *client);
