// SPDX-License-Identifier: GPL-3.0-or-later

/* The one protocol between this process and its children. A service is a row of constants and
 * two functions: `handle` runs in the child, `is_valid_reply` in the parent.
 *
 *   static const ChildService service = { .name = "…", .request_size = sizeof (Request), … };
 *   ConfinedChild child = CONFINED_CHILD_INIT;
 *   ChildReply reply;
 *
 *   if (sysprof_child_call (&child, &service, &(ChildRequest){ &request, .fd = -1 }, &reply))
 *     text = sysprof_child_reply_take (&reply, TEXT);
 *   sysprof_child_reply_clear (&reply);
 *
 * On the socket, a request is a RequestHead, `bytes` and `payload`; a reply is a ReplyHead and
 * the parts. A file that the child parsed may have taken control of the child. So the parent
 * accepts only sizes within the limits of the row, a descriptor only if the row permits one,
 * and the content only if `is_valid_reply` does. Plain C. */

#pragma once

#include "util/children/confined-child.h"

#define CHILD_MOST_PARTS 5

typedef struct
{
  const void *bytes;   /* [request_size] of the service */
  const void *payload; /* [payload_size] NULL = none */
  size_t payload_size;
  /* -1 = none. In the parent: borrowed. In the child: closed after the reply, unless the
   * handler sets it to -1. */
  int fd;
  int64_t deadline_msec; /* if it is before the timeout; 0 = none. Of the parent */
} ChildRequest;

/* *Owned*. The handler fills an empty reply, with memory from malloc(). In the parent, each
 * part has one more byte than `size`, and is never NULL. */
typedef struct
{
  uint32_t status; /* of the service */
  int fd;          /* -1 = none */
  struct
  {
    void *bytes;
    size_t size;
  } part[CHILD_MOST_PARTS];
  size_t n_received; /* bytes of all parts, while the reply is being received */
  bool has_head;     /* likewise: the sizes have been received */
} ChildReply;

#define CHILD_REPLY_INIT \
  {                      \
    .fd = -1             \
  }

struct ChildService
{
  const char *name;
  size_t request_size; /* bytes */
  int64_t timeout_msec;
  bool keeps_rights;    /* no sandbox: for calls that may block forever */
  bool is_urgent;       /* gets a higher priority, if that is permitted */
  bool takes_envelopes; /* `fd` of a request is an envelope; the handler gets the file in it */
  bool returns_descriptor;
  /* Limits on replies. */
  uint32_t last_status;
  size_t reply_size; /* bytes of part 0, if they are always the same; 0 = only limited */
  uint64_t most[CHILD_MOST_PARTS]; /* bytes */
  /* Runs in the child, where static variables keep state between requests. FALSE: this request
   * has no reply. */
  bool (*handle) (ChildRequest *request, ChildReply *reply);
  /* Instead of `handle`: opens a file (util/children/opener.h). */
  int (*open) (const ChildRequest *request, struct stat *info);
  /* Runs in the child before it waits, and does what is due. Returns the ms until the next
   * call, -1 = never. NULL = nothing; only for children that keep their rights. */
  int (*tick) (void);
  /* Whether a reply within the limits is sound. NULL = always. */
  bool (*is_valid_reply) (const ChildRequest *request, const ChildReply *reply);
};

/* Makes one call. Starts the child if it does not run. FALSE: the child could not be started;
 * or it exited, exceeded the timeout or sent an invalid reply, and was ended. The caller
 * clears the reply in any case. */
bool sysprof_child_call (ConfinedChild *self,
                         const ChildService *service,
                         const ChildRequest *request,
                         ChildReply *reply);

/* Parts of a call, for callers that do not wait. None of them ends the child. */

/* Sends a request. FALSE with errno: EAGAIN if the child has not yet read the previous ones,
 * and the request was dropped. Waits only for a payload, until the deadline. */
bool
sysprof_child_send (ConfinedChild *self, const ChildRequest *request, int64_t deadline_msec);

typedef enum
{
  CHILD_REPLY_PENDING, /* not complete yet */
  CHILD_REPLY_COMPLETE,
  CHILD_REPLY_INVALID, /* the child has exited, or the reply is invalid */
} ChildReplyState;

/* Receives what has arrived. `reply` is CHILD_REPLY_INIT before the first call. */
ChildReplyState
sysprof_child_receive (ConfinedChild *self, const ChildRequest *request, ChildReply *reply);
/* Waits for the complete reply. Returns FALSE after the deadline, too. */
bool sysprof_child_wait_for_reply (ConfinedChild *self,
                                   const ChildRequest *request,
                                   int64_t deadline_msec,
                                   ChildReply *reply);

/* Returns the bytes of a part, which the caller frees. */
void *sysprof_child_reply_take (ChildReply *reply, unsigned part);
/* Adds a part in the child, with memory from malloc(). */
void sysprof_child_reply_set (ChildReply *reply, unsigned part, void *bytes, size_t size);
void sysprof_child_reply_clear (ChildReply *reply);

/* The child's side. Answers requests until the parent closes the socket. */
void sysprof_child_serve (int socket, const ChildService *service);
bool sysprof_child_send_reply (int socket, const ChildReply *reply);
