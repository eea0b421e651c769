"""What is switched off sends nothing, and nobody but an admin switches it on."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import ADMIN, AGENT, APPROVER, STRANGER as NOBODY  # noqa: E402
from letter import letter  # noqa: E402
from proxy import Proxy  # noqa: E402
from story import main, story, until  # noqa: E402
from world import World, end_on_signals  # noqa: E402

OWNER, ASSISTANT = "owner@example.com", "agent@example.com"
NORA, STRANGER, DANA = "nora@example.org", "stranger@example.net", "dana@example.com"
POLICY = """\
refuse  "never this"          if recipients > 5
hold    "first contact"       if novel > 0
release "colleagues"          if external = 0
delay 2h-6h "people I know"
"""
PANIC = "panic@example.com"
ACCOUNT = {"stop-address": PANIC}
MINUTES, HOURS = 60, 3600


def write(world, *recipients):
    """The human writes to people, who are known from then on."""
    message = letter(", ".join(recipients), sender=OWNER)
    assert world.submit(OWNER, list(recipients), message).code == 250
    world.sink.wait(1)


def submit(world, to, subject="A word", **fields):
    """The agent submits a message that is kept. Returns its item."""
    known = {item["id"] for item in world.gate.items(everything=True)}
    assert world.submit(ASSISTANT, [to], letter(to, subject, **fields)).code == 250
    [item] = [item for item in world.gate.items(everything=True) if item["id"] not in known]
    return item["id"]


def pass_time(world, seconds):
    """Moves the clock and waits until the relay has done all that is due by then: a message that
    expired tells that it has looked, and a relay that stops finishes what it sends."""
    world.gate.configure(POLICY, ACCOUNT, {"expire": "1m"})
    world.gate.restart_relay()
    marker = submit(world, STRANGER, "marker")
    world.gate.configure(POLICY, ACCOUNT)
    world.gate.clock(seconds)
    assert world.gate.wait_state(marker, "expired") == "expired"
    world.gate.restart_relay()


def states(world, items):
    return {world.gate.show(item)["state"] for item in items}


def admin(world, *words, uid=ADMIN):
    return world.gate.command(*words, uid=uid)


def nothing_of_the_agent_left(world):
    world.host.wait_empty()
    return all(message.field("From") == [OWNER] for message in world.sink.messages())


@story("Ten delayed and ten approved stay in while stopped, and need a new word after (XF8, A2)")
def _(world):
    write(world, NORA)
    delayed = [submit(world, NORA) for _ in range(10)]
    approved = [submit(world, STRANGER) for _ in range(10)]
    assert states(world, delayed) == {"delayed"}
    world.host.stop()
    for item in approved:
        world.gate.approve(item)
    for item in approved:
        until(lambda: world.gate.show(item)["state"] == "approved"
              and world.gate.show(item)["answer"] != "")
    done = admin(world, "stop", "It runs wild.")
    assert done.returncode == 0 and "Everything is stopped" in done.stdout, done
    world.host.start()
    world.gate.restart_relay()
    pass_time(world, 11 * MINUTES)
    assert states(world, approved) == {"approved"} and states(world, delayed) == {"delayed"}
    pass_time(world, 7 * HOURS)
    assert states(world, delayed) == {"delayed"}
    assert nothing_of_the_agent_left(world)
    done = admin(world, "start")
    assert done.returncode == 0 and "20 items" in done.stdout, done
    assert states(world, approved + delayed) == {"held"}
    assert world.gate.show(delayed[0])["why"] == "it was stopped meanwhile"
    world.gate.restart_relay()
    assert nothing_of_the_agent_left(world)
    world.gate.approve(delayed[0])
    assert world.gate.wait_state(delayed[0], "sent") == "sent"
    assert world.sink.wait(2)[-1].recipients == [NORA]


@story("A valid approval from before a stop is void after it; what is not due goes on (XF8, XC13)")
def _(world):
    write(world, NORA)
    delayed = submit(world, NORA)
    approved = submit(world, STRANGER)
    world.host.stop()
    world.gate.approve(approved)
    until(lambda: world.gate.show(approved)["answer"] != "")
    admin(world, "stop", "wait")
    digest = world.gate.show(approved)["digest"]
    assert world.gate.command("approve", approved, digest).returncode == 65
    admin(world, "start")
    world.host.start()
    assert world.gate.show(approved)["state"] == "held"
    assert world.gate.show(delayed)["state"] == "delayed"
    world.gate.clock(7 * HOURS)
    assert world.gate.wait_state(delayed, "sent") == "sent"
    world.gate.restart_relay()
    assert [message.recipients for message in world.sink.wait(2)] == [[NORA], [NORA]]


@story("New submissions are kept as held while stopped, whatever the rules say")
def _(world):
    write(world, NORA, DANA)
    admin(world, "stop", "It runs wild.")
    for to in (DANA, NORA, STRANGER):
        item = world.gate.show(submit(world, to))
        assert item["state"] == "held" and item["reason"] == "stopped: It runs wild.", item
    crowd = [f"s{number}@example.net" for number in range(6)]
    assert world.submit(ASSISTANT, crowd, letter(STRANGER)).code == 250
    assert world.submit(ASSISTANT, [DANA], letter(DANA), sender="").code == 550
    assert nothing_of_the_agent_left(world)
    admin(world, "start")
    released = letter(DANA)
    assert world.submit(ASSISTANT, [DANA], released).code == 250
    until(lambda: any(message.data.endswith(released) for message in world.sink.messages()))


@story("A stop between the bytes and the final dot keeps the message in")
def _(world):
    proxy = Proxy(os.path.join(world.folder, "proxy"), world.host.door)
    with proxy:
        world.gate.configure(POLICY, ACCOUNT, {"next-hop": f"unix:{proxy.path}"})
        world.gate.restart_relay()
        item = submit(world, STRANGER)
        answers = []

        def at_dot():
            answers.append(admin(world, "stop", "now"))
            return "pass"
        proxy.at_dot = at_dot
        world.gate.approve(item)
        assert world.gate.wait_state(item, "held") == "held"
    assert [answer.returncode for answer in answers] == [0]
    assert world.gate.show(item)["why"] == "stopped: now"
    world.host.wait_empty()
    assert world.sink.messages() == []


@story("Only admins stop and start; it is told first, and is on record (XF9)")
def _(world):
    for uid in (AGENT, APPROVER, NOBODY):
        assert admin(world, "stop", "mine", uid=uid).returncode == 77
    assert admin(world, "stop", "owner", "It runs wild.").returncode == 0
    assert admin(world, "stop", "owner", "again").returncode == 65
    for words in (("start", "owner"), ("account", "resume", "owner")):
        for uid in (AGENT, APPROVER, NOBODY):
            assert admin(world, *words, uid=uid).returncode == 77
    world.gate.restart_relay()
    told = world.gate.command("status").stdout.splitlines()
    assert told[0].startswith("owner is stopped since "), told
    assert f"user {ADMIN}" in told[0] + told[1] and "It runs wild." in told[0] + told[1], told
    assert admin(world, "start").returncode == 65
    assert admin(world, "start", "owner").returncode == 0
    assert world.gate.answer("status")["halts"] == []
    assert f"owner stopped: It runs wild. by user {ADMIN}" in world.gate.relay.read_log()


@story("Wrong words stop nothing, and say so")
def _(world):
    for words, status in (
            (("stop",), 64), (("stop", " "), 64), (("stop", "nobody", "why"), 66),
            (("start", "nobody"), 65), (("account", "suspend", "owner"), 64),
            (("account", "close", "owner", "why"), 64), (("account", "resume", "owner", "x"), 64),
            (("account", "suspend", "nobody", "why"), 66), (("account", "resume", "owner"), 65),
            (("account", "suspend", "", "why"), 66), (("stop", "x" * 1001), 64),
            (("stop", "two\nlines"), 64)):
        done = admin(world, *words)
        assert done.returncode == status and done.stderr.startswith("exeat: "), (words, done)
    assert world.gate.answer("status")["halts"] == []


@story("A human stops the account by mail, and nobody else does (A2)")
def _(world):
    for login, to, subject in (
            (ASSISTANT, PANIC, "stop"), ("other@example.com", PANIC, "stop"),
            (OWNER, PANIC, "stopwatch"), (OWNER, PANIC, "Re: stop"), (OWNER, PANIC, "start"),
            (OWNER, DANA, "stop")):
        assert world.submit(login, [to], letter(to, subject, sender=login)).code == 250
    assert world.receive("mallory@example.net", [PANIC],
                         letter(PANIC, "stop", sender=OWNER)).code == 250
    assert world.gate.answer("status")["halts"] == []
    order = letter(PANIC, "STOP: it answers mallory", sender=ASSISTANT)
    assert world.submit(OWNER, [PANIC], order).code == 250
    [halt] = world.gate.answer("status")["halts"]
    assert halt["why"] == "it answers mallory" and halt["account"] == "owner", halt
    assert halt["who"] == f"human login {OWNER}", halt
    until(lambda: any(message.data.endswith(order) for message in world.sink.messages()))
    assert world.gate.answer("history", PANIC)["entries"][0]["times"] == 3
    start = letter(PANIC, "start", sender=OWNER)
    assert world.submit(OWNER, [PANIC], start).code == 250
    assert world.submit(OWNER, [PANIC], letter(PANIC, "stop", sender=OWNER)).code == 250
    assert len(world.gate.answer("status")["halts"]) == 1
    assert world.gate.show(submit(world, DANA))["reason"] == "stopped: it answers mallory"


@story("A mailed stop that the relay does not hear is answered 451 (A2)")
def _(world):
    world.gate.relay.stop()
    assert world.submit(OWNER, [PANIC], letter(PANIC, "stop", sender=OWNER)).code == 451
    assert world.submit(OWNER, [DANA], letter(DANA, sender=OWNER)).code == 250
    world.gate.relay.start()
    assert world.submit(OWNER, [PANIC], letter(PANIC, "stop", sender=OWNER)).code == 250
    assert len(world.gate.answer("status")["halts"]) == 1


@story("Suspending voids what is pending; revoking also refuses the agent (E38, E47, XC13)")
def _(world):
    write(world, NORA)
    delayed = submit(world, NORA)
    approved = submit(world, STRANGER)
    world.host.stop()
    world.gate.approve(approved)
    until(lambda: world.gate.show(approved)["answer"] != "")
    done = admin(world, "account", "suspend", "owner", "on leave")
    assert done.returncode == 0 and "owner is suspended" in done.stdout, done
    assert "2 items" in done.stdout, done
    world.host.start()
    assert states(world, [delayed, approved]) == {"held"}
    assert world.gate.show(submit(world, NORA))["reason"] == "suspended: on leave"
    digest = world.gate.show(approved)["digest"]
    assert world.gate.command("approve", approved, digest).returncode == 65
    assert admin(world, "account", "revoke", "owner", "stolen").returncode == 0
    reply = world.submit(ASSISTANT, [DANA], letter(DANA))
    assert reply.code == 550 and "may not send any more" in str(reply), reply
    assert admin(world, "account", "resume", "owner").returncode == 0
    world.gate.restart_relay()
    assert states(world, [delayed, approved]) == {"held"}
    assert nothing_of_the_agent_left(world)
    world.gate.approve(approved)
    world.gate.clock(MINUTES)
    assert world.gate.wait_state(approved, "sent") == "sent"


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World(POLICY, ACCOUNT)))
