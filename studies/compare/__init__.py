# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Other privacy mechanisms beside ours: docs/evidence/comparison.md.

Each section is a module of this package, named in `__main__.SECTIONS`, with

- `measure(quick) -> dict`: its numbers, ready for JSON,
- a page (`common.filled`) of the names of the module, of `numbers` and of each number; below ---
  stands its answer for the head of the page,
- `draw(numbers, folder)`, where it has a figure: writes folder/comparison-….svg.
"""
