// SPDX-License-Identifier: GPL-3.0-or-later

/* Names of functions, as they are collected from files. */

#pragma once

#include "symbolize/request.h"

/* Takes over the answers to the batch's offsets. Addresses without a name get the reason. */
void sysprof_names_use (Symbolization *self,
                        const FileBatch *batch,
                        const ElfAnswers *answers,
                        UnnamedReason reason);
