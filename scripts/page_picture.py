"""Takes docs/page.png, the picture in the README: the page of a real run of the example, in a real Chromium.

`make picture` runs it with the Python of `.envs/page`. CHROMIUM names a browser that is not on PATH.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "page.png"
BROWSER = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
SIZE = {"width": 1080, "height": 880}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        write(page)
        take(page)
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size // 1024} KB")
    return 0


def write(page: Path) -> None:
    command: list[str | Path] = [
        ROOT / ".venv" / "bin" / "pytest-mcp",
        "--root=examples/shop",
        "--python=.envs/demo/bin/python",
        "run",
    ]
    # Its tests fail: that is what there is to see.
    subprocess.run([*command, f"--html={page}"], cwd=ROOT, check=False, stdout=subprocess.DEVNULL)


def take(page: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        shown = browser.new_page(viewport=SIZE, color_scheme="light")
        shown.goto(page.as_uri())
        shown.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
