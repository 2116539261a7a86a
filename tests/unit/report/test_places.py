import pytest

from pytest_mcp.report import places


@pytest.mark.parametrize(
    "path",
    [
        "/usr/lib/python3.12/json/decoder.py",
        "../other/cart.py",
        "<string>",
        "<frozen importlib._bootstrap>",
        "C:\\Python312\\Lib\\json\\decoder.py",
        ".venv/lib/python3.12/site-packages/attr/_make.py",
        "env/lib/python3/dist-packages/yaml/loader.py",
        "env/lib/python3.9/json/decoder.py",
    ],
)
def test_a_path_outside_the_root_or_in_an_environment_is_foreign(path: str) -> None:
    assert places.is_foreign(path)
    assert not places.is_source(path)


@pytest.mark.parametrize("path", ["src/shop/cart.py", "cart.py", "lib/cart.py", "contest.py", "latest/cart.py"])
def test_other_code_in_the_root_is_source(path: str) -> None:
    assert not places.is_foreign(path)
    assert places.is_source(path)


@pytest.mark.parametrize(
    "path",
    [
        "test_cart.py",
        "cart_test.py",
        "cart_tests.py",
        "conftest.py",
        "src/shop/conftest.py",
        "tests/helpers.py",
        "src/shop/test/helpers.py",
        "src/test_cart.py",
    ],
)
def test_code_of_tests_is_no_source(path: str) -> None:
    assert not places.is_foreign(path)
    assert places.is_test_code(path)
    assert not places.is_source(path)


@pytest.mark.parametrize(
    ("path", "short", "package"),
    [
        ("/v/lib/python3.12/site-packages/twisted/web/x.py", "site-packages/twisted/web/x.py", "site-packages/twisted"),
        ("/usr/lib/python3/dist-packages/yaml/loader.py", "dist-packages/yaml/loader.py", "dist-packages/yaml"),
        ("/usr/lib/python3.12/json/decoder.py", "python3.12/json/decoder.py", "python3.12/json"),
        ("/v/lib/python3.12/site-packages/six.py", "site-packages/six.py", "site-packages/six.py"),
        ("/opt/shared/cart.py", "/opt/shared/cart.py", "/opt/shared"),
        ("<string>", "<string>", "<string>"),
    ],
)
def test_what_leads_to_a_library_is_left_out(path: str, short: str, package: str) -> None:
    assert (places.short(path), places.package(path)) == (short, package)


TEXT = """\
tests/test_cart.py:3: in test_total
    total(["a:3: b"])
src/my shop/cart.py:12: in total
    return sum(cart)
>   a.py:4: ValueError
E   b.py:5: ValueError
C:\\x\\cart.py:13:
FAILURE: check 4 == 3
tests/test_cart.py:8 in test_total() -> check.equal(4, 3)
/usr/lib/python3.12/x.py:9: json.JSONDecodeError"""


def test_every_frame_that_pytest_prints_is_found_and_nothing_else() -> None:
    assert places.in_text(TEXT.replace("13:", "13: ")) == [
        "tests/test_cart.py:3",
        "src/my shop/cart.py:12",
        "C:\\x\\cart.py:13",
        "tests/test_cart.py:8",
        "/usr/lib/python3.12/x.py:9",
    ]
    assert places.in_text("") == []


def test_prose_with_a_time_in_it_is_no_place() -> None:
    assert places.in_text("meeting at 3:30 in room B\ntest_a.py:8 in check()") == ["test_a.py:8"]
