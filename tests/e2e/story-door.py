"""Ticket and door: how held mail leaves, once and unchanged."""

import os
import re
import signal
import sqlite3
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import AGENT, APPROVER, SECOND_APPROVER  # noqa: E402
from letter import letter  # noqa: E402
from proxy import Proxy  # noqa: E402
from smtpclient import Client  # noqa: E402
from story import PATIENCE, main, story, until  # noqa: E402
from world import World  # noqa: E402

HOLD = 'hold "everything"\n'
TO = "stranger@example.net"


def hold_one(world, message=None):
    """Submits a message that is held and returns its item."""
    reply = world.submit("agent@example.com", [TO], message or letter(TO))
    assert reply.code == 250, reply
    [item] = world.gate.items()
    assert item["state"] == "held", item
    return item["id"]


def through_proxy(world):
    """Puts a proxy between the relay and the door."""
    proxy = Proxy(os.path.join(world.folder, "proxy"), world.host.door)
    world.gate.configure(HOLD, settings={"next-hop": f"unix:{proxy.path}"})
    world.gate.restart_relay()
    return proxy


def nothing_left(world):
    """Nothing is on its way and nothing arrived."""
    world.host.wait_empty()
    return world.sink.messages() == []


@story("Approved mail leaves once, byte for byte, without its ticket (C6, C7)")
def _(world):
    body = ".\r\n..\r\nMAIL FROM:<mallory@example.net>\r\n.\r\nRCPT\r\nDu süßes Ding\r\n"
    message = letter(TO, body=body)
    item = hold_one(world, message)
    assert nothing_left(world)
    world.gate.approve(item)
    assert world.gate.wait_state(item, "sent") == "sent"
    [arrived] = world.sink.wait(1)
    assert arrived.recipients == [TO]
    assert arrived.data.endswith(message), arrived.data
    assert b"exeat-ticket" not in arrived.data.lower()
    moves = [(move["from"], move["to"]) for move in world.gate.show(item)["moves"]]
    assert ("sending", "committing") in moves and ("committing", "sent") in moves, moves


@story("Envelope parameters go out as they came in (S3, XA13)")
def _(world):
    params = {TO: "NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;stranger@example.net"}
    with world.client("agent@example.com") as client:
        reply = client.submit("agent@example.com", [TO], letter(TO),
                              mail_params="RET=HDRS ENVID=q+2B1", rcpt_params=params)
    assert reply.code == 250, reply
    [item] = world.gate.items()
    world.gate.approve(item["id"])
    [arrived] = world.sink.wait(1)
    assert "NOTIFY=SUCCESS,FAILURE" in arrived.rcpt_params[TO], arrived.rcpt_params
    assert "ORCPT=rfc822;stranger@example.net" in arrived.rcpt_params[TO], arrived.rcpt_params
    assert "RET=HDRS" in arrived.mail_params and "ENVID=q+2B1" in arrived.mail_params


@story("A ticket on an agent's submission is an ordinary field: taken out, and held (XA8)")
def _(world):
    item = hold_one(world, letter(TO, X_Exeat_Ticket="0" * 32, X_Exeat_Passed="yes"))
    assert nothing_left(world)
    world.gate.approve(item)
    [arrived] = world.sink.wait(1)
    assert b"x-exeat" not in arrived.data.lower(), arrived.data


@story("At the door, no ticket and a made-up ticket are refused, even one of odd bytes (XA6)")
def _(world):
    made_up = letter(TO, X_Exeat_Ticket="f" * 32)
    for message in (letter(TO), made_up, made_up.replace(b"fff", b"\xff\xc3\x28")):
        with Client(world.host.door) as client:
            client.ehlo()
            reply = client.submit("agent@example.com", [TO], message)
        assert reply.code == 550, reply
    assert nothing_left(world)
    assert "CRITICAL" not in world.gate.milter.read_log()


def replay(world, session, change=(b"", b"")):
    """Plays what the relay said at the door once more, and returns the reply to the dot."""
    data = bytes(session)
    head, _, rest = data.partition(b"DATA\r\n")
    message = rest.partition(b"\r\n.\r\n")[0] + b"\r\n"
    with Client(world.host.door) as client:
        client.ehlo()
        for line in head.split(b"\r\n"):
            if re.match(rb"(?i)(MAIL|RCPT)", line):
                assert client.command(line).ok, line
        assert client.command("DATA").code == 354
        client.send(message.replace(*change) if change[0] else message)
        client.send(b".\r\n")
        return client.reply()


@story("A used ticket sends nothing again: same bytes are discarded, others refused (XA7)")
def _(world):
    with through_proxy(world) as proxy:
        item = hold_one(world)
        world.gate.approve(item)
        assert world.gate.wait_state(item, "sent") == "sent"
        world.sink.wait(1)
        assert replay(world, proxy.sessions[-1]).code == 250
        assert replay(world, proxy.sessions[-1], (b"Hello.", b"Hallo.")).code == 550
        world.host.wait_empty()
        assert len(world.sink.messages()) == 1


@story("A byte changed on the way to the door is refused (E44, XB33)")
def _(world):
    with through_proxy(world) as proxy:
        proxy.change = (b"Hello.", b"Hallo.")
        item = hold_one(world)
        world.gate.approve(item)
        until(lambda: world.gate.show(item)["answer"] != "")
        assert world.gate.wait_state(item, "held") == "held"
        assert "the door refused it" in world.gate.show(item)["why"]
        assert nothing_left(world)


@story("A recipient changed or added on the way is refused (E43, E54)")
def _(world):
    for change in ((b"RCPT TO:<stranger@", b"RCPT TO:<mallory@"),
                   (b"DATA\r\n", b"RCPT TO:<mallory@example.net>\r\nDATA\r\n")):
        proxy = through_proxy(world)
        with proxy:
            proxy.change = change
            item = hold_one(world)
            world.gate.approve(item)
            until(lambda: world.gate.show(item)["answer"] != "")
            # Held when the gate refused it, approved when the replies were out of step.
            state = world.gate.show(item)["state"]
            assert state in ("held", "approved"), state
            world.gate.command(*(["reject", item, "no"] if state == "held" else ["veto", item]))
            assert nothing_left(world)


@story("A ticket that is two hours old is refused")
def _(world):
    with through_proxy(world) as proxy:
        def late():
            world.gate.clock(2 * 3600)
            return "pass"
        proxy.at_dot = late
        item = hold_one(world)
        world.gate.approve(item)
        assert world.gate.wait_state(item, "held") == "held"
        assert nothing_left(world)


@story("A right withdrawn while the door asks keeps the message in (XC13)")
def _(world):
    lock = sqlite3.connect(os.path.join(world.gate.state, "exeat.db"), isolation_level=None,
                           timeout=PATIENCE, check_same_thread=False)
    with through_proxy(world) as proxy:
        def keep_waiting():
            lock.execute("BEGIN IMMEDIATE")
            proxy.at_dot = lambda: "pass"
            return "pass"
        proxy.at_dot = keep_waiting
        item = hold_one(world)
        world.gate.approve(item)
        until(lambda: proxy.dots == 1)
        time.sleep(0.3)  # so that the milter has asked; the relay waits two seconds for the database
        world.gate.configure(HOLD, {"approvers": str(SECOND_APPROVER)},
                             {"next-hop": f"unix:{proxy.path}"})
        world.gate.relay.signal(signal.SIGHUP)
        until(lambda: world.gate.turns_away(APPROVER))
        lock.execute("ROLLBACK")
        lock.close()

        def state():
            return world.gate.answer("show", item, uid=SECOND_APPROVER)["state"]
        until(lambda: state() in ("held", "sent"))
        assert state() == "held"
        assert nothing_left(world)


@story("Cut before the dot: the ticket is unused, and the retry delivers once (XC8)")
def _(world):
    with through_proxy(world) as proxy:
        cuts = iter(["cut"])
        proxy.at_dot = lambda: next(cuts, "pass")
        item = hold_one(world)
        world.gate.approve(item)
        assert world.gate.wait_state(item, "approved") == "approved"
        until(lambda: world.gate.show(item)["answer"] != "")
        assert nothing_left(world)
        world.gate.clock(60)
        assert world.gate.wait_state(item, "sent") == "sent"
        world.host.wait_empty()
        assert len(world.sink.wait(1)) == 1
        assert len(proxy.sessions) == 2


@story("Cut after the dot: delivered once, never tried again, and a person settles it (E40, XC8)")
def _(world):
    with through_proxy(world) as proxy:
        proxy.at_dot = lambda: "mute"
        item = hold_one(world)
        world.gate.approve(item)
        assert world.gate.wait_state(item, "uncertain") == "uncertain"
        moves = world.gate.show(item)["moves"]
        assert any("queue id" in move["why"] for move in moves), moves
        world.sink.wait(1)
        world.gate.clock(24 * 3600)
        world.gate.restart_relay()
        world.host.wait_empty()
        assert len(world.sink.messages()) == 1
        assert len(proxy.sessions) == 1 and proxy.dots == 1
        assert world.gate.command("resolve", item, "released").returncode == 64
        assert world.gate.command("resolve", item, "sent").returncode == 0
        assert world.gate.show(item)["state"] == "sent"
        assert world.gate.command("resolve", item, "failed").returncode == 65


@story("Postfix dies between ticket and answer: nobody says that it was sent (XF20)")
def _(world):
    with through_proxy(world) as proxy:
        def die():
            world.host.stop()
            return "mute"
        proxy.at_dot = die
        item = hold_one(world)
        world.gate.approve(item)
        until(lambda: world.gate.show(item)["answer"] != "")
        assert world.gate.show(item)["state"] in ("approved", "uncertain")
        assert world.sink.messages() == []


@story("Fifty approvals at once: one counts, one message leaves, all are recorded (C14, E46, XC6)")
def _(world):
    item = hold_one(world)
    digest = world.gate.show(item)["digest"]
    done = []

    def approve(number):
        uid = (APPROVER, SECOND_APPROVER)[number % 2]
        code = 75
        while code == 75:  # too many of one user at once are asked to come again
            code = world.gate.command("approve", item, digest[:12], uid=uid).returncode
        done.append(code)
    threads = [threading.Thread(target=approve, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [0] + [65] * 49, done
    denied = world.gate.answer("audit", "--item", item, "--kind", "denied")["entries"]
    assert len(denied) == 49, denied
    assert world.gate.wait_state(item, "sent") == "sent"
    world.host.wait_empty()
    assert len(world.sink.wait(1)) == 1


@story("An approval is for the digest that was shown, and lives fifteen minutes (E28, E42, XC7, XC22)")
def _(world):
    world.gate.configure(HOLD, settings={"next-hop": f"unix:{world.folder}/nowhere"})
    world.gate.restart_relay()
    item = hold_one(world)
    assert world.gate.command("approve", item, "0" * 12).returncode == 65
    assert world.gate.command("approve", item, "0").returncode == 64
    world.gate.approve(item)
    assert world.gate.wait_state(item, "approved") == "approved"
    world.gate.clock(16 * 60)
    assert world.gate.wait_state(item, "held") == "held"
    assert nothing_left(world)


@story("The agent and strangers may not decide, and see nothing (XC1, XC2, XC17, B19, B31)")
def _(world):
    item = hold_one(world)
    digest = world.gate.show(item)["digest"]
    for uid in (AGENT, 61999):
        for words in (("list",), ("show", item), ("approve", item, digest), ("reject", item, "no"),
                      ("veto", item)):
            assert world.gate.command(*words, uid=uid).returncode == 77, (uid, words)
    assert world.gate.show(item)["state"] == "held"
    assert nothing_left(world)


@story("An agent's user who comes into the approvers' group decides nothing (XC1)")
def _(world):
    group = 61990
    world.gate.configure(HOLD, account={"approvers": f"@{group}, {APPROVER}"})
    world.gate.restart_relay()
    item = hold_one(world)
    digest = world.gate.show(item)["digest"]
    assert world.gate.command("show", item, uid=61991, gid=group).returncode == 0
    for words in (("list",), ("show", item), ("approve", item, digest)):
        assert world.gate.command(*words, uid=AGENT, gid=group).returncode == 77, words
    assert world.gate.show(item)["state"] == "held"
    assert nothing_left(world)


if __name__ == "__main__":
    sys.exit(main(lambda: World(HOLD)))
