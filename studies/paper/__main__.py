# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m studies.paper DIRECTORY`: make the experiments' numbers, figures and page."""
import json
from pathlib import Path
import re
import sys

from studies.paper.page import page
from studies.paper.study import numbers


def main(directory) -> None:
    """Write numbers.json, the figures and index.md into a directory that exists."""
    try:
        from studies.paper import figures, schemes
    except ModuleNotFoundError:
        sys.exit('figures need matplotlib: install it (extra `plot`)')
    directory = Path(directory)
    text = json.dumps(numbers(), indent=1, ensure_ascii=False)
    text = re.sub(r'\[[^][{}]*\]', lambda found: ' '.join(found[0].split()), text)  # a list a line
    (directory / 'numbers.json').write_text(text + '\n', encoding='utf-8')
    found = json.loads(text)
    schemes.draw_all(directory)
    figures.draw_town(directory / 'town.svg')
    figures.draw_routes(found, directory / 'routes.svg')
    figures.draw_distances(found['average_error'], directory / 'distances.svg')
    figures.draw_errors(found['average_error'], directory / 'errors.svg')
    (directory / 'index.md').write_text(page(found), encoding='utf-8')


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit('usage: python -m studies.paper DIRECTORY')
    main(sys.argv[1])
