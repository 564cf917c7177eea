// SPDX-License-Identifier: GPL-3.0-or-later

/* A table of orders in memory, and queries that sort it without an index: list_orders. */

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#define N_ORDERS  200000
#define N_QUERIES 15

static void
check (sqlite3 *database, int status)
{
  if (status != SQLITE_OK && status != SQLITE_DONE && status != SQLITE_ROW)
    {
      fprintf (stderr, "%s\n", sqlite3_errmsg (database));
      exit (1);
    }
}

__attribute__ ((noinline)) static void
add_orders (sqlite3 *database)
{
  check (database,
         sqlite3_exec (database,
                       "CREATE TABLE orders (number INTEGER PRIMARY KEY, customer TEXT);"
                       "WITH RECURSIVE counted (n) AS "
                       "(SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 200000) "
                       "INSERT INTO orders "
                       "SELECT n, 'customer ' || (n * 7919 % 100003) FROM counted",
                       NULL, NULL, NULL));
}

__attribute__ ((noinline)) static long
list_orders (sqlite3 *database)
{
  sqlite3_stmt *query;
  long n = 0;

  check (database, sqlite3_prepare_v2 (database, "SELECT number FROM orders ORDER BY customer",
                                       -1, &query, NULL));
  while (sqlite3_step (query) == SQLITE_ROW)
    n++;
  check (database, sqlite3_finalize (query));
  return n;
}

int
main (void)
{
  sqlite3 *database;
  long n = 0;

  check (NULL, sqlite3_open (":memory:", &database));
  add_orders (database);
  for (int i = 0; i < N_QUERIES; i++)
    n += list_orders (database);
  sqlite3_close (database);
  printf ("%ld\n", n);
  return n != (long) N_ORDERS * N_QUERIES;
}
