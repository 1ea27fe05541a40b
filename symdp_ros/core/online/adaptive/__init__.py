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

*Words that all modules use.* The robot moves by ticks (`Chain.single`); `tables.report` of them
are from one report to the next, `tables.signal` from one signal to the next. A *row* is what a
state stores of the signals: one for each signal, with zones one for each report (`tables.row`).
A *place* is the number of what was drawn with a row, from 1: of a cell, or of a count vector of a
block; 0: nothing was drawn. What is *told* with a row is that, and the zone. Arrays of many words
have a *column* for each; a word within a block has one for each count vector so far.

`tables` has what all words share, `alphabet` the same where all can follow all; the worth of
reports is found by `expected_matches`, and looked up in `matches`; `own_moves` is what a word
learns, and `causal_adaptive` says how likely reports are.
"""
