"""A service manager that starts again what was killed, and the ways to kill."""

import os
import threading
import time

from story import PATIENCE

SHIM = "killer.so"  # built from killer.c
PAUSE = 0.01  # seconds


class Keeper:
    """Starts the daemons of a Gate again when they end. deaths: how often, by name. victim: the
    one that is killed at steps, by default the relay.

        with Keeper(gate) as keeper:
            keeper.kill_after(17)

    Leaving the block ends the watch; a daemon that did not start again is an exception."""

    def __init__(self, gate, victim=None):
        self.gate = gate
        self.victim = victim or gate.relay
        # Whatever else a daemon is kept from, this folder it may read.
        self.order = os.path.join(gate.etc, f"kill-{self.victim.name}")
        self.deaths = {daemon.name: 0 for daemon in (gate.relay, gate.milter)}
        self.failure = None
        self.lock = threading.Lock()  # held while one starts
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)
        gate.load(self.victim, SHIM, EXEAT_TEST_KILL=self.order)
        self.victim.stop()
        self.victim.start()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        self.calm()
        self.check()  # it is the reason for whatever else is raised
        self.victim.kill()  # it may still be counting
        self.victim.start()

    def kill_after(self, steps):
        """The victim has so many steps left (killer.c)."""
        with open(self.order + ".new", "w", encoding="ascii") as file:
            file.write(str(steps))
        os.chmod(self.order + ".new", 0o644)
        os.rename(self.order + ".new", self.order)

    def calm(self):
        """Takes the order back, for processes that begin from now on."""
        if os.path.exists(self.order):
            os.unlink(self.order)

    def kill(self, daemon):
        """Ends it now, and waits until it runs again."""
        with self.lock:
            self.check()
            before = self.deaths[daemon.name]
            daemon.process.kill()
        self.wait_death(daemon, before)

    def wait_death(self, daemon, before, seconds=PATIENCE):
        """Waits until it died more often than before and runs again. FALSE: it did not die."""
        deadline = time.monotonic() + seconds
        while self.deaths[daemon.name] == before and time.monotonic() < deadline:
            self.check()
            time.sleep(PAUSE)
        return self.deaths[daemon.name] > before

    def check(self):
        """Raises what hindered a start."""
        if self.failure is not None:
            raise self.failure

    def _watch(self):
        while not self.over.wait(PAUSE) and self.failure is None:
            for daemon in (self.gate.relay, self.gate.milter):
                if daemon.process.poll() is not None:
                    with self.lock:
                        self._start(daemon)

    def _start(self, daemon):
        if daemon is self.victim:
            self.calm()
        try:
            daemon.start()
        except RuntimeError as failure:
            self.failure = failure
        self.deaths[daemon.name] += 1
