// SPDX-License-Identifier: GPL-3.0-or-later

/* Replies of a child that a file has taken control of: only those that fit the row of the
 * service are accepted. */

#include "util/util.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_SIZE 8
#define LIKED     7 /* the first byte of a valid reply */

typedef struct
{
  uint32_t status;
  uint32_t size; /* of part 0; part 1 has the payload */
  bool sends_descriptor;
} Wish;

/* Replies as it is told. */
static bool
obey (ChildRequest *request, ChildReply *reply)
{
  const Wish *wish = request->bytes;
  void *bytes = malloc (wish->size + 1);
  void *payload = malloc (request->payload_size + 1);

  if (bytes == NULL || payload == NULL)
    return false;
  memset (bytes, LIKED, wish->size);
  memcpy (payload, request->payload, request->payload_size);
  reply->status = wish->status;
  if (wish->sends_descriptor)
    reply->fd = dup (0);
  sysprof_child_reply_set (reply, 0, bytes, wish->size);
  sysprof_child_reply_set (reply, 1, payload, request->payload_size);
  return true;
}

static bool
is_liked (const ChildRequest *request, const ChildReply *reply)
{
  const uint8_t *bytes = reply->part[0].bytes;

  return reply->part[0].size == 0 || bytes[0] == LIKED;
}

static bool
is_not_liked (const ChildRequest *request, const ChildReply *reply)
{
  return !is_liked (request, reply);
}

/* The children keep their rights, because one of them duplicates a descriptor. */
static const ChildService service = { .request_size = sizeof (Wish),
                                      .timeout_msec = 60000,
                                      .keeps_rights = true,
                                      .last_status = 2,
                                      .most = { MOST_SIZE, 1 << 20 },
                                      .handle = obey,
                                      .is_valid_reply = is_liked };

/* Whether the reply was accepted. Another child is started after a reply that was not. */
static bool
call (ConfinedChild *child, const ChildService *row, Wish wish, ChildReply *reply)
{
  bool is_accepted =
      sysprof_child_call (child, row, &(ChildRequest){ .bytes = &wish, .fd = -1 }, reply);

  g_assert_true (is_accepted == (child->pid != 0));
  return is_accepted;
}

static void
assert_accepted (const ChildService *row, Wish wish, bool is_expected)
{
  ConfinedChild child = CONFINED_CHILD_INIT;
  ChildReply reply;

  g_assert_true (call (&child, row, wish, &reply) == is_expected);
  sysprof_child_reply_clear (&reply);
  sysprof_confined_child_end (&child);
}

static void
test_refuses_unknown_status (void)
{
  assert_accepted (&service, (Wish){ .status = 2 }, true);
  assert_accepted (&service, (Wish){ .status = 3 }, false);
  assert_accepted (&service, (Wish){ .status = UINT32_MAX }, false);
}

static void
test_refuses_too_much (void)
{
  assert_accepted (&service, (Wish){ .size = MOST_SIZE }, true);
  assert_accepted (&service, (Wish){ .size = MOST_SIZE + 1 }, false);
}

static void
test_refuses_another_size (void)
{
  ChildService exact = service;

  exact.reply_size = MOST_SIZE;
  assert_accepted (&exact, (Wish){ .size = MOST_SIZE }, true);
  assert_accepted (&exact, (Wish){ .size = MOST_SIZE - 1 }, false);
  assert_accepted (&exact, (Wish){ .size = MOST_SIZE + 1 }, false);
}

static void
test_refuses_invalid_content (void)
{
  ChildService picky = service;

  picky.is_valid_reply = is_not_liked;
  assert_accepted (&service, (Wish){ .size = 1 }, true);
  assert_accepted (&picky, (Wish){ .size = 1 }, false);
}

/* The lowest free descriptor shows whether one was added. */
static int
next_descriptor (void)
{
  int fd = dup (0);

  close (fd);
  return fd;
}

static void
test_takes_no_descriptor_unless_permitted (void)
{
  const Wish wish = { .sends_descriptor = true };
  ConfinedChild child = CONFINED_CHILD_INIT;
  ChildService permitting = service;
  ChildReply reply;
  int next;

  g_assert_true (sysprof_confined_child_start (&child, &service));
  next = next_descriptor ();
  g_assert_true (call (&child, &service, wish, &reply));
  g_assert_cmpint (reply.fd, ==, -1);
  g_assert_cmpint (next_descriptor (), ==, next);
  sysprof_child_reply_clear (&reply);
  sysprof_confined_child_end (&child);

  permitting.returns_descriptor = true;
  g_assert_true (call (&child, &permitting, wish, &reply));
  g_assert_cmpint (reply.fd, >=, 0);
  sysprof_child_reply_clear (&reply);
  sysprof_confined_child_end (&child);
}

/* More than the socket holds, in both directions. */
static void
test_passes_payload (void)
{
  g_autofree uint8_t *bytes = g_malloc (1 << 20);
  const Wish wish = { .size = 1 };
  const ChildRequest request = {
    .bytes = &wish, .payload = bytes, .payload_size = 1 << 20, .fd = -1
  };
  ConfinedChild child = CONFINED_CHILD_INIT;
  ChildReply reply;
  g_autofree uint8_t *returned = NULL;

  for (unsigned i = 0; i < 1 << 20; i++)
    bytes[i] = (uint8_t) (i * 31 >> 8);
  g_assert_true (sysprof_child_call (&child, &service, &request, &reply));
  g_assert_cmpuint (reply.part[1].size, ==, 1 << 20);
  returned = sysprof_child_reply_take (&reply, 1);
  g_assert_true (memcmp (returned, bytes, 1 << 20) == 0);
  sysprof_child_reply_clear (&reply);
  sysprof_confined_child_end (&child);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/util/children/child-service/passes-payload", test_passes_payload);
  g_test_add_func ("/util/children/child-service/refuses-another-size",
                   test_refuses_another_size);
  g_test_add_func ("/util/children/child-service/refuses-invalid-content",
                   test_refuses_invalid_content);
  g_test_add_func ("/util/children/child-service/refuses-too-much", test_refuses_too_much);
  g_test_add_func ("/util/children/child-service/refuses-unknown-status",
                   test_refuses_unknown_status);
  g_test_add_func ("/util/children/child-service/takes-no-descriptor-unless-permitted",
                   test_takes_no_descriptor_unless_permitted);
  return g_test_run ();
}
