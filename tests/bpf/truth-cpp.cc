// SPDX-License-Identifier: GPL-3.0-or-later

/* C++: virtual calls, exceptions through many frames, callbacks out of the library's templates. */

#include "truth-list.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <pthread.h>
#include <signal.h>

static volatile unsigned sink;
static volatile int is_over;

struct Listed
{
  Listed (uint16_t number)
  {
    TRUTH_ENTER (number);
  }
  ~Listed ()
  {
    LEAVE ();
  }
};

KEEP static unsigned
listed1_leaf (unsigned x)
{
  Listed here (1);

  for (unsigned i = 0; i < 60; i++)
    sink = sink + x * 7 + i;
  return sink;
}

struct Shape
{
  virtual ~Shape ()
  {
  }
  virtual unsigned area (unsigned x) = 0;
};

struct Square : Shape
{
  KEEP unsigned
  listed2_square (unsigned x)
  {
    Listed here (2);

    return listed1_leaf (x) * x;
  }
  unsigned
  area (unsigned x) override
  {
    return listed2_square (x) + 1;
  }
};

struct Base
{
  virtual ~Base ()
  {
  }
  unsigned filler = 3;
};

/* Called through thunks, which move `this`. */
struct Circle : Base, Shape
{
  KEEP unsigned
  listed3_circle (unsigned x)
  {
    Listed here (3);

    return listed1_leaf (x + filler) * 3;
  }
  unsigned
  area (unsigned x) override
  {
    return listed3_circle (x) + 1;
  }
};

KEEP static unsigned
listed4_sum_areas (const std::vector<std::unique_ptr<Shape>> &shapes)
{
  Listed here (4);
  unsigned sum = 0;

  for (unsigned i = 0; i < shapes.size (); i++)
    sum += shapes[i]->area (i);
  return sum;
}

struct Failure : std::runtime_error
{
  using runtime_error::runtime_error;
};

KEEP static unsigned
listed5_throw (unsigned depth)
{
  Listed here (5);
  std::string text (40, 'x');

  if (depth == 0)
    {
      listed1_leaf (1);
      throw Failure (text);
    }
  return listed5_throw (depth - 1) + (unsigned) text.size ();
}

KEEP static unsigned
listed6_rethrow (unsigned depth)
{
  Listed here (6);

  try
    {
      return listed5_throw (depth);
    }
  catch (const Failure &failure)
    {
      listed1_leaf (2);
      throw;
    }
}

KEEP static unsigned
listed7_catch (unsigned depth)
{
  Listed here (7);

  try
    {
      return listed6_rethrow (depth);
    }
  catch (const std::exception &failure)
    {
      return listed1_leaf ((unsigned) std::string (failure.what ()).size ());
    }
}

KEEP static bool
listed8_less (unsigned a, unsigned b)
{
  Listed here (8);

  return listed1_leaf (a) * 0 + a < b;
}

KEEP static unsigned
listed9_sort (unsigned seed)
{
  Listed here (9);
  std::vector<unsigned> numbers;
  std::map<std::string, unsigned> names;

  for (unsigned i = 0; i < 24; i++)
    numbers.push_back ((seed + i) * 2654435761u);
  std::sort (numbers.begin (), numbers.end (), [] (unsigned a, unsigned b) { return listed8_less (a, b); });
  for (unsigned number : numbers)
    names["number " + std::to_string (number)] = number;
  return names.begin ()->second;
}

KEEP static unsigned
listed10_through_function (const std::function<unsigned (unsigned)> &function)
{
  Listed here (10);

  return function (7) + 1;
}

KEEP static unsigned
listed11_destructor (unsigned x)
{
  Listed here (11);
  struct Ends
  {
    unsigned x;
    ~Ends ()
    {
      listed1_leaf (x);
    }
  };
  Ends ends = { x };

  try
    {
      Ends unwound = { x + 1 };

      (void) listed5_throw (3);
    }
  catch (const Failure &)
    {
      sink = sink + 1;
    }
  return ends.x;
}

KEEP static void
listed12_signal_handler (int number)
{
  TRUTH_ENTER_HANDLER (12);
  try
    {
      (void) listed5_throw (2);
    }
  catch (const Failure &)
    {
      listed1_leaf (3);
    }
  LEAVE_HANDLER ();
}

KEEP static unsigned
listed13_raise (void)
{
  Listed here (13);

  raise (SIGUSR1);
  return listed1_leaf (1);
}

KEEP static unsigned
listed14_round (unsigned round)
{
  Listed here (14);
  std::vector<std::unique_ptr<Shape>> shapes;
  unsigned result;

  for (unsigned i = 0; i < 8; i++)
    if (i & 1)
      shapes.emplace_back (new Square);
    else
      shapes.emplace_back (new Circle);
  result = listed4_sum_areas (shapes);
  result += listed7_catch (round % 12);
  result += listed9_sort (round);
  result += listed10_through_function ([round] (unsigned x) { return listed1_leaf (x + round) + listed1_leaf (x); });
  result += listed11_destructor (round);
  result += listed13_raise ();
  return result;
}

KEEP static void *
listed15_worker (void *data)
{
  begin_list ();
  TRUTH_ENTER (15);
  for (unsigned round = 1; !is_over; round++)
    sink = sink + listed14_round (round);
  LEAVE ();
  return NULL;
}

int
main ()
{
  struct sigaction plain = {};
  pthread_t thread;
  char byte;

  plain.sa_handler = listed12_signal_handler;
  sigaction (SIGUSR1, &plain, NULL);
  if (pthread_create (&thread, NULL, listed15_worker, NULL) != 0)
    abort ();
  puts ("ready");
  fflush (stdout);
  while (read (0, &byte, 1) != 0)
    continue;
  is_over = 1;
  pthread_join (thread, NULL);
  return 0;
}
