"""`make demo` works, and says honestly what happened."""

import re
import sys

from tests.support.captured import captured
from tests.support.paths import ROOT

EXAMPLE = ROOT / "examples" / "shop"
# Four calls and the start of a server take a few seconds; this only ends a demo that hangs.
MAX_DEMO = 120


def test_the_demo_goes_from_red_to_green_and_leaves_the_example_as_it_was() -> None:
    before = {path: path.read_bytes() for path in EXAMPLE.rglob("*.*") if path.is_file()}

    done = captured([sys.executable, ROOT / "scripts" / "demo.py"], timeout=MAX_DEMO)

    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"verdict: (.*)", done.stdout) == ['"failed"', '"passed"', '"passed"']
    assert '+VAT = Decimal("0.2")' in done.stdout
    assert done.stdout.splitlines()[-1] == "== Done. The last verdict is 'passed'."
    assert {path: path.read_bytes() for path in EXAMPLE.rglob("*.*") if path.is_file()} == before
