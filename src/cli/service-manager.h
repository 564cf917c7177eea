// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

/* Tells the service manager that started us, if one did. */
void sysprof_cli_service_manager_notify (const char *state);
