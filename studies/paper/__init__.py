# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The paper's experiments, on a street map of our own (`python -m studies.paper`)."""
