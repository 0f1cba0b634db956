"""Notes the files below the checkout that a job reads, and the folders that it lists.

A scratch copy of the checkout has this as ``sitecustomize``, which Python imports at its start: in
jobs, since the Snakefile puts the checkout on their path. A job that ends writes one file: the name
of its script, then what it read, one a line.
"""

import atexit
import os
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parent
OPENED = "opened"
SCRIPTS = "/.snakemake/scripts/"
EVENTS = ("open", "os.listdir", "os.scandir")


def watch():
    read = set()

    def note(event, arguments):
        if event in EVENTS and isinstance(arguments[0], str):
            flags = arguments[2] if event == "open" else os.O_RDONLY
            path = Path(os.path.normpath(Path(arguments[0]).absolute()))
            if flags & os.O_ACCMODE == os.O_RDONLY and CHECKOUT in path.parents:
                read.add(path.relative_to(CHECKOUT).as_posix())

    def write():
        # Scripts of jobs are called tmp<letters>.<name>.py there.
        if SCRIPTS in sys.orig_argv[-1]:
            text = "\n".join([sys.orig_argv[-1].split(".")[-2], *sorted(read)])
            (CHECKOUT / OPENED / f"{os.getpid()}").write_text(text, encoding="utf-8")

    atexit.register(write)
    # What the process read of which a job is a fork is not read by the job.
    os.register_at_fork(after_in_child=read.clear)
    sys.addaudithook(note)


watch()
