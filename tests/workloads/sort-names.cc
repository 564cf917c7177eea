// SPDX-License-Identifier: GPL-3.0-or-later

/* Names, a map of them, and a sort through several layers of templates. The time goes to
 * comparisons of strings, which sort_names makes. */

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

struct Person
{
  std::string name;
  std::uint64_t number;
};

static std::vector<Person>
make_people (std::size_t n)
{
  std::vector<Person> people;
  std::uint64_t random = 1;

  for (std::size_t i = 0; i < n; i++)
    {
      random = random * 6364136223846793005u + 1442695040888963407u;
      people.push_back ({ "a name with a long common beginning " + std::to_string (random >> 33),
                          random });
    }
  return people;
}

template <typename Key>
struct ByKey
{
  Key key;

  bool operator() (const Person &a, const Person &b) const { return key (a) < key (b); }
};

template <typename Key>
static ByKey<Key>
by (Key key)
{
  return ByKey<Key>{ key };
}

__attribute__ ((noinline)) static void
sort_names (std::vector<Person> &people)
{
  std::stable_sort (people.begin (), people.end (),
                    by ([] (const Person &person) -> const std::string & { return person.name; }));
}

__attribute__ ((noinline)) static std::size_t
count_initials (const std::vector<Person> &people)
{
  std::map<char, std::vector<std::reference_wrapper<const Person>>> groups;

  for (const Person &person : people)
    groups[person.name.back ()].push_back (person);
  return groups.size ();
}

int
main ()
{
  std::vector<Person> people = make_people (150000);
  std::size_t n = 0;

  for (int i = 0; i < 24; i++)
    {
      std::vector<Person> copy = people;

      sort_names (copy);
      n += count_initials (copy);
    }
  std::printf ("%zu\n", n);
  return 0;
}
