"""Where everything is that `make tokens` fetches: a tokenizer, libraries, other tools. Git does not see it."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / ".tokens"
