#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: the private median of 200 equal numbers is near that number: the more data
# agree, and the larger ε is, the nearer. What happens in diffprivlib: it is any number between the
# bounds, all equally likely, whatever ε. It draws one of the gaps between neighbours in the sorted
# data, weighed by its length, and then a point in that gap; equal numbers have no gap between
# them. So of 200 stays of 5 minutes, bounds 0 and 120, the median is somewhere from 0 to 120, as
# without any data. Where 120 of 200 are 5 minutes, and the others an hour and more, it is
# somewhere between 5 and 60. With half a minute of noise on each number before, it is near 5.
#
# Seen with diffprivlib 0.6.6 (with scikit-learn 1.5.2).
# Source: diffprivlib/tools/quantiles.py, quantile (the mechanism Exponential with
# measure=interval_sizes, which are zero between equal values). Its documentation does not say it.
# With more equal values, or a larger ε, it raises RuntimeError instead (its issue 107).
# Who is hurt: whoever releases medians, quantiles or percentiles of what is counted or rounded:
# minutes of stay, battery in percent, numbers of visits. The result is private, plausible, and not
# about the data; the budget is spent.
#
# Exit status: 0 if it is so, 1 if it has changed, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder

cat > "$folder/look.py" <<'PYTHON'
import sys

from diffprivlib.tools import median
import numpy as np

BOUNDS, TRIES, NEAR = (0.0, 120.0), 1000, 1.0
generator = np.random.RandomState(1)
equal = np.full(200, 5.0)  # minutes
most_equal = np.concatenate([np.full(120, 5.0), np.linspace(60.0, 120.0, 80)])
no_two_equal = np.linspace(0.0, 10.0, 200)


def medians(numbers, epsilon, noise):
    """Return private medians of numbers, to each of which noise was added."""
    return np.array([median(numbers + generator.uniform(-noise, noise, len(numbers)),
                            epsilon=epsilon, bounds=BOUNDS, random_state=seed)
                     for seed in range(TRIES)])


fine = True
for name, numbers, epsilon, noise, few in (
        ('200 stays of 5 minutes', equal, 0.1, 0.0, True),
        ('200 stays of 5 minutes', equal, 1.0, 0.0, True),
        ('200 stays of 5 minutes', equal, 5.0, 0.0, True),
        ('120 stays of 5 minutes, 80 of 60 and more', most_equal, 1.0, 0.0, True),
        ('120 stays of 5 minutes, 80 of 60 and more; noise before', most_equal, 1.0, 0.5, False),
        ('200 stays of 0 to 10 minutes, no two equal', no_two_equal, 1.0, 0.0, False)):
    found = medians(numbers, epsilon, noise)
    low, high = np.quantile(found, [0.1, 0.9])
    share = np.mean(abs(found - np.median(numbers)) <= NEAR)
    print(f'  {name}, ε = {epsilon}: the true median is {np.median(numbers):.1f}; of {TRIES} '
          f'private ones 80% are from {low:.1f} to {high:.1f}, {share:.1%} within {NEAR} of it')
    fine &= share <= 0.05 if few else share >= 0.85
sys.exit(0 if fine else 1)
PYTHON

python3 -m venv "$folder/venv" || exit 2
pinned='diffprivlib==0.6.6 scikit-learn==1.5.2'
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install -q --disable-pip-version-check $pinned 2>"$folder/pip.log" || {
    cat "$folder/pip.log" >&2; exit 2; }
echo "$pinned"
if "$folder/venv/bin/python" -W ignore "$folder/look.py"; then
    echo 'A private median of equal values does not depend on the values.'
else
    echo 'It has changed.'
    exit 1
fi
