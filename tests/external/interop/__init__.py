"""Other people's clients, and the official judges of the protocol."""

import pytest

# Its asserts say what differs, as those of a test do.
pytest.register_assert_rewrite("tests.external.interop.answers")
