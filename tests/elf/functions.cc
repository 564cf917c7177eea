// SPDX-License-Identifier: GPL-3.0-or-later

/* C++ names of the kinds that demanglers find hard: templates, lambdas, operators, nested scopes. */

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace outer
{
namespace
{
template <typename T, int N> struct Box
{
  T values[N];
  T operator[] (int i) const { return values[i]; }
  template <typename F> T fold (F f) const
  {
    T sum{};
    for (int i = 0; i < N; i++)
      sum = f (sum, (*this)[i]);
    return sum;
  }
};
}

int
use (const std::map<std::string, std::vector<std::shared_ptr<int>>> &map)
{
  Box<int, 3> box{ { 1, 2, (int) map.size () } };
  return box.fold ([] (int a, int b) { return a + b; });
}
}

int
main ()
{
  std::map<std::string, std::vector<std::shared_ptr<int>>> map;
  map["a"].push_back (std::make_shared<int> (3));
  return outer::use (map);
}
