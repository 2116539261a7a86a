"""Names as the packaging library sees them; it is there because pytest needs it."""

from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pytest_mcp.python import requirements

NAMES = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,6}[A-Za-z0-9])?", fullmatch=True) | st.just("pytest")
EXTRAS = st.sampled_from(["", "[testing]", " [a, b]"])
VERSIONS = st.sampled_from(["", ">=8", " >= 8, <9", "==8.*", "~=8.1", "!=7", " (>=8)", " @ https://example.org/x.whl"])
MARKERS = st.sampled_from(["", " ; python_version < '3'", " ; extra == 'x'"])


@given(st.tuples(NAMES, EXTRAS, VERSIONS, MARKERS).map("".join))
def test_a_requirement_has_the_name_that_packaging_reads(text: str) -> None:
    assert requirements.names([f" {text}"]) == {canonicalize_name(Requirement(text).name)}
