# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Sphinx builds these pages as a site: `make docs`, or rosdoc2 (rosdoc2.yaml).

The pages are written for a reader of the repository. Those outside this folder (`_OUTSIDE`) are
links here, as Sphinx, and what rosdoc2 copies, know this folder alone.
"""
import re

project, author, copyright = 'symdp_ros', 'The symdp_ros authors', '2026, the symdp_ros authors'
extensions = ['myst_parser', 'sphinx.ext.autodoc']
html_theme, html_title = 'furo', 'symdp_ros'
html_static_path, html_css_files = ['_static'], ['site.css']
exclude_patterns = ['_build']
root_doc = 'index'

myst_heading_anchors = 4       # as in the repository: what links name
myst_links_external_new_tab = True
suppress_warnings = ['misc.highlighting_failure']  # `…` in code stands for what is left out

default_role = 'code'          # a name in single backticks, in docstrings
nitpicky = True
nitpick_ignore_regex = [('py:.*', '(?!symdp_ros).*')]  # types of other packages: no network
autodoc_member_order = 'bysource'
autodoc_typehints = 'none'     # docstrings give shapes, units and ranges

_CONTENTS = """
```{toctree}
:hidden:
:caption: Use it
tutorial
robots
parameters
installing
ros
fleet
isolation
visits
zones
privacy
why-not
logs
log-release
ledger
archives
maps
python
api
```
```{toctree}
:hidden:
:caption: Evidence
evidence/index
evidence/comparison
evidence/optimum
evidence/gains
evidence/choice
evidence/visit-rule
evidence/coordination
evidence/tables
evidence/experiments/index
evidence/benchmarks
evidence/long-runs
```
```{toctree}
:hidden:
:caption: The project
SECURITY
CONTRIBUTING
CHANGELOG
releasing
QUALITY_DECLARATION
CODE_OF_CONDUCT
```
"""


_OUTSIDE = ('index', 'SECURITY', 'CONTRIBUTING', 'CHANGELOG', 'QUALITY_DECLARATION',
            'CODE_OF_CONDUCT')


def _as_in_the_site(app, page, source):
    """Make what leads out of this folder lead to the links in it, or say where it is."""
    text = source[0]
    if page in _OUTSIDE:
        label = f'page-{page.lower()}'
        text = f'.. _{label}:\n\n{text}' if page == 'CHANGELOG' else f'({label})=\n{text}'
        text = text.replace('](docs/', '](').replace('```mermaid', '```text')
    text = re.sub(rf'\]\((?:\.\./)*({"|".join(_OUTSIDE[1:])})\.[^)]+\)',
                  lambda found: f'](#page-{found[1].lower()})', text)
    text = re.sub(r'\[([^]]+)\]\((?:\.\./)+((?:config|studies)/[^)]+)\)', r'\1 (`\2`)', text)
    source[0] = text + (_CONTENTS if page == 'index' else '')


def _in_restructured_text(app, what, name, thing, options, lines):
    """Take the bars of docstrings as they are: |E|, and the rows of tables."""
    table = [line.startswith('|') for line in lines]
    for number in range(len(lines) - 1, -1, -1):
        if not table[number]:
            lines[number] = lines[number].replace('|', '\\|')
        else:
            first = number == 0 or not table[number - 1]
            lines[number:number + 1] = [*(['::', ''] * first), '   ' + lines[number]]


def setup(app):
    """Register what prepares the pages."""
    app.connect('source-read', _as_in_the_site)
    app.connect('autodoc-process-docstring', _in_restructured_text)
