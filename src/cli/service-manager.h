// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

/* Notifies the service manager that started this process, if one did. */
void sysprof_cli_service_manager_notify (const char *state);
