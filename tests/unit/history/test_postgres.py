"""A PostgreSQL that is gone, silent, refuses or belongs to somebody else: one sentence, without the password."""

import pytest

from pytest_mcp.history.store import HistoryUnavailable, open_store
from tests.support.history.histories import counts, passing, run_row
from tests.support.history.postgres import silent_postgres

psycopg = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
SECRET = "hunter2"


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://team:{SECRET}@127.0.0.1:1/tests",
        f"postgresql://team:{SECRET}@/tests?host=/no/such/folder",
        f"postgresql://team:{SECRET}@127.0.0.1:1/tests?{SECRET}=1",
        f"postgresql://team:{SECRET}@[::1",
    ],
)
def test_a_server_that_is_not_there_is_told_without_the_password(address: str) -> None:
    with pytest.raises(HistoryUnavailable) as error:
        open_store(address)

    assert SECRET not in str(error.value)
    assert error.value.__suppress_context__
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("greets", "told"), [(False, "does not accept the connection"), (True, "did not answer within 2 seconds")]
)
def test_a_server_that_never_answers_is_given_up(greets: bool, told: str) -> None:
    with silent_postgres(greets=greets) as address, pytest.raises(HistoryUnavailable, match=told):
        open_store(address, creates=False)


def test_a_connection_that_breaks_costs_the_run_and_nothing_else(postgres_address: str) -> None:
    store = open_store(postgres_address)
    with psycopg.connect(postgres_address, autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pytest-mcp'")

        with pytest.raises(HistoryUnavailable):
            store.record(run_row(), passing(1))
    store.close()

    again = open_store(postgres_address)
    again.record(run_row(), passing(1))
    assert counts(again) == (1, 1, 1)
    again.close()


def test_a_user_without_rights_is_told_so_and_the_tables_of_others_do_not_matter(postgres_address: str) -> None:
    with psycopg.connect(postgres_address, autocommit=True) as admin:
        admin.execute("CREATE TABLE tests (mine INTEGER)")
        admin.execute("DROP ROLE IF EXISTS stranger")
        admin.execute("CREATE ROLE stranger LOGIN")
    stranger = postgres_address.replace("//history:", "//stranger:")

    with pytest.raises(HistoryUnavailable, match="does not let this user"):
        open_store(stranger)
    open_store(postgres_address).close()
    with pytest.raises(HistoryUnavailable, match="does not let this user"):
        open_store(stranger)


def test_a_user_who_may_write_needs_no_right_to_create(postgres_address: str) -> None:
    open_store(postgres_address).close()
    with psycopg.connect(postgres_address, autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS member")
        admin.execute("CREATE ROLE member LOGIN")
        admin.execute("GRANT USAGE ON SCHEMA pytest_mcp TO member")
        admin.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pytest_mcp TO member")

    store = open_store(postgres_address.replace("//history:", "//member:"))
    store.record(run_row(), passing(2))

    assert counts(store) == (1, 2, 2)
    store.close()
