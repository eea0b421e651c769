"""A long day: mixed mail from fifty connections while programs are killed and people decide.

    story-soak.py [--messages N] [--minutes M]

make check is content with a few; 100000 take an hour or two. After M minutes no more are begun.
The first half is a storm, in the second one nobody is killed, so that memory and descriptors can
be seen to stay as they are."""

import contextlib
import itertools
import os
import random
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from crowd import decide, settle  # noqa: E402
from keeper import Keeper  # noqa: E402
from ledger import (KEPT, NEVER_LEAVING, PASSING, POLICY, REFUSED, UNKNOWN, Ledger,  # noqa: E402
                    balance, passages, read_items)
from story import PATIENCE, main, story  # noqa: E402
from world import PASSWORD, OUTSIDE, Client, World, end_on_signals  # noqa: E402

MESSAGES = 800
MINUTES = 24 * 60
CONNECTIONS = 50
PEOPLE = 4
SESSION_MOST = 20  # messages
LOGINS = {"human": "owner@example.com", "inbound": None}  # others: the agent's
KINDS = {"release": 45, "delay": 8, "hold": 5, "draft": 5, "refuse": 6, "hostile": 4,
         "human": 12, "inbound": 15}
VERBS = {"held": "approve approve reject", "draft": "approve reject reject", "delayed": "veto"}
LEFT_ALONE = {"held": 0.1, "draft": 0.1, "delayed": 0.8}  # how many nobody decides about
NEXT_HOP = ["451 4.3.0 not now", "drop", "reset", "half", "421 4.3.2 going down"]
BIG = 300_000  # bytes: more than the milter keeps in memory
SLACK = 12 * 1024  # KiB by which memory may grow in the second half
SPARE = 48  # descriptors that may be more: 32 are connections that the milter keeps
QUIET = 150  # seconds: longer than any delay of the policy
PAUSE = 0.05


def hostile_messages():
    """Bodies and fields that a parser may stumble over, over and over."""
    nested = "".join(f"--b{n}\r\nContent-Type: multipart/mixed; boundary=b{n + 1}\r\n\r\n"
                     for n in range(150))
    many = "--b0\r\nContent-Type: text/plain\r\n\r\nx\r\n" * 1500
    boundary = {"Content-Type": "multipart/mixed; boundary=b0"}
    return itertools.cycle([
        {"body": nested + "deep\r\n", **boundary},
        {"body": many, **boundary},
        {"body": "\udcff\udcfe\udc80" * 300 + "\r\n", "Content-Type": "text/plain; charset=x"},
        {"body": "=\r\n" * 2000, "Content-Transfer-Encoding": "quoted-printable"},
        {"body": "<" * 3000 + "\r\n", "Content-Type": "text/html"},
        {"References": "\r\n ".join(f"<{n}@example.net>" for n in range(900))},
        {"To": ", ".join(f"{n}@example.net" for n in range(900)), "From": "a@b@c, , <<>"},
        {"From": "agent@example.com\r\nFrom: owner@example.com", "Date": "Feb 31"},
        {"Agent_Plan_Step": "x" * 900, "X_Exeat_Ticket": "0" * 64},
        {"body": "begin 644 x\r\n" + "M" * 3000 + "\r\n"},
    ])


class Soak:
    """Threads that send until so many messages are written."""

    def __init__(self, world, ledger, messages):
        self.world, self.ledger, self.messages = world, ledger, messages
        self.hostile = hostile_messages()
        self.lock = threading.Lock()
        self.done = 0  # messages that were answered for good
        self.began = time.monotonic()
        self.over = threading.Event()  # no message is begun any more
        self.rest = threading.Event()  # nor is any decision
        self.failures = []
        self.senders = [self._thread(self._send) for _ in range(CONNECTIONS)]
        self.people = [self._thread(self._decide, number) for number in range(PEOPLE)]

    def _thread(self, work, *arguments):
        return threading.Thread(target=self._guard, args=(work, *arguments), daemon=True)

    def __enter__(self):
        for thread in self.senders + self.people:
            thread.start()
        return self

    def __exit__(self, kind, *_):
        self.over.set()
        if kind is not None:
            self.rest.set()
        for thread in self.senders:
            thread.join()
        self.rest.set()
        for thread in self.people:
            thread.join()
        if kind is None:
            self.check()

    def check(self):
        if self.failures:
            raise self.failures[0]

    def written(self):
        return len(self.ledger.entries)

    def progress(self):
        """The share of the messages or of the time that is over, 1 for all."""
        if self.over.is_set():
            return 1
        return max(self.done / self.messages,
                   (time.monotonic() - self.began) / (MINUTES * 60))

    def _guard(self, work, *arguments):
        try:
            work(*arguments)
        except Exception as failure:  # pylint: disable=broad-except
            self.failures.append(failure)
            self.over.set()

    def _end(self, left):
        left.pop(0)
        with self.lock:
            self.done += 1

    def _send(self):
        most = min(SESSION_MOST, self.messages // (4 * CONNECTIONS) + 1)
        left = []
        while not self.rest.is_set() and (left or self._goes_on()):
            if not left:
                [kind] = random.choices(list(KINDS), KINDS.values())
                left = [self._write(kind) for _ in range(random.randint(1, most))]
            with contextlib.suppress(OSError):
                self._session(left)
            if left and left[0].outcome == UNKNOWN and left[0].kind in PASSING:
                self._end(left)  # the mail server may have it: nobody knows
            time.sleep(PAUSE if not left else random.uniform(0, 1))

    def _goes_on(self):
        return self.written() < self.messages and not self.over.is_set()

    def _write(self, kind):
        more = {"body": "x" * 70 + "\r\n"}
        more["body"] *= int(random.expovariate(1 / 40))
        if random.random() < 0.002:
            more["body"] = "y" * 70 + "\r\n" + "z" * 70 + "\r\n" * (BIG // 2)
        if kind == "hostile":
            with self.lock:
                more = {**next(self.hostile), "subject": "hold this"}
        return self.ledger.write(kind, **more)

    def _session(self, left):
        """Sends what is left; what was answered for good is taken out."""
        login = LOGINS.get(left[0].kind, "agent@example.com")
        host = self.world.host
        with Client(("127.0.0.1", host.submission if login else host.plain),
                    source=None if login else OUTSIDE) as client:
            client.ehlo()
            if login and not client.login(login, PASSWORD).ok:
                return
            while left and self._submit(client, left[0]):
                self._end(left)

    @staticmethod
    def _submit(client, entry):
        """FALSE: it has to come again."""
        before, entry.outcome = entry.outcome, UNKNOWN
        reply = client.submit(entry.sender, entry.to, entry.message)
        if reply.code == 250:
            entry.outcome = KEPT
        elif reply.code >= 500:
            entry.outcome = REFUSED
            if entry.kind not in NEVER_LEAVING:
                raise AssertionError(f"{entry.id}: {reply}")
        else:
            entry.outcome = before
        return reply.code == 250 or reply.code >= 500

    def _decide(self, number):
        left_alone = set()
        while not self.rest.wait(PAUSE):
            with contextlib.suppress(RuntimeError):  # nobody answers just now
                for item in self.world.gate.items():
                    if self.rest.is_set():
                        return
                    if hash(item["id"]) % PEOPLE == number and item["id"] not in left_alone:
                        with contextlib.suppress(RuntimeError):
                            self._decide_one(item, left_alone)

    def _is_answered(self, item):
        """What its client may still send again, and so make another item of once this one has
        ended, is decided later (XC23)."""
        known = self.world.gate.show(item)["message_id"]
        return any(entry.id == known and entry.outcome == KEPT for entry in self.ledger.entries)

    def _decide_one(self, item, left_alone):
        if item["state"] not in VERBS or not self._is_answered(item["id"]):
            return
        if random.random() < LEFT_ALONE[item["state"]]:
            left_alone.add(item["id"])
            return
        verb = random.choice(VERBS[item["state"]].split())
        if item["subject"] == "hold this":
            verb = "reject"
        decide(self.world, self.ledger, item["id"], verb)


def trouble(world, keeper, deadly):
    """Something goes wrong. deadly: it may be a sudden end."""
    gate = world.gate
    world.sink.rules = [{"at": random.choice(["CONNECT", "RCPT", "BODY", "DOT"]),
                         "do": random.choice(NEXT_HOP), "times": random.randint(1, 5)}]
    gate.clock(gate.moved + random.randint(1, 20))
    kind = random.choice(["relay", "step", "relay", "milter", "reload", "postfix"])
    if kind == "reload":
        world.host.reload()
        gate.relay.signal(signal.SIGHUP)
    elif not deadly:
        pass
    elif kind == "relay":
        keeper.kill(gate.relay)
    elif kind == "milter":
        keeper.kill(gate.milter)
    elif kind == "step":
        before = keeper.deaths[gate.relay.name]
        keeper.kill_after(random.randint(1, 300))
        keeper.wait_death(gate.relay, before, 5)
    elif random.random() < 0.3:
        world.host.stop()
        world.host.restart()


def measure(daemon):
    """KiB of memory in use, and the number of open descriptors."""
    folder = f"/proc/{daemon.process.pid}"
    with open(folder + "/status", encoding="ascii") as file:
        [memory] = [int(line.split()[1]) for line in file if line.startswith("VmRSS")]
    return memory, len(os.listdir(folder + "/fd"))


def storm(world, soak, share, keeper, deadly):
    """Trouble until this share of the messages, or of the time, is over."""
    told = time.monotonic()
    calmer = 1 if MESSAGES < 10000 else 4
    while soak.progress() < share:
        time.sleep(random.uniform(0.2, 1.5) * calmer)
        if not deadly and random.random() < 0.5:
            continue
        trouble(world, keeper, deadly)
        if time.monotonic() - told > 60:
            told = time.monotonic()
            # What may just be dying has nothing to be measured.
            sizes = [measure(daemon) for daemon in (world.gate.relay, world.gate.milter)
                     if not deadly]
            tell(f"{soak.written()} messages, {dict(keeper.deaths)}, {sizes}")
    soak.check()


def tell(text):
    print(f"# {text}", flush=True)


def empty(host, seconds):
    """Until nothing waits in Postfix. What was on its way at a reload may lie there, delivered,
    until the queue manager has skipped it and is told again."""
    deadline = time.monotonic() + seconds
    while host.queued() and time.monotonic() < deadline:
        host.flush()
        time.sleep(1)
    host.wait_empty()


def settled(world, ledger):
    """Everything comes to rest, and the books balance."""
    world.sink.rules = []
    settle(world, QUIET, seconds=3 * PATIENCE + MESSAGES / 100)
    empty(world.host, PATIENCE + MESSAGES / 100)
    messages = world.sink.messages()
    complaints = balance(world.gate, ledger, messages)
    assert not complaints, "\n".join(complaints[:20] + [f"{len(complaints)} complaints"])
    done = world.gate.command("audit", "verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "older copy" not in world.gate.relay.read_log()
    count(ledger, read_items(world.gate), messages)


def count(ledger, items, messages):
    outcomes = [entry.outcome for entry in ledger.entries]
    states = [item.state for item in items]
    for words in (outcomes, states):
        tell(", ".join(f"{words.count(word)} {word}" for word in sorted(set(words))))
    tell(f"{len(passages(messages))} arrived")


@story("Mixed mail by fifty connections, with faults: the books balance, nothing grows (XF2, XF6)")
def _(world):
    ledger = Ledger()
    daemons = (world.gate.relay, world.gate.milter)
    start = time.monotonic()
    with Keeper(world.gate) as keeper:
        with Soak(world, ledger, MESSAGES) as soak:
            storm(world, soak, 0.5, keeper, deadly=True)
            keeper.calm()
            keeper.kill(world.gate.relay)  # it may still be counting
            storm(world, soak, 0.75, keeper, deadly=False)
            early = [measure(daemon) for daemon in daemons]
            deaths = dict(keeper.deaths)
            storm(world, soak, 1, keeper, deadly=False)
        late = [measure(daemon) for daemon in daemons]
        assert keeper.deaths == deaths, (keeper.deaths, deaths)
        seconds = time.monotonic() - start
        tell(f"{len(ledger.entries)} messages in {seconds:.0f} s, {deaths}, "
             f"KiB and descriptors {early}, then {late}")
    settled(world, ledger)
    for (memory, open_then), (memory_now, open_now) in zip(early, late):
        assert memory_now <= memory + memory // 4 + SLACK, (early, late)
        assert open_now <= open_then + SPARE, (early, late)


def take_number(name, otherwise):
    """The number after an argument; both are taken out."""
    if name not in sys.argv:
        return otherwise
    at = sys.argv.index(name)
    number = int(sys.argv[at + 1])
    del sys.argv[at:at + 2]
    return number


if __name__ == "__main__":
    MESSAGES = take_number("--messages", MESSAGES)
    MINUTES = take_number("--minutes", MINUTES)
    end_on_signals()
    sys.exit(main(lambda: World(POLICY, settings={"waiting-limit": "20000"})))
