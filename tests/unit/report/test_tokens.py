"""The real counts beside the texts were made once with the tokenizer of o200k."""

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.report import tokens

ANSWERS = [
    pytest.param(
        '{"verdict":"passed","exit_code":0,"summary":{"total":200,"passed":200,"failed":0,"skipped"'
        ':0,"errors":0,"duration":0.412},"notices":[],"collection_errors":[],"failure_groups":[],"t'
        'ests":[],"rerun":null,"text_output":"200 passed in 0.41s","json_report":null,"omitted":{"p'
        'assed":200,"skipped":0,"same_cause_failures":0,"text_characters":0,"hint":"detail: tests"}'
        "}",
        109,
        id="green",
    ),
    pytest.param(
        '{"count":200,"message":"ConnectionError: could not reach db.internal:5432 after 3 tries","'
        'location":"tests/conftest.py:14","example":"tests/test_orders.py::test_order[0]","node_ids'
        '":["tests/test_orders.py::test_order[1]","tests/test_orders.py::test_order[2]"]}',
        72,
        id="cause",
    ),
    pytest.param(
        '{"node_id":"tests/test_cart.py::test_total","outcome":"failed","duration":0.002,"message":'
        '"AssertionError: assert 1449 == 1450","traceback":"    def test_total():\\n        cart = C'
        'art([Item(\\"pen\\", 250), Item(\\"ink\\", 1200)])\\n>       assert cart.total() == 1450\\nE    '
        "   AssertionError: assert 1449 == 1450\\nE        +  where 1449 = total()\\nE        +    wh"
        "ere total = <shop.cart.Cart object at 0x7f3a5c1e9d90>.total\\n\\ntests/test_cart.py:12: Asse"
        'rtionError"}',
        148,
        id="test",
    ),
    pytest.param(
        '{"node_id":"tests/shop/test_cart.py::TestCart::test_total[EUR-3]","module":"tests.shop.tes'
        't_cart","class":"TestCart","function":"test_total","file":"tests/shop/test_cart.py","line"'
        ":41}",
        50,
        id="found",
    ),
    pytest.param(
        '{"file":"tests/test_x.py","error_type":"ModuleNotFoundError","message":"No module named \'n'
        'othing_here\'","line":2,"traceback":"tests/test_x.py:2: in <module>\\n    import helper\\nhel'
        "per.py:7: in <module>\\n    import nothing_here\\nE   ModuleNotFoundError: No module named '"
        "nothing_here'\"}",
        79,
        id="uncollected",
    ),
]
TEXTS_OF_PYTEST = [
    pytest.param(
        "    def test_total():\n"
        '        cart = Cart([Item("pen", 250), Item("ink", 1200)])\n'
        ">       assert cart.total() == 1450\n"
        "E       AssertionError: assert 1449 == 1450\n"
        "E        +  where 1449 = total()\n"
        "E        +    where total = <shop.cart.Cart object at 0x7f3a5c1e9d90>.total\n"
        "\n"
        "tests/test_cart.py:12: AssertionError",
        100,
        id="traceback",
    ),
    pytest.param(
        "E         Full diff:\n"
        "E           {\n"
        "E               'currency': 'EUR',\n"
        "E         -     'total': 1450,\n"
        "E         ?               ^^\n"
        "E         +     'total': 1399,\n"
        "E         ?               ^^\n"
        "E           }",
        53,
        id="diff",
    ),
    pytest.param(
        "tests/conftest.py:14: in database\n"
        "    return connect(settings.DATABASE_URL, timeout=5)\n"
        "/usr/lib/python3.11/site-packages/psycopg/connection.py:98: in connect\n"
        "    raise last_ex.with_traceback(None)\n"
        "E   psycopg.OperationalError: connection failed: connection to server at "
        '"127.0.0.1", port 5432 failed: Connection refused',
        88,
        id="deep",
    ),
]
LANGUAGES = [
    pytest.param(
        "Die Bestellung konnte nicht gespeichert werden, weil die Verbindung zur Datenbank unterbro"
        "chen wurde. Größe und Straße müssen übermittelt werden.",
        26,
        id="german",
    ),
    ("Не удалось сохранить заказ: соединение с базой данных было прервано, повторите попытку позже.", 23),  # noqa: RUF001 - the alphabet is the point
    ("无法保存订单：与数据库的连接已中断，请稍后再试。", 17),  # noqa: RUF001 - the alphabet is the point
    ("注文を保存できませんでした。データベースへの接続が切断されました。", 20),
    ("ไม่สามารถบันทึกคำสั่งซื้อได้", 10),
    ("تعذر حفظ الطلب بسبب انقطاع الاتصال", 8),
    ("ऑर्डर सहेजा नहीं जा सका", 10),
    ("La commande n'a pas pu être enregistrée : la connexion à la base de données a été interrompue.", 23),
]
# Other output of failing tests.
ODDITIES = [
    ("qxzjvkwpfhgbmtrcnlysdoaeuiqzxkjvwpqxzjvkwpfhgbmtrcnlysdoaeuiqzxkjvwpqxzjvkwpfhgbmtrcnlysdoaeuiqzxkjvwp", 60),
    ("aGVsbG8gd29ybGQhIFRoaXMgaXMgYSB0ZXN0IG9mIGJhc2U2NCBlbmNvZGluZyBpbiBhIG1lc3NhZ2U=", 53),
    ("5d41402abc4b2a76b9719d911017c592e3b0c44298fc1c149afbf4c8996fb924", 37),
    ("✅ 3 passed ❌ 1 failed 🔥🚀🎉", 15),
    ("0.13436424411240122 0.8474337369372327 0.763774618976614 0.2550690257394217", 34),
    ("https://example.com/api/v2/orders?id=83&token=eyJhbGciOiJIUzI1NiJ9", 27),
]


NOISE = b"".join(hashlib.sha256(bytes([number])).digest() for number in range(40))


def scattered(first: int, end: int) -> str:
    codes = (first + int.from_bytes(NOISE[place : place + 3]) % (end - first) for place in range(0, 1200, 3))
    return "".join(map(chr, codes))


# What no vocabulary has words for.
WITHOUT_WORDS = [
    pytest.param(base64.b64encode(NOISE).decode(), 1174, id="base64"),
    pytest.param(base64.urlsafe_b64encode(NOISE[:300]).decode(), 272, id="base64 of urls"),
    pytest.param(NOISE[:400].hex(), 447, id="hexadecimal"),
    pytest.param(scattered(0x4E00, 0xA000), 776, id="ideographs"),
    pytest.param(scattered(0x3400, 0x4E00), 1193, id="rare ideographs"),
    pytest.param(scattered(0x20000, 0x2A000), 1580, id="rarest ideographs"),
    pytest.param(scattered(0xAC00, 0xD7A4), 888, id="syllables"),
    pytest.param(scattered(0x1F300, 0x1F700), 898, id="pictographs"),
    pytest.param(scattered(0xC0, 0x180), 514, id="mojibake"),
    pytest.param("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" * 20, 600, id="spinner"),
    pytest.param("漢字" * 300, 600, id="two ideographs"),
    pytest.param("🔥🚀🎉✅❌⚠️" * 50, 550, id="emoji"),
    pytest.param("┏━━━┳━━━┓┃ a ┃ b ┃└───┴───┘" * 20, 540, id="table"),
]


@pytest.mark.parametrize(("text", "real"), WITHOUT_WORDS)
def test_texts_without_words_are_estimated_closely_and_rather_too_high(text: str, real: int) -> None:
    assert 0.97 <= tokens.estimate(text) / real <= 1.6


@pytest.mark.parametrize("ruler", ["=" * 80, "─" * 80, "-" * 80 + "\\n" + "." * 80])
def test_rulers_cost_little(ruler: str) -> None:
    assert tokens.estimate(ruler) < 20


@pytest.mark.parametrize(("text", "real"), [*ANSWERS, *TEXTS_OF_PYTEST])
def test_what_an_answer_holds_is_estimated_closely_and_rather_too_high(text: str, real: int) -> None:
    assert 0.95 <= tokens.estimate(text) / real <= 1.35


@pytest.mark.parametrize(("text", "real"), LANGUAGES)
def test_other_languages_are_estimated_and_rather_too_high(text: str, real: int) -> None:
    assert 0.9 <= tokens.estimate(text) / real <= 2


@pytest.mark.parametrize(("text", "real"), ODDITIES)
def test_no_text_is_estimated_far_too_low(text: str, real: int) -> None:
    assert tokens.estimate(text) / real >= 0.7


@given(st.text())
def test_any_text_has_an_estimate_of_at_least_one(text: str) -> None:
    assert tokens.estimate(text) >= 1


@pytest.mark.parametrize(
    "text", ["x" * 200_000, "=" * 200_000, " " * 200_000, "\\n" * 100_000, "é" * 100_000, "a1" * 100_000]
)
def test_a_long_text_takes_no_more_than_its_length(text: str) -> None:
    """A pattern that backtracks would take quadratic time here."""
    assert tokens.estimate(text) <= len(text) * 1.5
