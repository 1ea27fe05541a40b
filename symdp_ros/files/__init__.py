# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Files: reading what others wrote, safely, and writing what must survive a crash."""
