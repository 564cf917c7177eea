// SPDX-License-Identifier: GPL-3.0-or-later

/* Throws through `depth` functions, whose destructors call `func`, and calls it once more where it is caught. */
extern "C" void backtrace_throw_and_catch (unsigned depth, void (*func) (void));

namespace
{
struct Caller
{
  void (*func) (void);
  ~Caller ()
  {
    func ();
  }
};

__attribute__ ((noinline)) void
fall (unsigned depth, void (*func) (void))
{
  if (depth == 0)
    throw 1;

  Caller caller{ func };
  fall (depth - 1, func);
}
}

void
backtrace_throw_and_catch (unsigned depth, void (*func) (void))
{
  try
    {
      fall (depth, func);
    }
  catch (int)
    {
      func ();
    }
}
