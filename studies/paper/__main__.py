# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m studies.paper DIRECTORY`: make the experiments' numbers, figures and page."""
from studies.common import command, write_numbers
from studies.paper import figures
from studies.paper.page import page
from studies.paper.study import numbers


def main(directory) -> None:
    """Write numbers.json, the figures and index.md into a directory."""
    found = write_numbers(numbers(), directory / 'numbers.json')
    figures.draw_town(directory / 'town.svg')
    figures.draw_routes(found, directory / 'routes.svg')
    figures.draw_distances(found['average_error'], directory / 'distances.svg')
    figures.draw_errors(found['average_error'], directory / 'errors.svg')
    (directory / 'index.md').write_text(page(found), encoding='utf-8')


if __name__ == '__main__':
    command('paper', main)
