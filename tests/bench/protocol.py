"""Rows of the milter protocol alone, without a mail server, and of keeping beside bare SQLite."""

import os
import shutil

import table
from stage import Folder, Load, Nowhere, agents, make_gate, nothing, rounds
from table import note, ratios

SHIM = os.path.join("tests", "bench", "slow-disk.so")
SIZES = 1_000, 10_000, 100_000


class Pair:
    """The gate and a do-nothing milter, without Postfix, for a with block."""

    def __init__(self, build, shim=None):
        self.build = build
        self.shim = shim
        self.load = Load(build)

    def __enter__(self):
        self.made = Folder()
        self.folder = self.made.__enter__()
        os.makedirs(os.path.join(self.folder, "queue"))
        self.idler_path = os.path.join(self.folder, "open", "nothing")
        self.idler = nothing(self.build, self.idler_path)
        self.gate = make_gate(self.folder, Nowhere(self.folder), self.build)
        if self.shim:
            self.shim = shutil.copy(self.shim, self.gate.bin)
            self.gate.relay.environment = {"LD_PRELOAD": self.shim}
        self.gate.start()
        return self

    def __exit__(self, *_):
        self.gate.kill()
        self.idler.stop()
        self.made.__exit__()

    def press(self, senders, size, connections, seconds):
        """A round of the gate; commits: how many there were."""
        def run():
            before = self._commits()
            found = self.load.milter(
                self.gate.milter_socket, size, connections, seconds, agents(senders),
                pids=[self.gate.milter.process.pid, self.gate.relay.process.pid])
            found["shared"] = found["messages"] / max(self._commits() - before, 1)
            return found
        return run

    def press_idler(self, size, connections, seconds):
        return lambda: self.load.milter(self.idler_path, size, connections, seconds,
                                        agents("release"), pids=[self.idler.process.pid])

    def _commits(self):
        return self.gate.answer("status")["commits"]


def show(found):
    for name, runs in found.items():
        line = f"    {name:14} {table.spread([run['rate'] for run in runs])} messages a second"
        if "shared" in runs[0]:
            line += (f", {table.spread([run['shared'] for run in runs])} a commit, "
                     f"{table.spread([run['cpu_us'] for run in runs])} µs of processor")
        note(line)


def measure_protocol(build, plan):
    with Pair(build) as pair:
        note("milter protocol, 16 connections, 10 KB")
        found = rounds(plan.rounds, {
            "nothing": pair.press_idler(10_000, 16, plan.seconds),
            "release": pair.press("release", 10_000, 16, plan.seconds)})
        show(found)
        shared = table.spread([run["shared"] for run in found["release"]])
        table.add("protocol: release, 16 connections", ratios(found, "release", "nothing"),
                  least=1.0, about=f"{shared} messages a commit")


def measure_keeping(build, plan):
    with Pair(build) as pair:
        for size in plan.pick(SIZES):
            note(f"hold and bare group commit, {size // 1000} KB, 16 connections")
            found = rounds(plan.rounds, {
                "bare": lambda size=size: pair.load.commit(pair.folder, size, 16, plan.seconds),
                "hold": pair.press("hold", size, 16, plan.seconds)})
            show(found)
            table.add(f"hold to bare group commit, {size // 1000} KB",
                      ratios(found, "hold", "bare"), least=0.35)


def measure_slow(build, plan):
    with Pair(build, os.path.join(build, SHIM)) as pair:
        note("the same on a disk whose fsync takes 5 ms more, 32 connections, 10 KB")
        found = rounds(plan.rounds, {
            "bare": lambda: pair.load.commit(pair.folder, 10_000, 32, plan.seconds,
                                             pair.shim),
            "hold": pair.press("hold", 10_000, 32, plan.seconds)})
        show(found)
        shared = table.spread([run["shared"] for run in found["hold"]])
        table.add("hold on a slow disk to bare group commit", ratios(found, "hold", "bare"),
                  least=0.5, about=f"{shared} messages a commit")
