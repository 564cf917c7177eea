// SPDX-License-Identifier: GPL-3.0-or-later

/* Sends and receives bytes and file descriptors on the socket of a message bus, without
 * blocking. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BUS_FIXED_SIZE 16 /* bytes; the start of a message, which contains its size */

typedef struct
{
  uint8_t *bytes;
  size_t size;
  size_t sent;
  int fd; /* sent with the first byte; -1 = none */
} BusOutgoing;

/* `data` is a BusOutgoing. */
void sysprof_bus_outgoing_free (void *data);

/* Sends what is left of `out`. FALSE if the socket buffer is full (EAGAIN) or on another error,
 * with errno. */
bool sysprof_bus_socket_send (int fd, BusOutgoing *out);
/* Reads the available bytes, and closes descriptors that come with them. As recv(). */
ssize_t sysprof_bus_socket_receive (int fd, void *bytes, size_t size);

/* The size of the message that starts with these BUS_FIXED_SIZE bytes; 0 = not a valid
 * message. */
size_t sysprof_bus_message_size (const uint8_t *bytes);
