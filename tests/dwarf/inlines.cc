// SPDX-License-Identifier: GPL-3.0-or-later

/* Names with scopes, templates, constructors, lambdas, a local class: functions whose names stand two references away. */

#include "inlines.h"

#include <algorithm>
#include <string>
#include <vector>

extern volatile int sink;
volatile int sink;

namespace outer
{
namespace
{
inline int
hidden (int x)
{
  return header_middle (x) + 3;
}
}

struct Shape
{
  int sides;

  explicit Shape (int n) : sides (hidden (n)) {}
  virtual ~Shape () { sink = sides; }
  int area () const { return header_leaf (sides); }
  virtual int weight () const;

  template <typename T>
  T
  scaled (T by) const
  {
    return by * area ();
  }
};

int
Shape::weight () const
{
  return scaled (3) + static_cast<int> (scaled (2.5));
}
}

static int
sort_some (std::vector<int> &values)
{
  struct Local
  {
    static int twist (int x) { return header_leaf (x) ^ 0x55; }
  };
  int offset = static_cast<int> (values.size ());

  std::sort (values.begin (), values.end (), [offset] (int a, int b) {
    return Local::twist (a + offset) < Local::twist (b);
  });
  return values.empty () ? 0 : values.front ();
}

int
main (int argc, char **)
{
  std::vector<int> values;
  outer::Shape shape (argc);
  std::string text;

  for (int i = 0; i < argc * 10; i++)
    values.push_back (shape.weight () * i);
  text.append (values.size (), 'x');
  return sort_some (values) + static_cast<int> (text.size ());
}
