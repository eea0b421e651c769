"""Disk, memory, descriptors and clock fail under the gate: nothing accepted is lost, nothing is
sent twice, nothing passes ungated, and when the fault is over nobody has to help.

    story-faults.py [--long] [words of a sentence]

--long: what make check does for seconds lasts a minute."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import MILTER  # noqa: E402
from keeper import Keeper  # noqa: E402
from crowd import Crowd, settle, submit as bring  # noqa: E402
from ledger import KEPT, POLICY, Ledger, balance, read_items  # noqa: E402
from letter import letter  # noqa: E402
from sink import Sink  # noqa: E402
from story import PATIENCE, Skip, main, story, until  # noqa: E402
from world import World, end_on_signals  # noqa: E402

AGENT, HELD, LATER, RELEASED = ("agent@example.com", "mallory@example.net", "later@example.net",
                                "nora@example.com")
AGENTS, SENDERS = 3, 4
SECONDS = 4  # that a fault lasts
READ_ONLY, BROKEN = 30, 5  # EROFS, EIO
HOUR, YEAR = 3600, 366 * 24 * 3600
QUIET = 150  # seconds: longer than any delay of the policy, and than the first retries


def submit(world, to=HELD, subject="hold it", **fields):
    return world.submit(AGENT, [to], letter(to, subject=subject, **fields))


def hold(world):
    """An item that waits for an approval."""
    reply = submit(world)
    assert reply.code == 250, reply
    return [item["id"] for item in world.gate.items() if item["state"] == "held"][-1]


def check(world, ledger, messages):
    """Everything is at rest: the books balance, and the audit record is whole."""
    complaints = balance(world.gate, ledger, messages)
    assert not complaints, "\n".join(complaints)
    done = world.gate.command("audit", "verify")
    assert done.returncode == 0, done.stdout + done.stderr


class Busy:
    """Agents and people at work until the block is left; then everything comes to rest and is
    checked."""

    def __init__(self, world, kinds=("release", "delay", "hold", "draft")):
        self.world = world
        self.ledger = Ledger()
        self.crowd = Crowd(world, self.ledger, agents=AGENTS, people=1, kinds=kinds)

    def __enter__(self):
        self.crowd.__enter__()
        return self

    def __exit__(self, kind, *rest):
        self.crowd.__exit__(kind, *rest)
        if kind is None:
            settle(self.world, QUIET)
            self.world.host.wait_empty()
            check(self.world, self.ledger, self.world.sink.messages())

    def accepted(self):
        return sum(entry.outcome == KEPT for entry in self.ledger.entries)

    def wait(self, more):
        """Waits until so many more messages were accepted."""
        goal = self.accepted() + more
        until(lambda: self.crowd.failures or self.accepted() >= goal)


def next_hop(world, sink):
    """From now on the next hop is a server that has no gate."""
    world.gate.configure(POLICY, settings={"next-hop": f"inet:127.0.0.1:{sink.port}",
                                           "next-hop-gated": "no"})
    world.gate.restart_relay()


STAGES = [lambda client, message: client.mail(AGENT),
          lambda client, message: client.rcpt(RELEASED),
          lambda client, message: client.command("DATA"),
          lambda client, message: client.send(message[:len(message) // 2]),
          lambda client, message: end_data(client, message[len(message) // 2:])]


def end_data(client, rest):
    client.send(rest + b".\r\n")
    return client.reply()


@story("Killed at connect, MAIL, RCPT, DATA, in the body: a 4xx each time (XF1)")
def _(world):
    message = letter(RELEASED)
    for stage in range(len(STAGES)):
        with world.client(AGENT) as client:
            for step in STAGES[:stage]:
                step(client, message)
            world.gate.milter.kill()
            replies = [reply for reply in run_stages(client, message, stage)]
            assert 400 <= replies[-1].code < 500, (stage, replies)
        world.gate.milter.start()
    assert submit(world, RELEASED, "again").code == 250
    world.host.wait_empty()
    assert len(world.sink.messages()) == 1


def run_stages(client, message, first):
    """The replies from a stage on, up to one that is no good."""
    for step in STAGES[first:]:
        reply = step(client, message)
        if reply is not None:
            yield reply
            if not reply.ok:
                return


@story("Killed at the dot, before the relay answers: a 4xx, and the retry is the same item (XF1, XF3)")
def _(world):
    for to, subject in ((HELD, "hold it"), (RELEASED, "go")):
        message = letter(to, subject=subject)
        replies = []
        world.gate.relay.signal(signal.SIGSTOP)
        agent = threading.Thread(
            target=lambda m=message, t=to: replies.append(world.submit(AGENT, [t], m)))
        agent.start()
        until(lambda: waits_for_relay(world))
        world.gate.milter.kill()
        agent.join()
        world.gate.relay.signal(signal.SIGCONT)
        assert 400 <= replies[0].code < 500, replies
        world.gate.milter.start()
        assert world.submit(AGENT, [to], message).code == 250
    states = [item["state"] for item in world.gate.items(everything=True)]
    assert states.count("held") == 1, states
    world.host.wait_empty()
    assert len(world.sink.messages()) == 1


def waits_for_relay(world):
    """Whether the milter has a connection to the relay with a request in it."""
    return connections(world) > 0


def connections(world):
    """How many the relay has, those included that it has not taken yet."""
    with open("/proc/net/unix", encoding="ascii") as file:
        return sum(world.gate.socket in line for line in file) - 1


@story("Read-only or dying, the state folder lets nothing pass, and serves when it is well again (A40, XE9, XF4)")
def _(world):
    order = os.path.join(world.folder, "fault")
    world.gate.load(world.gate.relay, "fault.so", EXEAT_TEST_FAULT=order)
    world.gate.restart_relay()
    for number in (READ_ONLY, BROKEN):
        item = hold(world)
        fail_with(order, number)
        for to in (HELD, RELEASED, LATER):
            assert submit(world, to).code == 451, (number, to)
        assert world.gate.command("approve", item, "0" * 64).returncode != 0
        assert world.gate.command("reject", item, "no").returncode != 0
        fail_with(order, 0)
        assert world.gate.show(item)["state"] == "held"
        world.gate.approve(item)
        assert world.gate.wait_state(item, "sent") == "sent"
        assert submit(world, RELEASED, "go").code == 250
    world.host.wait_empty()
    assert len(world.sink.wait(4)) == 4
    fail_with(order, READ_ONLY)
    world.gate.relay.stop()
    try:
        world.gate.relay.start()
    except RuntimeError as error:
        assert "Read-only file system" in str(error), error
    else:
        raise AssertionError("started with nothing to write on")
    fail_with(order, 0)
    world.gate.relay.start()
    assert len(world.gate.items(everything=True)) == 4


def fail_with(order, number):
    if number == 0:
        os.unlink(order)
        return
    with open(order + ".new", "w", encoding="ascii") as file:
        file.write(str(number))
    os.chmod(order + ".new", 0o644)
    os.rename(order + ".new", order)


@story("What cannot be written is tried again by the second, not all the time (XE9)")
def _(world):
    order = os.path.join(world.folder, "fault")
    world.gate.load(world.gate.relay, "fault.so", EXEAT_TEST_FAULT=order)
    world.gate.restart_relay()
    assert submit(world, LATER, "to be sent").code == 250
    [sent] = world.gate.items()
    assert submit(world, LATER, "to be judged again").code == 250
    [held] = [item for item in world.gate.items() if item["id"] != sent["id"]]
    due = max(world.gate.show(item["id"])["due"] for item in (sent, held))
    fail_with(order, BROKEN)
    world.gate.configure('hold "not that" if subject contains "again"\n' + POLICY)
    world.gate.relay.signal(signal.SIGHUP)
    count_tries(world, "cannot be judged again now")
    world.gate.clock(due - sent["created"] + 1)
    count_tries(world, "not sent now")
    fail_with(order, 0)
    assert world.gate.wait_state(sent["id"], "sent") == "sent"
    assert world.gate.wait_state(held["id"], "held") == "held"
    assert len(world.sink.wait(1)) == 1


def count_tries(world, complaint):
    """The relay complains, and not without a pause."""
    until(lambda: complaint in world.gate.relay.read_log())
    begin = time.monotonic()
    time.sleep(SECONDS)
    tries = world.gate.relay.read_log().count(complaint)
    assert tries <= 2 * (time.monotonic() - begin + 2), (complaint, tries)


def fill(path):
    """Leaves no byte free beside a file of that name."""
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


@story("The disk full between approval and final dot, and after it: sent once (XE9, XF20)")
def _(world):
    gate = world.gate
    gate.relay.stop()
    gate.on_small_disk("4m")
    gate.relay.start()
    with Sink(os.path.join(world.folder, "provider")) as sink:
        next_hop(world, sink)
        ballast = gate.inside(gate.relay, gate.state + "/ballast")
        usual, full_at = sink.failure, []

        def fill_then(stage, subject):
            if full_at == [stage]:
                fill(ballast)
                threading.Timer(SECONDS, os.unlink, [ballast]).start()
                full_at.clear()
            return usual(stage, subject)
        sink.failure = fill_then
        for stage in ("DATA", "DOT"):
            item = hold(world)
            full_at.append(stage)
            gate.approve(item)
            until(lambda: not full_at)
            until(lambda: not os.path.exists(ballast), SECONDS + PATIENCE)
            if gate.wait_state(item, "approved", "sent") == "approved":
                gate.clock(gate.moved + QUIET)
            assert gate.wait_state(item, "sent") == "sent"
        assert len(sink.messages()) == 2


@story("Without room or inodes for a large message the agent gets a 451, and small ones pass (XF4)")
def _(world):
    large = {"body": ("x" * 70 + "\r\n") * 5000}
    spool = os.path.join(world.folder, "spool")
    world.gate.milter.stop()
    plain, identity = world.gate.milter.arguments, world.gate.milter.identity
    for size, inodes in (("128k", 0), ("8m", 1)):
        world.gate.milter.arguments, world.gate.milter.identity = plain, identity
        world.gate.on_small_disk(size, world.gate.milter, spool, inodes)
        world.gate.milter.start()
        assert submit(world, **large).code == 451
        assert submit(world, RELEASED, "large", **large).code == 451
        assert submit(world, RELEASED, "small").code == 250
        world.gate.milter.stop()
    world.gate.milter.arguments, world.gate.milter.identity = plain, identity
    world.gate.milter.start()
    assert submit(world, **large).code == 250
    world.host.wait_empty()
    assert len(world.sink.messages()) == 2


@story("Locked for long while agents and people go on: all waits, and goes on after it (XF5)")
def _(world):
    with Busy(world) as busy:
        busy.wait(5)
        lock = sqlite3.connect(os.path.join(world.gate.state, "exeat.db"), isolation_level=None,
                               timeout=PATIENCE)
        lock.execute("BEGIN EXCLUSIVE")
        before = busy.accepted()
        time.sleep(SECONDS)
        assert busy.accepted() <= before + AGENTS  # who had its answer on the way
        lock.execute("ROLLBACK")
        lock.close()
        busy.wait(5)


@story("Database, log or index removed under it: nothing is lost, and it is said (XE14)")
def _(world):
    files = [os.path.join(world.gate.state, "exeat.db" + suffix) for suffix in ("", "-wal", "-shm")]
    accepted = 0
    for gone in (files[:1], files[1:2], files[2:], files[1:], files):
        assert submit(world).code == 250
        for path in gone:
            os.unlink(path)
        assert submit(world).code == 250
        world.gate.relay.kill()
        world.gate.relay.start()
        accepted += 2
        items = world.gate.items()
        assert len(items) == accepted, (gone, items)
        assert all(os.path.exists(path) for path in files)
    assert all("Hello" in world.gate.show(item["id"])["text"] for item in items)
    os.unlink(files[0])
    until(lambda: "written anew" in world.gate.relay.read_log())
    world.gate.approve(items[0]["id"])
    assert world.gate.wait_state(items[0]["id"], "sent") == "sent"
    assert "older copy" not in world.gate.relay.read_log()
    done = world.gate.command("audit", "verify")
    assert done.returncode == 0, done.stdout + done.stderr
    world.host.wait_empty()
    assert len(world.sink.messages()) == 1


@story("Another database put in the place of the open one: nothing is answered from either (XE11)")
def _(world):
    path = os.path.join(world.gate.state, "exeat.db")
    assert submit(world).code == 250
    with open(path, "rb") as file:
        copy = file.read()
    os.rename(path, path + ".away")
    with open(path, "wb") as file:
        file.write(copy)
    assert submit(world, RELEASED).code == 451
    os.rename(path + ".away", path)
    assert submit(world, RELEASED, "go").code == 250
    assert len(world.gate.items()) == 1


@story("Ended by the service manager under load, both end cleanly each time, and nothing is lost (XC8)")
def _(world):
    with Busy(world) as busy:
        for daemon in (world.gate.relay, world.gate.milter) * 3:
            busy.wait(3)
            assert daemon.stop() == 0, daemon.name
            daemon.start()


@story("Without memory, a daemon fails or ends, and nothing passes for that (XF7)")
def _(world):
    if world.reports.wanted:
        raise Skip("sanitizers take all of the address space")
    large = {"body": ("x" * 70 + "\r\n") * 40_000}
    accepted = 0
    for daemon in (world.gate.milter, world.gate.relay):
        daemon.stop()
        daemon.start()
        usual = address_space(daemon)
        codes = []
        # From not enough to begin with to nearly enough for a message, in KiB.
        for space in (usual // 2, usual, usual + 2048, usual + 12288):
            daemon.stop()
            with limited(daemon, f"--as={space * 1024}"):
                with contextlib.suppress(RuntimeError):  # it may have too little to begin with
                    daemon.start()
                codes += [submit(world, RELEASED, f"{number}", **large).code for number in (1, 2)]
                daemon.kill()
            daemon.start()
            codes.append(submit(world, RELEASED, "after").code)
            assert codes[-1] == 250, codes
        accepted += codes.count(250)
        assert any(400 <= code < 500 for code in codes), codes
        assert all(code == 250 or 400 <= code < 500 for code in codes), codes
    world.host.wait_empty()
    # One may have died after it was decided, and before the mail server heard of it.
    released = [item for item in world.gate.items(everything=True) if item["state"] == "released"]
    assert len(world.sink.messages()) == accepted <= len(released)


def address_space(daemon):
    """In KiB."""
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as file:
        [size] = [int(line.split()[1]) for line in file if line.startswith("VmSize")]
    return size


@contextlib.contextmanager
def limited(daemon, limit):
    """Within the block, the daemon starts with a limit (prlimit(1))."""
    usual = daemon.arguments
    daemon.arguments = ["prlimit", limit, "--", *usual]
    try:
        yield
    finally:
        daemon.arguments = usual


@story("Out of descriptors, each session gets an answer, and those after it are served (XF6)")
def _(world):
    for daemon, crowd in ((world.gate.milter, 1), (world.gate.relay, 64)):
        daemon.stop()
        with limited(daemon, "--nofile=64:64"):
            daemon.start()
            codes = Counter(at_once(world, 90, crowd))
            assert set(codes) == {250, 451}, codes
            assert "turned away" in daemon.read_log()
            assert submit(world).code == 250
            assert len(world.gate.items()) == codes[250] + 1
        world.gate.stop()
        world.gate.empty_state()
        world.gate.start()
    assert world.sink.messages() == []


def at_once(world, count, crowd):
    """The replies to so many sessions that all stand before the first message is sent. crowd: so
    many wait before the relay begins with any."""
    ready = threading.Barrier(count + 1)
    codes = []

    def act():
        with world.client(AGENT) as client:
            good = client.mail(AGENT).ok and client.rcpt(HELD).ok
            ready.wait(5 * PATIENCE)
            codes.append(client.data(letter(HELD, subject="hold it")).code if good else 451)
    threads = [threading.Thread(target=act) for _ in range(count)]
    for thread in threads:
        thread.start()
    world.gate.relay.signal(signal.SIGSTOP)
    try:
        ready.wait(5 * PATIENCE)
        until(lambda: connections(world) >= crowd)
    finally:
        world.gate.relay.signal(signal.SIGCONT)
    for thread in threads:
        thread.join()
    assert len(codes) == count, codes
    return codes


@story("While the next hop hangs, agents and people are served, and the relay ends when told (XF3)")
def _(world):
    gate = world.gate
    with Sink(os.path.join(world.folder, "provider")) as sink:
        next_hop(world, sink)
        sink.rules = [{"at": "RCPT", "do": "hang"}]
        items = [hold(world) for _ in range(6)]
        for item in items:
            gate.approve(item)
        until(lambda: sum(gate.show(item)["state"] == "sending" for item in items) >= SENDERS)
        assert submit(world, RELEASED, "go").code == 250
        assert gate.command("reject", hold(world), "no").returncode == 0
        assert gate.relay.stop() == 0
        assert sink.messages() == []
        sink.rules = []
        gate.relay.start()
        gate.clock(QUIET)
        for item in items:
            assert gate.wait_state(item, "sent") == "sent"
        assert len(sink.messages()) == len(items)


@story("The clock set forward by a year and back: nothing expires, no delay ends by it (XC11, XE12)")
def _(world):
    gate = world.gate
    gate.configure(POLICY.replace("1m-2m", "1h-2h"))  # longer than this story, however slow
    gate.restart_relay()
    sent = [hold(world), hold(world)]
    for item in sent:
        gate.approve(item)
        assert gate.wait_state(item, "sent") == "sent"
    for to, subject in ((HELD, "hold it"), (LATER, "by and by"), (HELD, "hold that")):
        assert submit(world, to, subject).code == 250
    before = {item["id"]: item["state"] for item in gate.items()}
    gate.clock(0, wrong=YEAR)
    until(lambda: "the clock went forward" in gate.relay.read_log())
    assert submit(world, HELD, "hold it under a wrong clock").code == 250
    assert submit(world, RELEASED, "go").code == 250
    looks = gate.seen()
    until(lambda: gate.seen() > looks + 1)
    with open(os.path.join(gate.state, "handovers.log"), encoding="ascii") as file:
        assert sent[0] in file.read()  # what is known there leaves no second time (XC12)
    assert {item["id"]: item["state"] for item in gate.items()
            if item["id"] in before} == before
    gate.clock(0)
    assert {item["id"]: item["state"] for item in gate.items()
            if item["id"] in before} == before
    [delayed] = [item for item, state in before.items() if state == "delayed"]
    gate.clock(3 * HOUR)
    assert gate.wait_state(delayed, "sent") == "sent"
    world.host.wait_empty()
    assert len(world.sink.messages()) == 4


@story("A clock that stays where it was set is believed after an hour, and after a sleep at once")
def _(world):
    gate = world.gate
    assert submit(world, LATER, "by and by").code == 250
    [item] = gate.items()
    gate.clock(0, wrong=YEAR)
    until(lambda: "the clock went forward" in gate.relay.read_log())
    gate.clock(HOUR + 60, wrong=YEAR)
    assert gate.wait_state(item["id"], "sent", "draft", "held", "expired") != "delayed"
    assert submit(world, HELD, "hold it").code == 250
    [item] = gate.items()
    gate.clock(YEAR, wrong=YEAR)
    assert gate.wait_state(item["id"], "expired") == "expired"
    assert gate.relay.read_log().count("the clock went forward") == 1


if __name__ == "__main__":
    if "--long" in sys.argv:
        sys.argv.remove("--long")
        SECONDS = 60
    end_on_signals()
    sys.exit(main(lambda: World(POLICY)))
