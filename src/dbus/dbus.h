// SPDX-License-Identifier: GPL-3.0-or-later

/* dbus: a small D-Bus client in plain C, for the recorder and for privileged programs, which
 * must not link GLib. It never starts a program, resolves no host names, and never waits
 * longer than its caller permits. Every length in a message is checked, and every size has a
 * limit.
 *
 *   address.c     connects to the address of a bus
 *   socket.c      bytes and descriptors on a non-blocking socket
 *   reader.c      header and values of a received message
 *   writer.c      values and header of a message to send
 *   connection.c  a connection with a name on a bus: sends, receives, calls
 *
 *   BusConnection *bus = sysprof_dbus_connection_new (address, true, 3000);
 *   BusWriter body = { 0 };
 *   sysprof_dbus_write_string (&body, "org.example.Name");
 *   serial = sysprof_dbus_connection_send (bus, &header, &body, -1);
 *   while ((message = sysprof_dbus_connection_receive (bus)) != NULL) ...
 *
 * All structures are *owned* by one thread. Sources: D-Bus Specification, "Message Protocol",
 * "Authentication Protocol", "Server Addresses". */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BUS_FIXED_SIZE   16u /* bytes; the start of a message, which contains its size */
#define BUS_MOST_FDS     16u /* descriptors of one message; the limit of the system bus */
#define BUS_MOST_DEPTH   32u /* nested arrays, structures and variants */
#define BUS_MOST_ARRAY   (64u * 1024 * 1024)  /* bytes; limit of the specification */
#define BUS_MOST_MESSAGE (128u * 1024 * 1024) /* bytes; limit of the specification */
#define BUS_MOST_SENT    (32u * 1024 * 1024)  /* bytes; limit of the system bus */

/* --- addresses --- */

/* Returns a non-blocking socket that is connected to the first of the `addresses`, separated by
 * semicolons, that answers. A remote bus has two seconds. -1 with errno: EPROTONOSUPPORT if no
 * address is of a supported kind. */
int sysprof_dbus_connect (const char *addresses);

#define BUS_INTRODUCTION_SIZE 48
/* Writes the line that authenticates us to a bus as the user of the socket, with its "\r\n". */
void sysprof_dbus_introduce (char line[BUS_INTRODUCTION_SIZE]);

/* --- bytes on the socket --- */

typedef struct
{
  uint8_t *bytes; /* owned */
  size_t size;
  size_t sent;
  int fd; /* owned; sent with the first byte; -1 = none */
} BusOutgoing;

void sysprof_dbus_outgoing_clear (BusOutgoing *self);
/* Sends what is left. FALSE if the socket buffer is full (EAGAIN) or on another error, with
 * errno. */
bool sysprof_dbus_socket_send (int socket, BusOutgoing *out);

/* As recv(). Appends the descriptors that came with the bytes to `fds`, at most BUS_MOST_FDS,
 * and closes those beyond. `fds` NULL closes all of them. */
ssize_t
sysprof_dbus_socket_receive (int socket, void *bytes, size_t size, int *fds, unsigned *n_fds);

/* The size of the message that starts with these BUS_FIXED_SIZE bytes; 0 = not a valid
 * message. */
size_t sysprof_dbus_message_size (const uint8_t *bytes);

/* --- received messages --- */

/* A cursor. A value that is not there, or is invalid, sets `is_failed` and reads as 0 or "". */
typedef struct
{
  const uint8_t *bytes;
  size_t size;
  size_t at;
  bool is_big_endian;
  bool is_failed;
} BusReader;

uint8_t sysprof_dbus_read_u8 (BusReader *self);
uint32_t sysprof_dbus_read_u32 (BusReader *self);
uint64_t sysprof_dbus_read_u64 (BusReader *self);
/* The text in the message, which has no other NUL than its last byte. */
const char *sysprof_dbus_read_string (BusReader *self);
const char *sysprof_dbus_read_signature (BusReader *self);
/* Starts an array whose elements have this alignment in bytes. Returns the position behind the
 * last element. */
size_t sysprof_dbus_read_array (BusReader *self, size_t alignment);
void sysprof_dbus_read_align (BusReader *self, size_t alignment);
/* Skips a value of the first complete type of `signature`. */
void sysprof_dbus_skip (BusReader *self, const char *signature);

typedef enum
{
  BUS_METHOD_CALL = 1,
  BUS_METHOD_RETURN,
  BUS_ERROR,
  BUS_SIGNAL,
} BusMessageType;

#define BUS_NO_REPLY 1u /* a flag: the caller expects no reply */

/* The texts are part of `bytes`; NULL if the message does not have them. */
typedef struct
{
  uint8_t *bytes;
  size_t size;
  BusMessageType type;
  uint8_t flags;
  uint32_t serial;
  uint32_t reply_serial;
  const char *path;
  const char *interface;
  const char *member;
  const char *error; /* its name */
  const char *destination;
  const char *sender;
  const char *signature; /* never NULL */
  BusReader body;
  int fds[BUS_MOST_FDS]; /* owned */
  unsigned n_fds;
  bool is_too_long; /* has no body: it was longer than its receiver permits */
} BusMessage;

/* Takes `bytes`. NULL with EBADMSG: the header is not valid. */
BusMessage *sysprof_dbus_message_new (uint8_t *bytes, size_t size);
/* NULL does nothing. */
void sysprof_dbus_message_free (BusMessage *self);

/* --- messages to send --- */

/* Values. `is_failed`: there is no memory, or the message is longer than BUS_MOST_SENT. */
typedef struct
{
  uint8_t *bytes;
  size_t size;
  size_t allocated;
  bool is_failed;
} BusWriter;

void sysprof_dbus_write_u8 (BusWriter *self, uint8_t value);
void sysprof_dbus_write_u32 (BusWriter *self, uint32_t value);
/* `text` must be valid UTF-8: a bus disconnects clients that send other bytes. */
void sysprof_dbus_write_string (BusWriter *self, const char *text);
void sysprof_dbus_write_signature (BusWriter *self, const char *signature);
void sysprof_dbus_write_bytes (BusWriter *self, const void *bytes, size_t size);
void sysprof_dbus_write_align (BusWriter *self, size_t alignment);
/* Returns the position for sysprof_dbus_end_array(). */
size_t sysprof_dbus_begin_array (BusWriter *self, size_t alignment);
void sysprof_dbus_end_array (BusWriter *self, size_t position, size_t alignment);
void sysprof_dbus_writer_clear (BusWriter *self);

/* Members that a message does not have are NULL or 0. */
typedef struct
{
  BusMessageType type;
  uint8_t flags;
  uint32_t serial;
  uint32_t reply_serial;
  const char *path;
  const char *interface;
  const char *member;
  const char *error;
  const char *destination;
  const char *signature;
} BusHeader;

/* The bytes of a message. NULL if there is no memory or if it is too long. *(full)* */
uint8_t *sysprof_dbus_serialize (const BusHeader *header,
                                 const BusWriter *body,
                                 unsigned n_fds,
                                 size_t *size);

/* --- connections --- */

typedef struct BusConnection BusConnection;

/* Connects, authenticates and gets a name. `takes_fds`: whether messages with descriptors may
 * be received and sent. NULL with errno: ETIMEDOUT after `timeout_msec`, EACCES if the bus
 * rejects this user. */
BusConnection *
sysprof_dbus_connection_new (const char *addresses, bool takes_fds, int timeout_msec);
/* NULL does nothing. */
void sysprof_dbus_connection_free (BusConnection *self);
int sysprof_dbus_connection_get_fd (const BusConnection *self);
/* Bytes that wait to be sent. */
size_t sysprof_dbus_connection_get_unsent (const BusConnection *self);
/* Longer messages arrive without their body. The default is BUS_MOST_MESSAGE. */
void sysprof_dbus_connection_set_limit (BusConnection *self, size_t size);

/* Assigns the serial and queues the message; `body` may be NULL. Takes `fd` (-1 = none).
 * Returns the serial; 0: the message is too long, or there is no memory. */
uint32_t sysprof_dbus_connection_send (BusConnection *self,
                                       const BusHeader *header,
                                       const BusWriter *body,
                                       int fd);
/* The same for bytes of sysprof_dbus_serialize() in this machine's byte order; takes both. */
uint32_t
sysprof_dbus_connection_send_bytes (BusConnection *self, uint8_t *bytes, size_t size, int fd);
/* So that the serial of the next message cannot be guessed. */
void sysprof_dbus_connection_skip_serials (BusConnection *self, uint32_t n);
/* Sends what the socket accepts. FALSE if the connection is lost. */
bool sysprof_dbus_connection_flush (BusConnection *self);
/* The next complete message; NULL with EAGAIN: there is none yet; other errors: the connection
 * is lost. Reads nothing behind the end of this message. Skips messages whose header is not
 * valid. *(full)* */
BusMessage *sysprof_dbus_connection_receive (BusConnection *self);
/* Sends a call and waits for its reply; other messages that arrive meanwhile are dropped. NULL
 * with errno: ETIMEDOUT, EREMOTEIO for an error reply. *(full)* */
BusMessage *sysprof_dbus_connection_call (BusConnection *self,
                                          const BusHeader *header,
                                          const BusWriter *body,
                                          int timeout_msec);
/* Frees the connection and returns its socket, at the start of a message. */
int sysprof_dbus_connection_steal_socket (BusConnection *self);
