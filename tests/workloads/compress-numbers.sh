#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A pipeline that is as slow as its slowest program: gzip. The others wait for it.
seq 400000 | awk '{ print $1 * 7919 % 1000003, $1 }' | gzip -9 | wc -c
