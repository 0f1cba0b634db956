"""Run a script in a fork of the warm server: ``python -I -S warm_client.py SOCKET SCRIPT``.

Stands where ``python SCRIPT`` would stand, as a process that ends as the job ends: with its exit
code, or by the same signal. Where no server takes the job, this process becomes that job. It
imports as little as it can, since every job pays for it.
"""

import os
import signal
import socket
import sys

_LENGTH = 8


def ask(address: str, script: str) -> bytes:
    """Have a script run; gives what the server says, and nothing if it was not started."""
    environment = (name + b"=" + value for name, value in os.environb.items())
    # pathlib would take longer to import than all else here.
    folder = os.getcwdb()  # noqa: PTH109
    asked = b"\0".join([folder, os.fsencode(script), *environment])
    said = b""
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.connect(address)
            socket.send_fds(server, [len(asked).to_bytes(_LENGTH)], [0, 1, 2])
            server.sendall(asked)
            while part := server.recv(100):
                # The job is told of an interrupt itself, and may have to tidy up.
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                said += part
    except OSError:
        # Nobody listens, or no longer.
        pass
    return said


def main() -> None:
    """End as the job ends."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _, address, script = sys.argv
    said = ask(address, script)
    if not said:
        os.execv(sys.executable, [sys.executable, script])
    # Without a word about its end the job has died with the server.
    code = int(said.split()[1]) if said.split()[1:] else -signal.SIGKILL
    if code < 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main()
