"""Agents that submit and people who decide, all at once, and who take trouble as they should:
after a 451 the same bytes come again, after a lost answer nobody knows."""

import contextlib
import random
import threading
import time

from ledger import KEPT, PEOPLE, UNDER_WAY, UNKNOWN
from story import PATIENCE
from world import PASSWORD, Client

PAUSE = 0.05
AGENT = "agent@example.com"
VERBS = {"held": ("approve", "approve", "approve", "reject"), "delayed": ("veto",),
         "draft": ("approve", "reject")}
HANDED_ON = ("sending", "committing")
DECIDED = 0.4  # how much of what waits is decided at each look


class Crowd:
    """Threads that act until the block is left.

        with Crowd(world, ledger, agents=3): ...

    kinds: what the agents write (ledger.PEOPLE)."""

    def __init__(self, world, ledger, agents, people=2, kinds=tuple(PEOPLE)):
        self.world = world
        self.ledger = ledger
        self.kinds = kinds
        self.over = threading.Event()
        self.failures = []
        self.threads = [threading.Thread(target=self._act, args=(work,), daemon=True)
                        for work in [self._submit] * agents + [self._decide] * people]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, kind, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()
        if self.failures and kind is None:
            raise self.failures[0]

    def _act(self, work):
        while not self.over.wait(PAUSE):
            try:
                work()
            except Exception as failure:  # pylint: disable=broad-except
                self.failures.append(failure)
                return

    def _submit(self):
        """A session of a few messages; one that was told to come again is tried some more."""
        for kind in random.sample(self.kinds, len(self.kinds)):
            submit(self.world, self.ledger.write(kind), self.over)

    def _decide(self):
        with contextlib.suppress(RuntimeError):  # nobody answers just now
            for item in self.world.gate.items():
                if item["state"] in VERBS and random.random() < DECIDED:
                    decide(self.world, self.ledger, item["id"],
                           random.choice(VERBS[item["state"]]))


def submit(world, entry, over):
    """Brings a message in, as a mail program that comes again does. Whatever was kept is the
    same message when it comes again, so only of what passes on at once a lost answer ends it:
    there the mail server may have it already."""
    while not over.is_set():
        try:
            with Client(("127.0.0.1", world.host.submission)) as client:
                client.ehlo()
                if client.login(AGENT, PASSWORD).ok:
                    before = entry.outcome
                    entry.outcome = UNKNOWN
                    reply = client.submit(AGENT, entry.to, entry.message)
                    if reply.code == 250:
                        entry.outcome = KEPT
                        return
                    if reply.code >= 500:
                        raise AssertionError(f"{entry.id}: {reply}")
                    entry.outcome = before
        except OSError:
            if entry.outcome == UNKNOWN and entry.kind == "release":
                return
        over.wait(PAUSE)


def decide(world, ledger, item, verb):
    """Decides, or tries to. The answer goes into the ledger."""
    arguments = {"approve": lambda: [item, world.gate.show(item)["digest"]],
                 "reject": lambda: [item, "Not this one."], "veto": lambda: [item]}[verb]()
    ledger.decide(item, verb, False)
    if world.gate.command(verb, *arguments).returncode == 0:
        ledger.decide(item, verb, True)


def settle(world, step, seconds=3 * PATIENCE):
    """Moves the clock on until nothing is under way any more. step: by so many seconds. What is
    being handed on is waited for: no ticket and no approval gets old by a slow disk."""
    deadline = time.monotonic() + seconds
    while states := [item for item in world.gate.items() if item["state"] in UNDER_WAY]:
        if time.monotonic() > deadline:
            raise TimeoutError(f"still under way: {states}")
        if not any(item["state"] in HANDED_ON for item in states):
            world.gate.clock(world.gate.moved + step)
        time.sleep(PAUSE)
