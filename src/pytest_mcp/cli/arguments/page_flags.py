"""`--html` and `--open`, which three commands have. What they do is in `cli/files/page_file.py`."""

import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--html", metavar="FILE", help="write a page about it: one file that needs nothing else")
    parser.add_argument("--open", action="store_true", help="open the page of --html in a browser")
