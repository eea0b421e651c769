"""Servers that begin a session of their own, and so a group of all that they start."""

import os
import signal
import subprocess

from story import until

PEACE = 10  # seconds


def end_group(leader, seconds=PEACE):
    """Ends a server as a service manager would, and after so many seconds whatever is left of
    its group. Nothing of it runs any more on return: a child that is about to die still listens
    and still holds its locks. seconds: 0 for a sudden end."""
    if seconds:
        leader.terminate()
        try:
            leader.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
    try:
        os.killpg(leader.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    leader.wait()
    until(lambda: not runs(leader.pid))


def runs(group):
    """Whether a process of the group does more than wait to be counted among the dead."""
    return any(member == str(group) and state not in "ZX"
               for state, member in map(look_at, filter(str.isdigit, os.listdir("/proc"))))


def look_at(number):
    """State and group of a process (proc(5)); of one that is gone, as of a dead one of none."""
    try:
        with open(f"/proc/{number}/stat", encoding="utf-8", errors="replace") as file:
            state, _, group = file.read().rpartition(")")[2].split()[:3]
    except (FileNotFoundError, ProcessLookupError):
        return "X", "0"
    return state, group
