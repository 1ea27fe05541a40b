#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: in OpenDP, unit_of(contributions=1) with loss_of(epsilon=1.0) hides one record
# of the data in a mean, by noise that fits ε = 1. What happens where the size of the data is
# stated, which a mean asks for: there is hardly any noise. OpenDP counts records that are added or
# removed. Two sets of one size are an even number of these apart; so nothing else is within
# distance 1, and any noise will do. A record with another value is distance 2. For 100 numbers
# from 0 to 10, the scale of the noise for ε = 1 is 0.00000000000003, for rounding: what is
# released is the mean. With contributions=2 it is 0.1, as one expects.
#
# Seen with opendp 0.16.0.
# Source: rust/src/transformations/sum/float/checked/mod.rs, make_sized_bounded_float_checked_sum
# (d_in / 2, of integers), which make_mean uses. The user guide says so of sums
# (aggregation-sum.ipynb); what unit_of and make_mean say of themselves does not.
# Who is hurt: whoever states how many records there are, and counts one for a person, as examples
# for data of unknown size do; also who reads map(1), or searches the noise for d_in=1.
#
# Exit status: 0 if it is so, 1 if it has changed, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder

cat > "$folder/look.py" <<'PYTHON'
import sys

import opendp.prelude as dp

dp.enable_features('contrib')
COUNT, BOUNDS = 100, (0.0, 10.0)
hours = [float(number % 11) for number in range(COUNT)]  # of each robot, say
others = [10.0, *hours[1:]]                              # one record is another
numbers = dp.atom_domain(T=float, nan=False)
seen = []


def mean(scale):
    """Return OpenDP's mean of COUNT bounded numbers, with Laplace noise of a scale."""
    space = (dp.vector_domain(dp.atom_domain(bounds=BOUNDS, nan=False), size=COUNT),
             dp.symmetric_distance())
    return space >> dp.t.then_mean() >> dp.m.then_laplace(scale)


def released(data, contributions):
    """Return the scale that OpenDP chooses for ε = 1, and a mean that it releases with it."""
    context = dp.Context.compositor(
        data=data, privacy_unit=dp.unit_of(contributions=contributions),
        privacy_loss=dp.loss_of(epsilon=1.0), split_evenly_over=1,
        domain=dp.vector_domain(numbers, size=COUNT))
    query = context.query().clamp(BOUNDS).mean().laplace()
    return query.param(), query.release()


for distance, small in ((1, True), (2, False)):
    loss = mean(1.0).map(distance)
    scale = dp.binary_search_param(mean, d_in=distance, d_out=1.0)
    print(f'  distance {distance}: ε of noise of scale 1 is {loss:.2g}; for ε = 1 the scale found '
          f'is {scale:.2g}')
    seen += [(loss < 1e-9) == small, (scale < 1e-9) == small]

truths = [sum(data) / COUNT for data in (hours, others)]
print(f'  the means of two logs that differ in one record: {truths[0]}, {truths[1]}')
for contributions, small in ((1, True), (2, False)):
    runs = [released(data, contributions) for data in (hours, others)]
    print(f'  unit_of(contributions={contributions}), ε = 1: scale {runs[0][0]:.2g}; released: '
          f'{runs[0][1]:.6f}, {runs[1][1]:.6f}')
    seen.append((runs[0][0] < 1e-9) == small)
    if small:
        seen += [abs(run[1] - truth) < 1e-9 for run, truth in zip(runs, truths)]
sys.exit(0 if all(seen) else 1)
PYTHON

python3 -m venv "$folder/venv" || exit 2
pinned='opendp==0.16.0'
"$folder/venv/bin/pip" install -q --disable-pip-version-check "$pinned" 2>"$folder/pip.log" || {
    cat "$folder/pip.log" >&2; exit 2; }
echo "$pinned"
if "$folder/venv/bin/python" "$folder/look.py"; then
    echo 'One contribution to data of a known size gets hardly any noise.'
else
    echo 'It has changed.'
    exit 1
fi
