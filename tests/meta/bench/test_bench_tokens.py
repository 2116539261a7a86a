"""The count of tokens is one of right answers: its projects, its truth checks and its words. No tokenizer is needed."""

import re
import subprocess
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from bench.tokens import answers, names, projects, report, results, sources, truth
from bench.tokens.__main__ import ENVIRONMENT, main
from bench.tokens.projects import Project
from bench.tokens.real import command as real
from bench.tokens.results import Entry
from bench.tokens.rows import MISSING, ROWS
from bench.tokens.transcripts import WAYS
from scripts import npm

Doctor = Callable[[Any], object]
# The rows that are asked of something else than execute_tests, or refused.
UNEXECUTED = ("missing-id", "listed", "counted", "explained", "tools")


def shell(project: Path, *arguments: str) -> str:
    """What pytest prints there, with whole diffs and no captured output."""
    options = ["-q", "--tb=short", "--show-capture=no", "-o", "verbosity_assertions=2"]
    return subprocess.run(
        [ENVIRONMENT.python, "-m", "pytest", *options, *arguments],
        cwd=project,
        capture_output=True,
        encoding="utf-8",
        check=False,
    ).stdout


def counts(printed: str) -> Counter[str]:
    """The closing line, in the server's words."""
    found = re.findall(r"(\d+) (passed|failed|skipped|xfailed|error)", printed.splitlines()[-1])
    words = {"xfailed": "skipped", "error": "errors"}
    told: Counter[str] = Counter()
    for number, word in found:
        told[words.get(word, word)] += int(number)
    return told


def promised(project: Project) -> Counter[str]:
    return +Counter({name: getattr(project, name) for name in ("passed", "failed", "skipped", "errors")})


@pytest.mark.parametrize(
    "project",
    [
        pytest.param(projects.one_failing(), id="one failing"),
        pytest.param(projects.mixed(), id="mixed"),
        pytest.param(projects.one_fixture(30), id="one fixture"),
        pytest.param(projects.deep(30), id="deep"),
        pytest.param(projects.noisy(30), id="noisy"),
        pytest.param(projects.uncollected(), id="uncollected"),
    ],
)
def test_a_project_has_the_outcomes_the_causes_and_the_diff_that_it_promises(tmp_path: Path, project: Project) -> None:
    printed = shell(project.write(tmp_path / "shop"))

    assert counts(printed) == promised(project)
    assert [cause for cause in project.causes if cause.words not in printed or cause.file not in printed] == []
    assert truth.lines_missing(project.diff, printed) == []
    for broken in project.uncollected:
        assert broken.file in printed
        assert re.search(rf"\b{broken.error_type}: .*{re.escape(broken.cause)}", printed)
        assert re.search(rf"{Path(broken.file).name}(:|\", line ){broken.line}\b", printed)


def test_the_tests_of_a_project_are_those_that_it_names(tmp_path: Path) -> None:
    project = projects.mixed()

    listed = shell(project.write(tmp_path / "shop"), "--collect-only").splitlines()

    assert sorted(line for line in listed if "::" in line) == sorted(project.node_ids)
    assert MISSING not in listed


def test_a_deep_failure_has_ten_frames_and_two_hundred_printed_lines(tmp_path: Path) -> None:
    project = projects.deep(8)

    printed = shell(project.write(tmp_path / "shop"), "--show-capture=all", project.node_ids[7])

    assert len(re.findall(r"^(?:tests|shop)/\w+\.py:\d+: in ", printed, re.MULTILINE)) == 10
    assert printed.count("of the price list was read") == sources.DEEP_LINES == 200


def test_ten_of_a_dozen_causes_never_say_the_same_twice(tmp_path: Path) -> None:
    project = projects.noisy(36)

    printed = shell(project.write(tmp_path / "shop"), "--tb=line")

    said = Counter(re.findall(r"^\S+\.py:\d+: (.+)$", printed, re.MULTILINE))
    assert len(project.causes) == 12
    assert sorted(said.values()) == [*[1] * 30, 3, 3]


def test_ten_thousand_tests_have_ten_thousand_names_in_four_hundred_files() -> None:
    tests = names.tests(10_000)

    assert len(set(tests)) == len(tests) == 10_000
    assert len({Path(file).name for file, _ in tests}) == 400


def executed(project: Project) -> Any:
    """A right answer, as short as can be."""
    numbers = {name: getattr(project, name) for name in ("passed", "failed", "skipped", "errors")}
    told = [f"{cause.words} in {cause.file}" for cause in project.causes]
    diff = "\n".join(f"E     {line}" for line in project.diff)
    return {
        "verdict": "failed" if project.exit_code else "passed",
        "exit_code": project.exit_code,
        "summary": {"total": sum(numbers.values()), **numbers, "duration": 0.1},
        "notices": [],
        "collection_errors": [
            {
                "file": it.file,
                "line": it.line,
                "error_type": it.error_type,
                "message": it.cause,
                "traceback": None,
                "also": 0,
            }
            for it in project.uncollected
        ],
        "failure_groups": [group(project.failed + project.errors - 1, told, diff)] if told else [],
        "tests": [FAILED] if told else [],
        "rerun": None,
        "text_output": "",
        "json_report": None,
        "omitted": {"passed": project.passed, "hint": "raise max_tokens"} if told else None,
    }


# Alone with its cause, so it has no group.
FAILED = {"node_id": "", "outcome": "failed", "duration": 0.1, "message": "", "traceback": ""}


def group(count: int, told: list[str], diff: str) -> Any:
    return {"count": count, "message": "\n".join([*told, diff]), "location": None, "example": None, "node_ids": []}


def without(words: str) -> Doctor:
    """Leaves words out of the causes."""

    def doctor(answer: Any) -> None:
        answer["failure_groups"][0]["message"] = answer["failure_groups"][0]["message"].replace(words, "")

    return doctor


@pytest.mark.parametrize("name", [name for name in ROWS if name not in UNEXECUTED])
def test_a_right_answer_is_not_complained_of(name: str) -> None:
    subject = ROWS[name].subject()

    assert subject.truth(executed(subject.project)) == []


@pytest.mark.parametrize(
    ("row", "doctor"),
    [
        pytest.param("passing", lambda it: it.update(verdict="failed"), id="verdict"),
        pytest.param("passing", lambda it: it.update(exit_code=5), id="exit code"),
        pytest.param("passing", lambda it: it["summary"].update(passed=199), id="count"),
        pytest.param("passing", lambda it: it["summary"].update(total=199), id="total"),
        pytest.param("mixed", lambda it: it.update(omitted=None), id="silent omission"),
        pytest.param("mixed", lambda it: it["omitted"].update(hint=""), id="omission without a way out"),
        pytest.param("mixed", lambda it: it.update(tests=[]), id="failure without a group"),
        pytest.param("mixed", lambda it: it["failure_groups"][0].update(example=0), id="failure counted twice"),
        pytest.param("passing", lambda it: it.pop("json_report"), id="key"),
        pytest.param("passing", lambda it: it["summary"].pop("duration"), id="key of the summary"),
        pytest.param("mixed", lambda it: it["failure_groups"][0].pop("location"), id="key of a group"),
        pytest.param("mixed", lambda it: it["failure_groups"][0].update(count=2), id="group"),
        pytest.param("mixed", lambda it: it.update(failure_groups=[]), id="groups"),
        pytest.param("mixed", without("the warehouse does not answer"), id="fixture's cause"),
        pytest.param("mixed", without("'discount': 5,"), id="line of the diff"),
        pytest.param("mixed", without("20457"), id="half a line of the diff"),
        pytest.param("noisy", without("not what was reserved"), id="one cause of twelve"),
        pytest.param("deep", without("shop/feeds.py"), id="place of a cause"),
        pytest.param("uncollected", lambda it: it["collection_errors"].pop(), id="file"),
        pytest.param("uncollected", lambda it: it["collection_errors"][0].update(also=1), id="number of files"),
        pytest.param("uncollected", lambda it: it["collection_errors"][0].update(line=1), id="line"),
        pytest.param("uncollected", lambda it: it["collection_errors"][0].update(error_type="Error"), id="type"),
        pytest.param("uncollected", lambda it: it["collection_errors"][1].update(message="no"), id="cause"),
        pytest.param("uncollected", lambda it: it.update(verdict="passed"), id="green though not collected"),
    ],
)
def test_a_wrong_answer_is_complained_of(row: str, doctor: Doctor) -> None:
    subject = ROWS[row].subject()
    answer = executed(subject.project)

    doctor(answer)

    assert subject.truth(answer) != []


def test_lines_of_a_diff_count_only_in_their_order_and_in_one_text() -> None:
    diff = ("- 1", "+ 2")

    assert truth.cut_diff({"a": "E   - 1\n  ? ^\nE   +     2"}, diff) == []
    assert truth.cut_diff({"a": "E   {2} != {1}"}, diff) == []
    assert truth.cut_diff({"a": "+ 2\n- 1"}, diff) != []
    assert truth.cut_diff({"a": "E   {2} != {3}"}, diff) != []
    assert truth.cut_diff({"a": "- 1", "b": "+ 2"}, diff) != []
    assert truth.cut_diff({}, diff) != []


def listed(project: Project) -> Any:
    tests = [
        {"node_id": node_id, "module": "", "class": None, "function": "", "file": "", "line": 1}
        for node_id in project.node_ids
    ]
    none: list[Any] = []
    whole = {"count": len(tests), "notices": none, "collection_errors": none}
    return {**whole, "tests": tests, "files": none, "omitted": None}


def test_a_list_that_is_not_whole_is_wrong_and_so_is_one_of_other_tests() -> None:
    project = projects.passing(30)
    judge, whole = truth.of_listing(project), listed(project)
    shorter, other, miscounted = deepcopy(whole), deepcopy(whole), {**whole, "count": 29}
    shorter["tests"].pop()
    other["tests"][0]["node_id"] = MISSING

    assert judge(whole) == []
    assert all(judge(answer) for answer in (shorter, other, miscounted, {**whole, "omitted": {"tests": 1}}))


def by_file(project: Project) -> Any:
    files: dict[str, list[str]] = {}
    for node_id in project.node_ids:
        file, _, name = node_id.partition("::")
        files.setdefault(file, []).append(f"{name}:1")
    return [{"file": file, "count": len(names), "tests": names} for file, names in files.items()]


def test_a_list_by_file_is_as_good_if_it_has_every_test() -> None:
    project = projects.passing(30)
    judge = truth.of_listing(project)
    right = {**listed(project), "tests": [], "files": by_file(project)}

    assert judge(right) == []
    assert judge({**right, "files": right["files"][1:]}) != []
    assert judge({**right, "files": [{**file, "tests": None} for file in right["files"]]}) != []


def test_counts_must_add_up_and_say_how_many_tests_are_not_listed() -> None:
    project = projects.passing(30)
    judge = truth.of_counting(project)
    first, last = by_file(project)
    files = [first, {**last, "tests": None}]
    right = {**listed(project), "tests": [], "files": files, "omitted": {"tests": last["count"], "hint": "narrow"}}
    invented = [{**first, "tests": ["test_a:1", *first["tests"][1:]]}, files[1]]

    assert judge(right) == []
    for change in ({"count": 31}, {"files": files[1:]}, {"files": invented}, {"omitted": None}):
        assert judge({**right, **change}) != []


def test_an_explanation_must_be_whole_ready_and_count_every_test() -> None:
    judge = truth.of_explanation(projects.passing(30))
    right: dict[str, Any] = dict.fromkeys(truth.EXPLANATION[""].split())
    right |= {"ready": True, "tests": {"count": 30, "deselected": 0, "uncollected": []}}

    assert judge(right) == []
    assert judge({**right, "ready": False}) != []
    assert judge({**right, "tests": {**right["tests"], "count": 29}}) != []
    assert judge({key: value for key, value in right.items() if key != "git"}) != []


def test_a_refusal_must_have_its_code_and_name_the_test() -> None:
    judge = truth.of_refusal(MISSING)
    right = {"code": -32602, "message": f"there is no {MISSING}", "data": {}}

    assert judge(right) == []
    assert all(judge({**right, **change}) for change in ({"code": -32000}, {"message": "no"}))
    assert judge({"code": -32602, "message": MISSING}) != []


def test_every_tool_must_be_described() -> None:
    tools = [{"name": name, "description": "it", "inputSchema": {"type": "object"}} for name in truth.TOOLS]

    assert truth.of_tools(tools) == []
    assert truth.of_tools(tools[1:]) != []
    assert truth.of_tools([*tools[:-1], {**tools[-1], "description": ""}]) != []


@pytest.mark.parametrize("name", ["one-failing", "missing-id"])
def test_the_real_server_is_asked_and_what_it_says_is_true(tmp_path: Path, name: str) -> None:
    subject = ROWS[name].subject()

    answer = answers.ask(subject.question, ENVIRONMENT.python, subject.project.write(tmp_path / "shop"))

    assert subject.truth(answer) == []


def entry(answer: int, *complaints: str, estimate: int | None = None) -> Entry:
    printed = dict(zip(WAYS, (900, 600, 500, 1200), strict=True))
    return Entry("2026-01-31", "pytest 9.9", answer, estimate, printed, complaints)


def lines_of(row: str, text: str) -> list[str]:
    return [line for line in text.splitlines() if f"`{row}`" in line]


def test_a_goal_is_met_up_to_its_very_value_and_missed_beyond_it_and_wrong_whatever_it_costs() -> None:
    met, missed, wrong = (
        report.tables({"deep": each}) for each in (entry(900), entry(901), entry(1, "a cause is not told: this"))
    )

    assert lines_of("deep", met)[0].endswith("| 900 | ≤ 900 | met | 2026-01-31 |")
    assert lines_of("deep", missed)[0].endswith("| 901 | ≤ 900 | **missed** | 2026-01-31 |")
    assert lines_of("deep", wrong)[0].endswith("| 1 | ≤ 900 | **wrong** | 2026-01-31 |")
    assert "- `deep` is wrong: a cause is not told: this" in wrong
    assert "is wrong" not in met + missed


def test_a_row_that_was_not_counted_says_so() -> None:
    assert lines_of("deep", report.tables({}))[0].endswith("| not measured yet | ≤ 900 | - | - |")


def test_pytests_words_stand_beside_the_answer_with_how_many_times_they_cost() -> None:
    cheap, dear, wrong = (report.tables({"deep": each}) for each in (entry(30), entry(1200), entry(30, "no cause")))

    assert lines_of("deep", cheap)[1] == "| `deep` | 30 | 900 | 600 | 500 | 1,200 | 20 |"
    assert lines_of("deep", dear)[1] == "| `deep` | 1,200 | 900 | 600 | 500 | 1,200 | 0.5 |"
    assert lines_of("deep", wrong)[2] == "| `deep` | 30 | 900 | 600 | 500 | 1,200 | - |"


def test_an_estimate_may_be_too_low_by_three_per_cent_and_by_no_more() -> None:
    met, missed = (report.tables({"deep": entry(1000, estimate=estimate)}) for estimate in (970, 969))

    assert lines_of("deep", met)[-1] == "| `deep` | 1,000 | 970 | 0.970 | met |"
    assert lines_of("deep", missed)[-1] == "| `deep` | 1,000 | 969 | 0.969 | **missed** |"
    assert report.NO_ESTIMATE in report.tables({"deep": entry(1000)})
    assert report.NO_ESTIMATE not in met


def test_what_is_kept_comes_back_as_it_was(tmp_path: Path) -> None:
    kept = {"deep": entry(900, "wrong", estimate=901), "mixed": entry(2)}

    results.save(kept, tmp_path / "results.json")

    assert results.load(tmp_path / "results.json") == kept


def test_the_document_is_what_its_counts_say() -> None:
    """After a change of words: `python -m bench.tokens --render`."""
    assert report.FILE.read_text(encoding="utf-8") == report.document(results.load(), real.document())


def test_a_package_that_npm_cannot_fetch_is_one_sentence_and_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = [path.read_bytes() for path in (results.FILE, report.FILE)]
    monkeypatch.setattr(npm, "FOLDER", tmp_path)
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "empty"))
    monkeypatch.setenv("npm_config_offline", "true")

    code = main(["one-passing"])

    said = capsys.readouterr()
    assert (code, said.out) == (1, "")
    assert said.err.splitlines()[-1].startswith("npm could not fetch gpt-tokenizer@4.0.0: exit code 1: npm error")
    assert [path.read_bytes() for path in (results.FILE, report.FILE)] == before
