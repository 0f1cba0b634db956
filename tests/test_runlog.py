"""What a job leaves in its log, and what it shows."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline import runlog

CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture
def job(tmp_path):
    """Run statements after ``runlog.start``; gives exit code, terminal and log."""

    def run(statements):
        log = tmp_path / "logs" / "job.log"
        program = f"from pipeline import runlog\nrunlog.start({str(log)!r})\n{statements}"
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr, log.read_text(encoding="utf-8")

    return run


def test_start__output_goes_to_the_log_and_not_to_the_terminal(job):
    code, terminal, log = job(
        "import os, sys, warnings\n"
        "print('said')\n"
        "warnings.warn('warned')\n"
        "sys.stdout.flush()\n"
        "os.system('echo child')"
    )
    assert (code, terminal) == (0, "")
    assert all(word in log for word in ("said", "warned", "child"))


def test_start__a_mistake_is_one_message_on_the_terminal_and_a_traceback_in_the_log(job):
    code, terminal, log = job(
        "from pipeline.errors import DataError\nraise DataError('a.yaml: wrong\\n  and more')"
    )
    assert code == 1
    assert terminal.strip() == "ERROR a.yaml: wrong\n  and more"
    assert "Traceback" in log
    assert "a.yaml: wrong" in log


def test_start__a_full_disk_is_one_message_on_the_terminal(job):
    code, terminal, log = job("raise OSError(28, 'No space left on device', 'results/a.csv')")
    assert code == 1
    said = "ERROR results/a.csv: No space left on device: make room on the disk"
    assert terminal.strip().startswith(said)
    assert "Traceback" not in terminal
    assert "Traceback" in log
    assert said in log


def test_start__a_log_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/job.log").symlink_to("job.log")
    program = f"from pipeline import runlog\nrunlog.start({str(tmp_path / 'logs/job.log')!r})"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("ERROR ")
    assert "logs/job.log" in done.stderr
    assert "Traceback" not in done.stderr


def test_start__a_bug_shows_its_traceback_in_both(job):
    code, terminal, log = job("1 / 0")
    assert code == 1
    assert "Traceback" in terminal
    assert "ZeroDivisionError" in terminal
    assert "ZeroDivisionError" in log


def test_start__a_new_run_replaces_the_log(job):
    job("print('first')")
    assert job("print('second')")[2] == "second\n"


def test_mistakes__are_those_of_this_run_and_no_bugs(job, tmp_path):
    job("from pipeline.errors import DataError\nraise DataError('old')")
    later = time.time() + 10
    assert runlog.mistakes(tmp_path, later) == []
    for name, statements in {
        "b/wrong": "from pipeline.errors import DataError\nraise DataError('two\\n  lines')",
        "a": "from pipeline.errors import ModelError\nraise ModelError('one')",
        "bug": "1 / 0",
        "fine": "print('ERROR was not raised')",
    }.items():
        job(statements)
        target = tmp_path / f"all/{name}.log"
        target.parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "logs/job.log").rename(target)
    assert runlog.mistakes(tmp_path / "all", 0) == ["ERROR one", "ERROR two\n  lines"]


def test_mistakes__without_logs_are_none(tmp_path):
    assert runlog.mistakes(tmp_path / "nothing", 0) == []
