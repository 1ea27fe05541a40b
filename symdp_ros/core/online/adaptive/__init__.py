# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The policy adaptive: it draws signals, and publishes reports that are decoded from them.

*A live symbol.* `adaptive.AdaptiveWord.step` draws its signal (`in_zones.ZonedWord`, in the zone
that it tells). It goes by the cells (`cells`) or the block (`blocks`, `turns`) that
`words.Words.prepare` chose before. `Words.take` then makes the report that is due, of what is kept
by tick (`known`), and lets that move on (`moves`); and `prepare` chooses for the next symbol.

*A log* is the same with delay=None: all reports are made by `Words.finish`. Many logs are drawn by
`many.draw`, in one `Words` that has a column for each.

`tables` has what all words share, `alphabet` the same where all can follow all; the worth of
reports is found by `expected_matches`, and looked up in `matches`; `own_moves` is what a word
learns, and `causal_adaptive` says how likely reports are.
"""
