// SPDX-License-Identifier: GPL-3.0-or-later

/* Short forms of long C++ and Rust names. */

#include "text/text.h"

#include <string.h>

#define ELLIPSIS "\342\200\246"

static void
test_what_fits_stays (void)
{
  static const char *const names[] = { "", "f", "std::vector<int>::push_back(int&&)",
                                       "a<b>(c)" };

  for (size_t i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *name = sysprof_dup_short_name (names[i], strlen (names[i]));

      g_assert_cmpstr (name, ==, names[i]);
    }
}

/* Names as nm --demangle and rustfilt print them, without any room. */
static void
test_shortest_form (void)
{
  static const struct
  {
    const char *name;
    const char *shortest;
  } cases[] = {
    { "std::vector<int, std::allocator<int> >::push_back(int&&)",
      "std::vector<" ELLIPSIS ">::push_back(" ELLIPSIS ")" },
    { "void std::vector<int, std::allocator<int> >::emplace_back<int>(int&&)",
      "std::vector<" ELLIPSIS ">::emplace_back<" ELLIPSIS ">(" ELLIPSIS ")" },
    { "Foo::bar() const", "Foo::bar() const" },
    { "Foo::bar(char const*) const [clone .isra.0]",
      "Foo::bar(" ELLIPSIS ") const [clone .isra.0]" },
    { "(anonymous namespace)::helper(int, int)",
      "(anonymous namespace)::helper(" ELLIPSIS ")" },
    { "ns::(anonymous namespace)::T<int>::f()",
      "ns::(anonymous namespace)::T<" ELLIPSIS ">::f()" },
    /* operators are no brackets */
    { "Foo::operator<(Foo const&) const", "Foo::operator<(" ELLIPSIS ") const" },
    { "bool operator< <int>(A<int> const&, B)", "operator< <" ELLIPSIS ">(" ELLIPSIS ")" },
    { "std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)",
      "std::operator<< <" ELLIPSIS ">(" ELLIPSIS ")" },
    { "Ptr<Foo>::operator->() const", "Ptr<" ELLIPSIS ">::operator->() const" },
    { "Ptr<Foo>::operator->*(int) const",
      "Ptr<" ELLIPSIS ">::operator->*(" ELLIPSIS ") const" },
    { "bool A::operator><int>(int)", "A::operator><" ELLIPSIS ">(" ELLIPSIS ")" },
    { "auto A::operator<=><int>(A const&)", "A::operator<=><" ELLIPSIS ">(" ELLIPSIS ")" },
    { "F::operator()(int, int)", "F::operator()(" ELLIPSIS ")" },
    { "Matrix operator-<float>(Matrix const&)", "operator-<" ELLIPSIS ">(" ELLIPSIS ")" },
    { "A::operator std::vector<int>() const", "A::operator std::vector<" ELLIPSIS ">() const" },
    { "operator new(unsigned long)", "operator new(" ELLIPSIS ")" },
    { "Foo::cooperator<int>(int)", "Foo::cooperator<" ELLIPSIS ">(" ELLIPSIS ")" },
    /* attributes of a function */
    { "non-virtual thunk to A<int>::f(int)",
      "non-virtual thunk to A<" ELLIPSIS ">::f(" ELLIPSIS ")" },
    { "guard variable for f<int>(int)::x",
      "guard variable for f<" ELLIPSIS ">(" ELLIPSIS ")::x" },
    /* lambdas */
    { "main::{lambda(int)#1}::operator()(int) const",
      "main::{lambda(" ELLIPSIS ")#1}::operator()(" ELLIPSIS ") const" },
    { "f(int) const::{lambda(auto:1)#2}::operator()<int>(int) const",
      "f(" ELLIPSIS ") const::{lambda(" ELLIPSIS ")#2}::operator()<" ELLIPSIS ">(" ELLIPSIS
      ") const" },
    /* functions as types, comparisons as arguments */
    { "std::function<void (int)>::operator()(int) const",
      "std::function<" ELLIPSIS ">::operator()(" ELLIPSIS ") const" },
    { "g<(1 > 2), (3 < 4)>()", "g<" ELLIPSIS ">()" },
    { "h<(5 >> 1)>::i()", "h<" ELLIPSIS ">::i()" },
    { "auto k<int>(int)::decltype (x->y)", "k<" ELLIPSIS ">(" ELLIPSIS ")::decltype (x->y)" },
    { "foo[abi:cxx11]<int>(int)", "foo[abi:cxx11]<" ELLIPSIS ">(" ELLIPSIS ")" },
    /* Rust */
    { "<alloc::vec::Vec<u8, A> as std::io::Write>::write_all",
      "<Vec<" ELLIPSIS "> as Write>::write_all" },
    { "core::ptr::drop_in_place::<alloc::string::String>",
      "core::ptr::drop_in_place::<" ELLIPSIS ">" },
    { "core::slice::<impl [T]>::iter", "core::slice::<impl [T]>::iter" },
    { "<F as core::ops::FnOnce<(u8,)>>::call_once", "<F as FnOnce<" ELLIPSIS ">>::call_once" },
    { "a::b::<fn(u8) -> u8>::{closure#0}", "a::b::<" ELLIPSIS ">::{closure#0}" },
    /* others */
    { "-[NSString(Extra) compare:options:]", "-[NSString(Extra) compare:options:]" },
    { "+[Foo<Bar> new]", "+[Foo<Bar> new]" },
    { "py::<module>:/usr/lib/python3/site.py", "py::<module>:/usr/lib/python3/site.py" },
    { "JS:~<anonymous> node:internal/main:1:1", "JS:~<anonymous> node:internal/main:1:1" },
    { "[unknown (in libfoo)]", "[unknown (in libfoo)]" },
    { "/tmp/a.out (deleted)", "/tmp/a.out (deleted)" },
    { "void demo.Main.run(java.lang.String, int)", "void demo.Main.run(" ELLIPSIS ")" },
    /* no names at all */
    { "f(((", "f(((" },
    { ")))>>>", ")))>>>" },
    { "a<b(c>d)e", "a<b(" ELLIPSIS ")e" },
    { "f(ab", "f(ab" },
    { "operator", "operator" },
    { "operator<", "operator<" },
    { "\377\376<\377\377>", "\377\376<" ELLIPSIS ">" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = sysprof_dup_short_name (cases[i].name, 0);

      g_assert_cmpstr (name, ==, cases[i].shortest);
    }
}

/* The least important part is removed first, and no more than necessary. */
static void
test_leaves_out_as_little_as_can_be (void)
{
  static const char whole[] =
      "void ns::map<int, std::less<int> >::put<int>(int, std::less<int>)";
  static const char *const forms[] = {
    whole,
    "void ns::map<int, std::less<int> >::put<int>(" ELLIPSIS ")",
    "void ns::map<int, std::less<" ELLIPSIS "> >::put<int>(" ELLIPSIS ")",
    "void ns::map<" ELLIPSIS ">::put<" ELLIPSIS ">(" ELLIPSIS ")",
    "ns::map<" ELLIPSIS ">::put<" ELLIPSIS ">(" ELLIPSIS ")",
  };
  size_t form = 0;

  for (size_t columns = strlen (whole); columns > 0; columns--)
    {
      g_autofree char *name = sysprof_dup_short_name (whole, columns);

      if (form + 1 < G_N_ELEMENTS (forms) && sysprof_text_columns (forms[form]) > columns)
        form++;
      g_assert_cmpstr (name, ==, forms[form]);
    }
  g_assert_cmpuint (form, ==, G_N_ELEMENTS (forms) - 1);
}

static void
test_return_type (void)
{
  static const struct
  {
    const char *type;
    const char *rest;
  } cases[] = {
    { "", "" },
    { "", "main" },
    { "", "sort(unsigned int, char)" },
    { "void ", "std::sort<int*, ns::less<a b> >(int*, int*)" },
    { "std::pair<int, a b> const& ", "ns::map<int (*) (a b)>::put<int>(int)" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = g_strconcat (cases[i].type, cases[i].rest, NULL);

      g_assert_cmpstr (sysprof_skip_return_type (name), ==, cases[i].rest);
    }
}

static void
test_suffixes (void)
{
  static const struct
  {
    const char *stem;
    const char *suffix;
  } cases[] = {
    { "f", "" },
    { "", "" },
    { "parse", ".isra.0" },
    { "parse", ".part.1.constprop.0" },
    { "parse", ".cold" },
    { "parse", ".cold.12" },
    { "parse", ".lto_priv.0" },
    { "parse", ".llvm.1234567890123456789" },
    { "parse", ".localalias" },
    { "parse", ".__uniq.123.llvm.456" },
    { "ns::f(int)", " [clone .isra.0]" },
    { "ns::f(int)", " [clone .part.0] [clone .cold]" },
    { "core::fmt::write", "::h0123456789abcdef" },
    { "core::fmt::write", "::h0123456789abcdef.llvm.77" },
    { "f.isra.x", "" },
    { "f.misra.0", "" },
    { ".cold", "" },
    { "f.", "" },
    { "f.0", "" },
    { "a::h0123", "" },
    { "main._omp_fn.0", "" },
    { "x [clone", "" },
    { "[clone .cold]", "" },
    { "]", "" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = g_strconcat (cases[i].stem, cases[i].suffix, NULL);

      g_assert_cmpuint (sysprof_name_stem (name), ==, strlen (cases[i].stem));
    }
}

/* Names of a hundred thousand letters of each kind. With time that grew with the square of that, this would take minutes. */
static void
test_long_names (void)
{
  static const char *const parts[] = { "<",       ">",        "(",    ")",         "a<",
                                       "a(",      "a<b>",     "a()",  "operator<", "operator",
                                       "a::",     "<a as b>", "a<(>", " ",         ".cold",
                                       ".isra.0", " [clone ", "]",    "f<a>(",     "[",
                                       "0",       "\377",     "->",   "::<" };

  for (size_t i = 0; i < G_N_ELEMENTS (parts); i++)
    for (size_t k = 0; k < G_N_ELEMENTS (parts); k++)
      {
        g_autoptr (GString) name = g_string_new ("x");
        g_autofree char *shortened = NULL;

        while (name->len < 50000)
          g_string_append (name, parts[i]);
        while (name->len < 100000)
          g_string_append (name, parts[k]);
        shortened = sysprof_dup_short_name (name->str, 80);
        g_assert_cmpuint (strlen (shortened), <=, 2 * name->len);
        g_assert_cmpuint (sysprof_name_stem (name->str), <=, name->len);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/short-name/what-fits-stays", test_what_fits_stays);
  g_test_add_func ("/short-name/shortest-form", test_shortest_form);
  g_test_add_func ("/short-name/leaves-out-as-little-as-can-be",
                   test_leaves_out_as_little_as_can_be);
  g_test_add_func ("/short-name/return-type", test_return_type);
  g_test_add_func ("/short-name/suffixes", test_suffixes);
  g_test_add_func ("/short-name/long-names", test_long_names);
  return g_test_run ();
}
