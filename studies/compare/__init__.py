# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Other privacy mechanisms beside ours: docs/evidence/comparison.md.

Each section is a module of this package, named in `__main__.SECTIONS`, with

- `TITLE`: its heading,
- `measure(quick) -> dict`: its numbers, ready for JSON; raises `section.Skipped` with a reason,
- `short(numbers) -> str`, where the page begins with its answer,
- `page(numbers) -> str`: its text in Markdown, from these numbers alone,
- `draw(numbers, folder)`, where it has figures: writes folder/comparison-….svg.
"""
