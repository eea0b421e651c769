"""Crash proof (XC8, XF3): killed at every step, nothing is lost and nothing leaves twice.

    story-crash.py [--kills N] [words of a sentence]

N kills are spread over the stories; make check is content with a few, 500 and more try every
step there is, and are more than the 200 that XE8 asks for."""

import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from crowd import Crowd, decide, settle, submit  # noqa: E402
from keeper import Keeper  # noqa: E402
from ledger import KEPT, POLICY, Ledger, balance, read_items  # noqa: E402
from sink import Sink  # noqa: E402
from story import main, story, until  # noqa: E402
from world import World, end_on_signals  # noqa: E402

KILLS = 40
ALL_STEPS = 500  # from so many kills on, no step is left out
LIFE_OF_ONE = 60  # seconds that one message may take
AT_ONCE = ["451 4.3.0 not now", "drop", "reset", "half", "250 2.0.0 kept", "554 5.6.0 never",
           "421 4.3.2 going down"]
QUIET = 150  # seconds: longer than any delay of the policy, and than the first retries


def take_kills(arguments):
    """The number after --kills, which is taken out of the arguments."""
    if "--kills" not in arguments:
        return KILLS
    at = arguments.index("--kills")
    kills = int(arguments[at + 1])
    del arguments[at:at + 2]
    return kills


def stride():
    """How many steps a sweep goes on at a time."""
    return max(1, ALL_STEPS // KILLS)


def persist(work, *arguments):
    """Does what fails while nobody answers, until it does not."""
    deadline = time.monotonic() + LIFE_OF_ONE
    while True:
        try:
            return work(*arguments)
        except RuntimeError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def check(world, ledger, *sinks):
    """Everything is at rest: the books balance, and the audit record is whole."""
    world.host.wait_empty()
    messages = [message for sink in sinks for message in sink.messages()]
    complaints = balance(world.gate, ledger, messages)
    assert not complaints, "\n".join(complaints)
    done = world.gate.command("audit", "verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "older copy" not in world.gate.relay.read_log()


def live(world, ledger, kind):
    """The life of one message, from its submission to its end."""
    entry = ledger.write(kind)
    submit(world, entry, threading.Event())
    assert entry.outcome == KEPT
    [item] = [item for item in read_items(world.gate) if item.message_id == entry.id]
    deadline = time.monotonic() + LIFE_OF_ONE
    while (state := persist(world.gate.show, item.id)["state"]) not in ("sent", "uncertain",
                                                                        "failed"):
        assert time.monotonic() < deadline, f"{item.id} is still {state}"
        if state == "held":
            persist(decide, world, ledger, item.id, "approve")
        elif state in ("delayed", "approved"):
            world.gate.clock(world.gate.moved + QUIET // 5)
        time.sleep(0.02)


def come_again(world, entry):
    """A client that hears 451 until the end. Returns the states that its items were in."""
    try:
        reply = world.submit(entry.sender, entry.to, entry.message)
    except OSError:
        reply = None
    items = [item for item in read_items(world.gate) if item.message_id == entry.id]
    assert len(items) <= 1, [item.id for item in items]
    if reply is not None and reply.code == 250:
        assert [item.state for item in items] == ["sent"], reply
        entry.outcome = KEPT
    return items


def live_later(world, ledger, kind):
    """The same where the client is answered when the message has come to its end."""
    entry = ledger.write(kind)
    deadline = time.monotonic() + LIFE_OF_ONE
    while entry.outcome != KEPT:
        assert time.monotonic() < deadline, f"{entry.id} has no end"
        for item in come_again(world, entry):
            if item.state == "held":
                persist(decide, world, ledger, item.id, "approve")
            elif item.state == "uncertain":
                entry.outcome = KEPT
        world.gate.clock(world.gate.moved + QUIET // 5)
        time.sleep(0.02)


def sweep(world, ledger, kind, live=live):  # pylint: disable=redefined-outer-name
    """Lets a message live again and again, killing the relay one step later each time, until
    it outlives the last step. Returns the number of kills."""
    with Keeper(world.gate) as keeper:
        steps = 0
        while True:
            before = keeper.deaths["exeat-relay"]
            steps += stride()
            keeper.kill_after(steps)
            live(world, ledger, kind)
            if keeper.deaths["exeat-relay"] == before:
                return before


def tell(text):
    print(f"# {text}", flush=True)


@story("Killed at any step from submission to the door, held mail leaves once (XC8)")
def _(world):
    ledger = Ledger()
    kills = sweep(world, ledger, "hold")
    tell(f"{kills} kills")
    assert kills >= 40 // stride(), kills
    check(world, ledger, world.sink)


@story("The milter killed at any step: a 4xx or nothing, and the retry is one message (XF1, XC8)")
def _(world):
    ledger = Ledger()
    milter = world.gate.milter
    with Keeper(world.gate, milter) as keeper:
        for kind in ("release", "hold", "draft"):
            steps, before = 0, -1
            while keeper.deaths[milter.name] != before:
                before = keeper.deaths[milter.name]
                steps += 1
                keeper.kill_after(steps)
                submit(world, ledger.write(kind), threading.Event())
            tell(f"{kind}: {steps - 1} kills")
            assert steps > 4, steps
    check(world, ledger, world.sink)


@story("Killed at any step, delayed mail leaves once (XC8)")
def _(world):
    ledger = Ledger()
    tell(f"{sweep(world, ledger, 'delay')} kills")
    check(world, ledger, world.sink)


def without_gate(world, sink):
    """From now on the next hop is a server that has no gate."""
    world.gate.configure(POLICY, settings={"next-hop": f"inet:127.0.0.1:{sink.port}",
                                           "next-hop-gated": "no"})
    world.gate.restart_relay()


@story("Killed at any step, nothing leaves twice by a next hop without the gate (XC8)")
def _(world):
    ledger = Ledger()
    with Sink(os.path.join(world.folder, "other")) as sink:
        without_gate(world, sink)
        tell(f"{sweep(world, ledger, 'hold')} kills")
        check(world, ledger, sink)


@story("Who did not hear the answer and comes again after it left sends nothing twice (XF22)")
def _(world):
    ledger = Ledger()
    entry = ledger.write("delay")
    submit(world, entry, threading.Event())
    settle(world, QUIET)
    submit(world, entry, threading.Event())
    settle(world, QUIET)
    assert [item.state for item in read_items(world.gate)] == ["sent"]
    check(world, ledger, world.sink)


@story("Who hears 451 until the end, whatever is killed, has one item and sends once (XF22)")
def _(world):
    world.gate.configure(POLICY, {"answer": "later"}, {"waiting-limit": "100000"})
    world.gate.restart_relay()
    ledger = Ledger()
    kills = sum(sweep(world, ledger, kind, live_later) for kind in ("hold", "delay"))
    tell(f"{kills} kills")
    assert kills >= 60 // stride(), kills
    check(world, ledger, world.sink)


@story("Killed at any step of its first start, the relay starts the next time")
def _(world):
    gate = world.gate
    keeper = Keeper(gate)
    steps = 0
    while True:
        steps += stride()
        gate.relay.kill()
        gate.empty_state()
        keeper.kill_after(steps)
        try:
            gate.relay.start()
            break
        except RuntimeError:
            keeper.calm()
            gate.relay.start()
        assert gate.items() == []
        assert gate.command("audit", "verify").returncode == 0, steps
    tell(f"{steps // stride()} kills")
    keeper.calm()
    assert steps > 10


def kill_at_random(world, keeper, number):
    """One kill: mostly the relay, at a time or at a step; now and then the milter, or all of
    Postfix."""
    gate = world.gate
    time.sleep(random.uniform(0, 0.2))
    if number % 12 == 11:
        world.host.stop()
        world.host.restart()
    elif number % 6 == 5:
        keeper.kill(gate.milter)
    elif number % 2 == 1:
        keeper.kill(gate.relay)
    else:
        before = keeper.deaths[gate.relay.name]
        keeper.kill_after(random.randint(1, 200))
        assert keeper.wait_death(gate.relay, before)
    gate.clock(gate.moved + random.randint(1, 30))


def storm(world, ledger, kills, kinds, each=None):
    """A crowd at work, and kills. each: called before every kill."""
    with Keeper(world.gate) as keeper:
        with Crowd(world, ledger, agents=3, kinds=kinds):
            for number in range(kills):
                if each is not None:
                    each()
                kill_at_random(world, keeper, number)
        keeper.calm()
        settle(world, QUIET)
        tell(f"{len(ledger.entries)} messages, {keeper.deaths}")
        states = [item.state for item in read_items(world.gate)]
        tell(", ".join(f"{states.count(state)} {state}" for state in sorted(set(states))))


@story("Relay, milter and Postfix killed under load: the books balance, the record is whole (XC8, XE8, XF3)")
def _(world):
    ledger = Ledger()
    storm(world, ledger, KILLS // 2, ("release", "delay", "hold", "draft"))
    check(world, ledger, world.sink)


@story("Killed under load, before a next hop that misbehaves: nothing leaves twice (XC8)")
def _(world):
    ledger = Ledger()
    with Sink(os.path.join(world.folder, "other")) as sink:
        without_gate(world, sink)

        def misbehave():
            sink.rules = [{"at": random.choice(["CONNECT", "RCPT", "BODY", "DOT", "DOT", "DOT"]),
                           "do": random.choice(AT_ONCE), "times": random.randint(1, 3)}]
        storm(world, ledger, KILLS // 4, ("delay", "hold", "draft"), misbehave)
        sink.rules = []
        check(world, ledger, sink)


if __name__ == "__main__":
    KILLS = take_kills(sys.argv)
    end_on_signals()
    sys.exit(main(lambda: World(POLICY, settings={"waiting-limit": "100000"})))
