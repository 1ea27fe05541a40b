# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Random draws that are exact: integers below a bound, discrete Laplace noise, buffered bits."""
