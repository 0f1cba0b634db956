"""A job that starts warm is what ``python script`` would be, however it or those around it end."""

import ast
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.workflow.scratch import CHECKOUT, digests
from workflow import warm_jobs
from workflow.warm_jobs import Warm

CLIENT = CHECKOUT / "workflow/warm_client.py"
PATIENCE = 20
"""Seconds after which what should have happened has not."""


@pytest.fixture
def warm(tmp_path, monkeypatch):
    """A server without libraries, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warm_jobs, "LIBRARIES", ())
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    # Done after all else that is done at the end.
    (tmp_path / "sitecustomize.py").write_text("import atexit; atexit.register(print, 'end')\n")
    (tmp_path / ".run").mkdir()
    warm = Warm(lambda: warm_jobs.FEWEST)
    warm.address()
    yield warm
    warm.end()


def server_of(warm):
    """The process of the server."""
    return warm._server


def plainly(script):
    """Command that runs a script in an interpreter of its own."""
    return [sys.executable, str(script)]


def warmly(script):
    """Command that asks the server of this folder for it."""
    return [sys.executable, "-I", "-S", str(CLIENT), ".run/warm", str(script)]


def ended(command):
    """Exit code, output and errors of a command."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    return done.returncode, done.stdout, done.stderr


def until(true):
    """Wait until something is so."""
    begun = time.monotonic()
    while not true():
        assert time.monotonic() < begun + PATIENCE
        time.sleep(0.005)


ENDS = {
    "returns": "",
    "code": "import sys; sys.exit(3)",
    "code below zero": "import sys; sys.exit(-1)",
    "code above a byte": "import sys; sys.exit(256)",
    "true": "import sys; sys.exit(True)",
    "text": "import sys; sys.exit('no such kernel')",
    "nothing": "raise SystemExit",
    "exception": "def inner():\n    1 / 0\n\ninner()",
    "chain": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError(1) from e",
    "syntax": "x = = 1",
    "interrupt": "raise KeyboardInterrupt",
    "killed": "import os; os.kill(os.getpid(), 9)",
    "terminated": "import os; os.kill(os.getpid(), 15)",
    "at once": "import os; os._exit(7)",
    "hook": "import sys; sys.excepthook = lambda *a: print(a[:2], a[2].tb_lineno); 1 / 0",
    "at exit": "import atexit; atexit.register(print, 'last'); print('first'); 1 / 0",
    "thread": (
        "import threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(0.05), print('late'))).start()\n"
    ),
    "no newline": "import sys; sys.stdout.write('a'); sys.stderr.write('b')",
    "full": "import os, sys; os.dup2(os.open('/dev/full', os.O_WRONLY), 1); print('lost')",
}
SEES = {
    "name": "print(__name__, __file__, __doc__, sys.modules['__main__'].__file__)",
    "arguments": "print(sys.argv, sys.orig_argv, sys.executable)",
    "path": "print(sys.path, os.getcwd())",
    "environment": "print(sorted(os.environ.items())); os.system('env | sort')",
    "modules": "print([n for n in sys.modules if n.startswith(('pipeline', 'workflow'))])",
    "flags": "import warnings; print(sys.flags, warnings.filters, sys.warnoptions)",
    "signals": "import signal; print([signal.getsignal(n) for n in (2, 13, 15, 17)])",
    "streams": "print([s.encoding for s in (sys.stdin, sys.stdout)], sys.stdin.read())",
    "group": "print(os.getpgrp(), os.getsid(0), os.umask(0), os.nice(0))",
    "collector": "import gc; print(gc.isenabled(), gc.get_threshold())",
    "locale": "import locale; print(locale.setlocale(locale.LC_ALL), locale.getencoding())",
    "spawned": "import subprocess; subprocess.run([sys.executable, '-c', 'print(5)'], check=True)",
    "pool": (
        "import concurrent.futures as f, multiprocessing as m\n"
        "del __file__\n"
        "with f.ProcessPoolExecutor(1, m.get_context('spawn')) as pool:\n"
        "    print(pool.submit(abs, -2).result())\n"
    ),
}
ROWS = ENDS | {f"sees {name}": f"import os, sys\n{text}" for name, text in SEES.items()}


@pytest.mark.parametrize("name", ROWS)
def test_job__is_what_python_makes_of_the_script(warm, tmp_path, name, record_property):
    record_property("table", "jobs that start warm")
    script = tmp_path / "some folder/tmp1.row.py"
    script.parent.mkdir()
    script.write_text(ROWS[name], encoding="utf-8")
    expected = ended(plainly(script))
    assert ended(warmly(script)) == expected


def test_job__holds_no_descriptor_of_the_server(warm, tmp_path):
    script = tmp_path / "fds.py"
    script.write_text("import os; print(os.listdir('/proc/self/fd'))")
    waiting = start(tmp_path, "wait")
    # Those of the streams, the connection to the client, and the folder that is listed.
    code, said, _ = ended(warmly(script))
    assert said.endswith("end\n")
    assert (code, len(re.findall(r"\d+", said))) == (0, 5)
    waiting.kill()
    waiting.wait()


def start(tmp_path, name):
    """Start a job that says who it is, and then waits for long."""
    script = tmp_path / f"tmp1.{name}.py"
    told = tmp_path / name
    script.write_text(
        f"import os, time\nopen('{told}', 'w').write(f'{{os.getpid()}}\\n')\ntime.sleep(600)\n"
    )
    client = subprocess.Popen(warmly(script))
    until(lambda: told.exists() and told.read_text().endswith("\n"))
    return client


def job(tmp_path, name):
    return psutil.Process(int((tmp_path / name).read_text()))


def gone(process):
    """Whether a process has ended, be it that nobody has asked for its end."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_job__has_the_name_of_its_rule_and_the_server_as_parent(warm, tmp_path):
    client = start(tmp_path, "simulate")
    found = job(tmp_path, "simulate")
    assert (found.name(), found.ppid()) == ("simulate", server_of(warm).pid)
    client.kill()
    client.wait()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_kill__of_the_job_ends_the_client_alike(warm, tmp_path, number):
    client = start(tmp_path, "victim")
    job(tmp_path, "victim").send_signal(number)
    assert client.wait(PATIENCE) == -number


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_kill__of_the_client_ends_its_job_and_no_other(warm, tmp_path, number):
    client, other = start(tmp_path, "victim"), start(tmp_path, "other")
    found = job(tmp_path, "victim")
    client.send_signal(number)
    client.wait(PATIENCE)
    until(lambda: gone(found))
    assert job(tmp_path, "other").is_running()
    job(tmp_path, "other").kill()
    assert other.wait(PATIENCE) == -signal.SIGKILL


def test_kill__of_the_server_ends_jobs_and_clients_and_the_next_job_starts_plainly(warm, tmp_path):
    clients = [start(tmp_path, name) for name in ("one", "two")]
    jobs = [job(tmp_path, name) for name in ("one", "two")]
    server_of(warm).kill()
    for client, found in zip(clients, jobs, strict=True):
        assert client.wait(PATIENCE) == -signal.SIGKILL
        until(lambda found=found: gone(found))
    script = tmp_path / "next.py"
    script.write_text("import sys; print(sys.orig_argv)")
    assert ended(warmly(script)) == ended(plainly(script))


def test_kill__of_the_run_ends_the_server_and_its_jobs(tmp_path, monkeypatch):
    """The run is a process that starts the server, and is killed."""
    (tmp_path / ".run").mkdir()
    run = (
        f"import sys, time; sys.path.insert(0, {str(CHECKOUT)!r})\n"
        "from workflow import warm_jobs\n"
        "warm_jobs.LIBRARIES = ()\n"
        "warm = warm_jobs.Warm(lambda: 3)\n"
        "warm.address(); print(warm._server.pid, flush=True); time.sleep(600)\n"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", run], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    server = psutil.Process(int(started.stdout.readline()))
    monkeypatch.chdir(tmp_path)
    client = start(tmp_path, "orphan")
    found = job(tmp_path, "orphan")
    started.kill()
    started.communicate()
    until(lambda: gone(server))
    assert client.wait(PATIENCE) == -signal.SIGKILL
    until(lambda: gone(found))


def ignores_interrupts(process):
    status = Path(f"/proc/{process}/status").read_text()
    (ignored,) = re.findall(r"^SigIgn:\s(\w+)$", status, re.MULTILINE)
    return int(ignored, 16) >> (signal.SIGINT - 1) & 1


def test_interrupt__of_all_lets_the_job_tidy_up_and_spares_the_server(warm, tmp_path):
    """As Ctrl-C: everything in the foreground is told."""
    script, told = tmp_path / "tidy.py", tmp_path / "told"
    script.write_text(
        "import time\n"
        f"open({str(told)!r}, 'w').close()\n"
        "try: time.sleep(600)\n"
        "finally: time.sleep(0.1); print('tidied up', flush=True)\n"
    )
    client = subprocess.Popen(
        warmly(script), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until(told.exists)
    until(lambda: ignores_interrupts(client.pid))
    (found,) = psutil.Process(server_of(warm).pid).children()
    for process in (server_of(warm), client, found):
        process.send_signal(signal.SIGINT)
    said, errors = client.communicate(timeout=PATIENCE)
    assert (client.returncode, said) == (-signal.SIGINT, "tidied up\nend\n")
    assert errors.endswith("\nKeyboardInterrupt\n")
    assert server_of(warm).poll() is None


def test_server__that_has_threads_leaves_jobs_to_themselves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warm_jobs, "LIBRARIES", ("threaded",))
    (tmp_path / ".run").mkdir()
    (tmp_path / "threaded.py").write_text(
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=[600], daemon=True).start()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    warm = Warm(lambda: warm_jobs.FEWEST)
    script = tmp_path / "plain.py"
    script.write_text("import os, sys; print(os.getpid(), sys.orig_argv)")
    assert warm.address()
    client = subprocess.Popen(warmly(script), stdout=subprocess.PIPE, text=True)
    said, _ = client.communicate(timeout=PATIENCE)
    warm.end()
    # The client has become the job.
    assert said == f"{client.pid} {plainly(script)}\n"


def test_server__that_cannot_import_leaves_jobs_to_themselves(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warm_jobs, "LIBRARIES", ("no_such_library",))
    (tmp_path / ".run").mkdir()
    warm = Warm(lambda: warm_jobs.FEWEST)
    script = tmp_path / "plain.py"
    script.write_text("import sys; print(sys.orig_argv)")
    assert warm.address()
    assert ended(warmly(script)) == ended(plainly(script))
    warm.end()
    assert "No module named 'no_such_library'" in capfd.readouterr().err


def test_address__is_private_and_gone_at_the_end(warm):
    path = Path(".run/warm")
    assert path.is_socket()
    assert path.stat().st_mode & 0o777 == 0o600
    warm.end()
    assert not path.exists()


def foreign(path):
    """Packages that a source file imports and that are neither Python's nor ours."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) else []
        yield from {name.partition(".")[0] for name in names} - sys.stdlib_module_names


def test_libraries__are_those_that_jobs_import():
    folders = (CHECKOUT / "pipeline", CHECKOUT / "workflow/scripts")
    used = {name for folder in folders for path in folder.rglob("*.py") for name in foreign(path)}
    warm = {name.partition(".")[0] for name in warm_jobs.LIBRARIES}
    # Parts of others, and fonts, which are no code.
    only_in_sweeps = {"distributed"}
    by_pandas = {"tabulate"}
    parts = {"markupsafe", "numpy", "pydantic_core", "pylopdf_fonts_zh_cn"}
    expected = (used | by_pandas) - {"pipeline"} - parts - only_in_sweeps
    assert warm - {"snakemake"} == expected


@pytest.mark.parametrize("ahead", range(warm_jobs.FEWEST))
def test_address__none_where_there_is_little_to_do(tmp_path, monkeypatch, ahead):
    monkeypatch.chdir(tmp_path)
    assert Warm(lambda: ahead).address() is None
    assert not list(tmp_path.iterdir())


def test_address__none_where_there_can_be_no_socket(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Warm(lambda: warm_jobs.FEWEST).address() is None


BEGUN = "runlog.start(snakemake.log[0])\n"
TELL = f"""{BEGUN}
import os
parent = open(f"/proc/{{os.getppid()}}/cmdline").read().split("\\0")
print((os.getppid(), parent, dict(os.environ)), flush=True)
"""
PARTS = ("gpus", "gpu_limits", "measured")


def told(scratch):
    """Those who started the jobs, their command lines, and the environments of the jobs."""
    lines = [scratch.text(f"logs/{name}.log").splitlines()[-1] for name in PARTS]
    return zip(*map(ast.literal_eval, lines), strict=True)


@pytest.fixture
def telling(fresh):
    """A copy whose jobs say who started them, and in which environment."""
    for name in PARTS:
        path = fresh.folder / f"workflow/scripts/{name}.py"
        path.write_text(path.read_text().replace(BEGUN, TELL))
    return fresh


@pytest.mark.workflow
def test_run__starts_jobs_in_one_server_as_they_would_be_and_leaves_nothing(telling, monkeypatch):
    targets = [f"results/{name}.zarr" for name in PARTS]
    assert telling.process("snakemake", *targets)[0] == 0
    servers, lines, warm = told(telling)
    assert len(set(servers)) == 1
    assert [Path(line[1]).name for line in lines] == ["warm_server.py"] * len(PARTS)
    assert not psutil.pid_exists(servers[0])
    assert sorted(path.name for path in (telling.folder / ".run").iterdir()) == ["jobs", "lock"]
    made = digests(telling.folder / "results")
    for folder in ("results", ".snakemake"):
        shutil.rmtree(telling.folder / folder)
    monkeypatch.setenv(warm_jobs.SWITCH, "off")
    assert telling.process("snakemake", *targets)[0] == 0
    _, lines, plain = told(telling)
    assert "warm_server.py" not in str(lines)
    # The switch, and the name of the run.
    for environment in (*warm, *plain):
        environment.pop(warm_jobs.SWITCH, None)
        del environment["PAPER_GPU_RUN"]
    assert warm == plain
    assert digests(telling.folder / "results") == made
