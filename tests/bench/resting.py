"""Rows about memory: what the daemons hold when idle, and what others can make them hold."""

import os
import re
import subprocess

import table
from protocol import Pair
from stage import agents
from table import note

IDLE_CONNECTIONS = 1000
BIG = 50_000_000
CROWD, CROWD_SIZE = 200, 1_000_000


def read_status(pid, field):
    """In megabytes."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(rf"{field}:\s+(\d+)", file.read()).group(1)) / 1024


class Peak:
    """The most memory of both daemons together from here on."""

    def __init__(self, gate):
        self.pids = [daemon.process.pid for daemon in (gate.milter, gate.relay)]
        self.before = [read_status(pid, "VmRSS") for pid in self.pids]
        for pid in self.pids:
            with open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as file:
                file.write("5")

    def added(self):
        return sum(read_status(pid, "VmHWM") for pid in self.pids) - sum(self.before)


def sit_idle(pair):
    peak = Peak(pair.gate)
    with subprocess.Popen([os.path.join(pair.load.folder, "milter-load"), "--idle",
                           f"--to={pair.gate.milter_socket}",
                           f"--connections={IDLE_CONNECTIONS}"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as client:
        client.stdout.readline()
        added = peak.added()
        client.stdin.close()
    return added


def press(pair, kind, size, connections, most):
    peak = Peak(pair.gate)
    pair.load.milter(pair.gate.milter_socket, size, connections, 60, agents(kind), most=most,
                     trouble=True)
    return peak.added()


def measure_memory(build, plan):
    note("memory of both daemons")
    with Pair(build) as pair:
        for daemon in (pair.gate.milter, pair.gate.relay):
            size = read_status(daemon.process.pid, "VmRSS")
            alone = read_status(daemon.process.pid, "RssAnon")
            table.add(f"memory of {daemon.name}, idle", [size], most=12, unit=" MB",
                      about=f"{alone:.1f} of it no file's")
        table.add(f"memory that {IDLE_CONNECTIONS:,} idle connections add", [sit_idle(pair)],
                  most=10, unit=" MB")
    for kind in ("hold", "release"):
        with Pair(build) as pair:
            press(pair, kind, 10_000, 4, 100)
            table.add(f"memory that a message of {BIG // 1_000_000} MB adds, {kind}",
                      [press(pair, kind, BIG, 1, 1)], most=24, unit=" MB")
    with Pair(build) as pair:
        press(pair, "hold", 10_000, 4, 100)
        first, second = [press(pair, "hold", CROWD_SIZE, CROWD, CROWD * 2) for _ in range(2)]
        table.add(f"memory that {CROWD} connections of 1 MB add, the second time to the first",
                  [second / first], most=1.25, about=f"{first:.0f} MB, then {second:.0f} MB")
