# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds duplicates with a list instead of a set, so its time grows with the square of the number of words."""


def find_duplicates(words):
    seen, duplicates = [], []
    for word in words:
        if word in seen:
            duplicates.append(word)
        else:
            seen.append(word)
    return duplicates


print(len(find_duplicates([f'word {i * 7919 % 14009}' for i in range(15000)])))
