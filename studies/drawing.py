# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The canvas of the studies' figures, and their files: the same every time."""
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

INK = '#48505c'


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, of so many inches."""
    figure = Figure(figsize=(width, height), layout='constrained', facecolor='white')
    FigureCanvasAgg(figure)
    return figure


def finish(axis: Axes) -> None:
    """Give a plot its grid, and take away what needs no ink."""
    axis.grid(color='#e3e6ea', lw=0.8)
    axis.spines[['top', 'right']].set_visible(False)
    axis.tick_params(colors=INK, labelsize=9)


def save(figure: Figure, path: Path | str) -> None:
    """Write the file; its suffix is the format."""
    with matplotlib.rc_context({'svg.hashsalt': 'symdp_ros'}):
        figure.savefig(path, metadata={'Date': None} if str(path).endswith('.svg') else None)
