// SPDX-License-Identifier: BSD-2-Clause

#include "capture/boots.h"

#include "capture/byte-order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `ID BUILD-ID PLACE`. Returns the place; the length of what is before it is in `size`. */
static unsigned
parse_place (const char *value, size_t *size)
{
  const char *build_id = strchr (value, ' ');
  const char *place = build_id != NULL ? strchr (build_id + 1, ' ') : NULL;
  unsigned long number;

  *size = place != NULL ? (size_t) (place - value) : strlen (value);
  number = place != NULL ? strtoul (place + 1, NULL, 10) : 0;
  return number < KERNEL_PLACES ? (unsigned) number : 0;
}

static bool
add (Boots *self, const char *id, size_t id_size, unsigned place)
{
  Boot *boot = &self->boot[self->n];

  if (self->n == KERNEL_PLACES || id_size == 0 || id_size >= BOOT_ID_SIZE)
    return false;
  memcpy (boot->id, id, id_size);
  boot->id[id_size] = '\0';
  boot->place = place;
  self->n++;
  return true;
}

const char *
sysprof_boots_id_at (const Boots *self, unsigned place)
{
  for (size_t i = 0; i < self->n; i++)
    if (self->boot[i].place == place)
      return self->boot[i].id;
  return NULL;
}

/* Where the code of one sample lies, that of all does. */
static void
look_at_sample (Boots *self, const SysprofCaptureSample *sample)
{
  const uint8_t *addrs = (const uint8_t *) sample + sizeof *sample;
  SysprofAddressContext context = SYSPROF_ADDRESS_CONTEXT_NONE;

  if (self->has_kernel_code || sample->n_addrs < 2 ||
      !sysprof_address_is_context_switch (sysprof_load_u64 (addrs, false), &context) ||
      context != SYSPROF_ADDRESS_CONTEXT_KERNEL)
    return;
  self->has_kernel_code = true;
  self->is_elsewhere = sysprof_kernel_place_of (sysprof_load_u64 (addrs + sizeof (uint64_t),
                                                                  false)) >= KERNEL_PLACES;
}

/* Of two at one place the first holds: whoever put them there did not tell them apart. */
void
sysprof_boots_add_frame (Boots *self, const SysprofCaptureFrame *frame)
{
  const SysprofCaptureMetadata *metadata = (const SysprofCaptureMetadata *) frame;
  unsigned place;
  size_t size;

  if (frame->type == SYSPROF_CAPTURE_FRAME_SAMPLE)
    look_at_sample (self, (const SysprofCaptureSample *) frame);

  if (frame->type != SYSPROF_CAPTURE_FRAME_METADATA ||
      strcmp (metadata->id, CAPTURE_BOOT_ID) != 0)
    return;
  place = parse_place (metadata->metadata, &size);
  if (sysprof_boots_id_at (self, place) == NULL)
    (void) add (self, metadata->metadata, strcspn (metadata->metadata, " "), place);
}

/* --- moves --- */

/* The place of a start among all, a new one if need be. False with that of the first where there is no more room. */
static bool
find_place (Boots *all, const Boot *boot, unsigned *place)
{
  *place = 0;
  for (size_t i = 0; i < all->n && !boot->is_of_join; i++)
    if (!all->boot[i].is_of_join && strcmp (all->boot[i].id, boot->id) == 0)
      {
        *place = all->boot[i].place;
        return true;
      }
  if (!add (all, boot->id, strlen (boot->id), (unsigned) all->n))
    return false;
  all->boot[all->n - 1].is_of_join = boot->is_of_join;
  *place = (unsigned) all->n - 1;
  return true;
}

/* Of the kernel at `place`. */
static Boot
get_boot (const Boots *boots, unsigned place)
{
  const char *id = sysprof_boots_id_at (boots, place);
  Boot boot = { .place = place };

  strcpy (boot.id, id != NULL ? id : CAPTURE_BOOT_ID_UNKNOWN);
  boot.is_of_join = boots->n > 0 && strcmp (boot.id, CAPTURE_BOOT_ID_UNKNOWN) == 0;
  return boot;
}

void
sysprof_kernel_move_init (KernelMove *self, Boots *all, const Boots *boots)
{
  Boot first = get_boot (boots, 0), other;

  *self = (KernelMove){ .is_set = true };
  for (unsigned place = 0; place < KERNEL_PLACES; place++)
    self->to[place] = place;
  self->is_apart = find_place (all, &first, &self->to[0]) && !boots->is_elsewhere;
  for (size_t i = 0; i < boots->n; i++)
    if (boots->boot[i].place != 0)
      {
        other = get_boot (boots, boots->boot[i].place);
        (void) find_place (all, &other, &self->to[other.place]);
      }
  if (boots->is_elsewhere)
    self->to[0] = 0;
  for (unsigned place = 0; place < KERNEL_PLACES; place++)
    self->is_moved = self->is_moved || self->to[place] != place;
}

uint64_t
sysprof_kernel_move_address (const KernelMove *self, uint64_t address)
{
  uint64_t place = sysprof_kernel_place_of (address);

  if (!self->is_moved || place >= KERNEL_PLACES)
    return address;
  return address + ((place - self->to[place]) << KERNEL_PLACE_BITS);
}

void
sysprof_kernel_move_boot (const KernelMove *self, const char *value, char *moved, size_t size)
{
  size_t length;
  unsigned place = self->to[parse_place (value, &length)];
  bool has_build_id = memchr (value, ' ', length) != NULL;

  if (length > BOOT_ID_SIZE + SYSPROF_CAPTURE_BUILD_ID_MAX)
    length = BOOT_ID_SIZE + SYSPROF_CAPTURE_BUILD_ID_MAX;
  if (place == 0)
    (void) snprintf (moved, size, "%.*s", (int) length, value);
  else
    (void) snprintf (moved, size, "%.*s%s %u", (int) length, value, has_build_id ? "" : " -",
                     place);
}
