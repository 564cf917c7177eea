// SPDX-License-Identifier: GPL-3.0-or-later

// A source file that takes long to compile, because it creates many classes from templates.
// It is only compiled, not run.

#include <map>
#include <string>
#include <tuple>
#include <vector>

template <int N>
struct Record
{
  std::tuple<int, std::string, Record<N - 1>> row;
  std::vector<Record<N - 1>> rows;
  std::map<std::string, std::vector<Record<N - 1>>> by_name;
};

template <>
struct Record<0>
{
  int value;
};

template struct Record<30>;

std::size_t
count (const Record<30> &record)
{
  return record.rows.size () + record.by_name.size ();
}

Record<30>
copy (const Record<30> &record)
{
  return record;
}
