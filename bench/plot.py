"""`plot.py RESULTS.json PICTURE.png`: draw the row `cost`.

It runs in an environment with matplotlib and without our package, so it parses the file itself.
"""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.ticker import StrMethodFormatter

# In the order of the legend: name, label, colour and marker (so that nobody needs the colours).
STYLES = {
    "pytest": ("python -m pytest -q", "#555555", "o"),
    "pytest-json-report": ("with pytest-json-report", "#d55e00", "s"),
    "pytest-reportlog": ("with pytest-reportlog", "#0072b2", "^"),
    "this server": ("this server, warm", "#009e73", "D"),
}
OURS = "this server"
WHOLE = StrMethodFormatter("{x:,.0f}")
Figures = list[dict[str, Any]]


def main(source: Path, picture: Path) -> None:
    entry = json.loads(source.read_text(encoding="utf-8"))["cost"]
    figures: Figures = entry["measurement"]["figures"]
    drawing, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    draw_seconds(left, figures)
    draw_ratios(right, figures)
    drawing.suptitle(f"Cost of running passing tests ({entry['machine']})", fontsize=11)
    drawing.savefig(picture, dpi=130)


def draw_seconds(axes: Any, figures: Figures) -> None:
    for name, (label, colour, mark) in STYLES.items():
        own = [figure for figure in figures if figure["of"] == name]
        seconds = [figure["spread"]["median"] for figure in own]
        axes.plot([figure["size"] for figure in own], seconds, color=colour, marker=mark, label=label, markersize=5)
    axes.set(xscale="log", yscale="log", xlabel="tests in the suite", ylabel="seconds, median of the rounds")
    axes.xaxis.set_major_formatter(WHOLE)
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.set_title("Time", fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=9)


def draw_ratios(axes: Any, figures: Figures) -> None:
    """With the quartiles as bars; the points of this server have numbers."""
    axes.axhline(1.0, color=STYLES["pytest"][1], linewidth=1)
    for name, (label, colour, mark) in STYLES.items():
        own = [figure for figure in figures if figure["of"] == name and figure["ratio"]]
        sizes, ratios = [figure["size"] for figure in own], [figure["ratio"] for figure in own]
        if not own:
            continue
        medians = [ratio["median"] for ratio in ratios]
        bars = [[r["median"] - r["low"] for r in ratios], [r["high"] - r["median"] for r in ratios]]
        axes.errorbar(sizes, medians, bars, color=colour, marker=mark, markersize=5, capsize=2, label=label)
        if name == OURS:
            annotate(axes, sizes, medians, colour)
    axes.set(xscale="log", xlabel="tests in the suite", ylabel="ratio to python -m pytest -q")
    axes.xaxis.set_major_formatter(WHOLE)
    axes.set_ylim(bottom=0)
    axes.set_title("Ratio of the same rounds, with quartiles", fontsize=10)
    axes.grid(alpha=0.3)


def annotate(axes: Any, sizes: list[int], medians: list[float], colour: str) -> None:
    for size, median in zip(sizes, medians, strict=True):
        axes.annotate(
            f"{median:.2f}", (size, median), (0, -14), textcoords="offset points", ha="center", color=colour, fontsize=9
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
