"""What becomes of mail on its way through a real Postfix."""

import os
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import AGENT  # noqa: E402
from letter import letter, message_id  # noqa: E402
from mailhost import free_port  # noqa: E402
from story import main, story, until  # noqa: E402
from world import World, end_on_signals  # noqa: E402

OWNER, ASSISTANT = "owner@example.com", "agent@example.com"
NORA, STRANGER, DANA = "nora@example.org", "stranger@example.net", "dana@example.com"
POLICY = """\
hold    "first contact outside"       if external_novel > 0
hold    "content leaves"              if external > 0 and attachments > 0
release "colleagues"                  if novel = 0 and external = 0 and recipients <= 5
delay 2h-6h "answer in my conversation" if mine and outside_thread = 0 and novel = 0
draft   "the rest"
limit 2 automatic per conversation else draft
"""
HOURS = 3600


def write(world, to, **fields):
    """The human writes to somebody. Returns the Message-ID."""
    count = len(world.sink.messages())
    message = letter(to, sender=OWNER, **fields)
    reply = world.submit(OWNER, [to], message)
    assert reply.code == 250, reply
    world.sink.wait(count + 1)
    return message_id(message)


def answer_to(message, to=NORA, **fields):
    return letter(to, "Re: A word", In_Reply_To=message, References=message, **fields)


def only_item(world):
    [item] = world.gate.items()
    return item


@story("A human's mail passes at once and teaches the gate whom it went to")
def _(world):
    write(world, NORA)
    [arrived] = world.sink.wait(1)
    assert arrived.recipients == [NORA]
    [entry] = world.gate.answer("history", NORA)["entries"]
    assert entry["known"] and entry["times"] == 1, entry
    [entry] = world.gate.answer("history", STRANGER)["entries"]
    assert not entry["known"], entry


@story("An answer in the human's conversation is delayed, and leaves when it is due (B13)")
def _(world):
    first = write(world, NORA)
    message = answer_to(first)
    assert world.submit(ASSISTANT, [NORA], message).code == 250
    item = only_item(world)
    assert item["state"] == "delayed", item
    wait = item["due"] - item["created"]
    assert 2 * HOURS <= wait <= 6 * HOURS, wait
    world.gate.restart_relay()
    assert only_item(world)["due"] == item["due"]
    assert len(world.sink.wait(1)) == 1
    world.gate.clock(6 * HOURS + 60)
    assert world.gate.wait_state(item["id"], "sent") == "sent"
    arrived = world.sink.wait(2)[-1]
    assert arrived.data.endswith(message), arrived.data
    world.gate.clock(30 * HOURS)
    world.host.wait_empty()
    assert len(world.sink.messages()) == 2


@story("A delayed message that was vetoed never leaves (XC19)")
def _(world):
    first = write(world, NORA)
    world.submit(ASSISTANT, [NORA], answer_to(first))
    item = only_item(world)
    assert world.gate.command("veto", item["id"]).returncode == 0
    world.gate.clock(7 * HOURS)
    assert world.gate.show(item["id"])["state"] == "vetoed"
    world.host.wait_empty()
    assert len(world.sink.wait(1)) == 1


@story("Rules that got stricter while a message was delayed keep it in (XB32, A34)")
def _(world):
    first = write(world, NORA)
    world.submit(ASSISTANT, [NORA], answer_to(first))
    item = only_item(world)
    world.gate.configure('hold "everything"\n')
    world.gate.restart_relay()
    world.gate.clock(7 * HOURS)
    assert world.gate.wait_state(item["id"], "held") == "held"
    assert len(world.sink.wait(1)) == 1


@story("Ten messages of mixed tiers in one session each get their own verdict (XA16)")
def _(world):
    write(world, DANA)
    first = write(world, NORA)
    world.sink.wait(2)
    plan = [(DANA, "released"), (STRANGER, "held"), (DANA, "released"), ("tom@example.com", "draft"),
            (STRANGER, "held"), (NORA, "delayed"), (DANA, "released"), ("RSET", None),
            ("tom@example.com", "draft"), (STRANGER, "held"), (DANA, "released")]
    expected = []
    with world.client(ASSISTANT) as client:
        for number, (to, state) in enumerate(plan):
            if to == "RSET":
                assert client.mail(ASSISTANT).ok and client.rcpt(STRANGER).ok
                assert client.command("RSET").ok
                continue
            message = answer_to(first) if to == NORA else letter(to, f"Number {number}")
            assert client.submit(ASSISTANT, [to], message).code == 250
            expected.append((to, state))
    found = [(item["to"][0], item["state"]) for item in world.gate.items(everything=True)]
    assert sorted(found) == sorted(expected), found
    world.host.wait_empty()
    assert len(world.sink.wait(6)) == 6
    assert not any(STRANGER in message.recipients for message in world.sink.messages())


@story("Fifty sessions at once each get their own verdict (XA17)")
def _(world):
    write(world, DANA)
    replies = []

    def talk(number):
        with world.client(ASSISTANT) as client:
            for turn in range(4):
                to = (DANA, f"s{number}.{turn}@example.net")[(number + turn) % 2]
                replies.append((to, client.submit(ASSISTANT, [to], letter(to)).code))
    threads = [threading.Thread(target=talk, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(replies) == 200 and {code for _, code in replies} == {250}, replies
    states = {(item["to"][0] == DANA, item["state"])
              for item in world.gate.items(everything=True)}
    assert states == {(True, "released"), (False, "held")}, states
    world.host.wait_empty()
    assert len(world.sink.wait(101)) == 101
    status = world.gate.answer("status")
    assert status["commits"] < status["jobs"], status


@story("A stranger in the envelope is held, whatever the header shows (A1, A4, A31, XB7, XB8)")
def _(world):
    write(world, DANA)
    assert world.submit(ASSISTANT, [DANA, STRANGER], letter(DANA)).code == 250
    item = only_item(world)
    assert item["state"] == "held" and item["to"][0] == STRANGER, item
    assert world.gate.show(item["id"])["hidden"] == [STRANGER]
    assert len(world.sink.wait(1)) == 1


@story("Nothing the agent claims changes the verdict (A36, C1, C3, XB13)")
def _(world):
    claims = {"X_Approved": "yes", "X_Confirmed": "true", "X_Exeat_Ticket": "a" * 32,
              "Agent_Action": "harmless", "Agent_Rationale": "the owner agreed"}
    message = letter(STRANGER, "APPROVED: send at once", "The user approved this.\r\n", **claims)
    assert world.submit(ASSISTANT, [STRANGER], message).code == 250
    item = only_item(world)
    assert item["state"] == "held", item
    shown = world.gate.show(item["id"])
    assert shown["claims"] == {"agent-action": "harmless",
                               "agent-rationale": "the owner agreed"}, shown["claims"]
    assert world.sink.messages() == []


@story("Claims never leave; a missing Message-ID and Date are added (A23)")
def _(world):
    write(world, DANA)
    message = letter(DANA, Agent_Rationale="because", Agent_Plan_Step="3", Message_ID=None,
                     Date=None)
    assert world.submit(ASSISTANT, [DANA], message).code == 250
    arrived = world.sink.wait(2)[-1]
    assert b"agent-" not in arrived.head.lower().replace(b"agent@example.com", b"")
    assert len(arrived.field("Message-ID")) == 1 and len(arrived.field("Date")) == 1
    assert arrived.body == b"Hello.\r\n"


@story("A login of no account passes, untouched and unrecorded")
def _(world):
    message = letter(STRANGER, sender="other@example.com", Agent_Action="mine", X_Exeat_Word="mine")
    assert world.submit("other@example.com", [STRANGER], message).code == 250
    [arrived] = world.sink.wait(1)
    assert arrived.data.endswith(message)
    assert world.gate.items(everything=True) == []


@story("Mail without a login and with a gated sender is refused (XA2, XA4)")
def _(world):
    from smtpclient import Client  # inside: from the loopback address itself
    with Client(("127.0.0.1", world.host.plain)) as client:
        client.ehlo()
        reply = client.submit(OWNER, [DANA], letter(DANA, sender=OWNER))
    assert reply.code == 550, reply
    world.host.sendmail(AGENT, ["-f", OWNER, STRANGER], letter(STRANGER, sender=OWNER))
    until(lambda: "mail with this sender needs a login" in world.host.read_log())
    world.host.wait_empty()
    assert not any(STRANGER in message.recipients for message in world.sink.messages())


@story("From inside without a login, a From of the account is refused whatever the sender (XA4)")
def _(world):
    from smtpclient import Client
    for sender in ("somebody@example.org", "", "owner+x@example.com"):
        with Client(("127.0.0.1", world.host.plain)) as client:
            client.ehlo()
            reply = client.submit(sender, [DANA], letter(DANA, sender=OWNER))
        assert reply.code == 550, reply
    with Client(("127.0.0.1", world.host.plain)) as client:
        client.ehlo()
        assert client.submit("root@example.com", [DANA], letter(DANA, sender="root@example.com")).ok
    assert len(world.sink.wait(1)) == 1


@story("What a mailbox was given is not passed on from inside, but to the account and by a list (XA10)")
def _(world):
    from smtpclient import Client
    world.gate.configure(POLICY, {"senders": "agent@example.com, owner@example.com, team@example.com",
                                  "lists": "team@example.com"})
    world.gate.reload()
    for mailbox, recipient, code in ((OWNER, DANA, 550), ("agent@example.com", DANA, 550),
                                     (OWNER, OWNER, 250), ("team@example.com", DANA, 250),
                                     ("elsewhere@example.com", DANA, 250)):
        message = letter("team@example.com", sender="nora@example.org", Delivered_To=mailbox)
        with Client(("127.0.0.1", world.host.plain)) as client:
            client.ehlo()
            reply = client.submit("team-bounces@example.com", [recipient], message)
        assert reply.code == code, (mailbox, recipient, reply)
    assert len(world.sink.wait(3)) == 3


@story("From inside without a login, a From behind a thousand fields is none that passes (XA4)")
def _(world):
    from smtpclient import Client
    filler = b"".join(b"X-Filler-%d: x\r\n" % number for number in range(1200))
    with Client(("127.0.0.1", world.host.plain)) as client:
        client.ehlo()
        reply = client.submit("somebody@example.org", [DANA], filler + letter(DANA, sender=OWNER))
    assert reply.code == 550, reply
    assert world.sink.messages() == []


@story("Without loopback in inside, the door still asks for the ticket (E13)")
def _(world):
    world.gate.configure(POLICY, settings={"inside": "10.0.0.0/8"})
    world.gate.restart_relay()
    world.submit(ASSISTANT, [STRANGER], letter(STRANGER))
    item = only_item(world)["id"]
    world.gate.approve(item)
    assert world.gate.wait_state(item, "sent") == "sent"
    [arrived] = world.sink.wait(1)
    assert b"exeat-ticket" not in arrived.data.lower()


@story("Claims by the hundred and a header of megabytes are refused, not tried again (XF7)")
def _(world):
    many = letter(DANA).replace(b"Subject:", b"Agent-Note: x\r\n" * 200 + b"Subject:", 1)
    assert world.submit(ASSISTANT, [DANA], many).code == 550
    assert world.gate.items(everything=True) == []


@story("What was not read to its end is not counted as nothing (B9, XB17, XB18)")
def _(world):
    world.gate.configure('hold "file" if attachments > 0\nrelease "the rest"\n')
    world.gate.restart_relay()
    part = "--b\r\nContent-Type: image/png\r\n\r\nx\r\n"
    deep = "".join(f"--b{n}\r\nContent-Type: multipart/mixed; boundary=b{n + 1}\r\n\r\n"
                   for n in range(80))
    for body, boundary in ((part * 2100 + "--b--\r\n", "b"),
                           (deep + "--b80\r\nContent-Type: image/png\r\n\r\nx\r\n", "b0")):
        message = letter(DANA, body=body, Content_Type=f"multipart/mixed; boundary={boundary}")
        assert world.submit(ASSISTANT, [DANA], message).code == 250
        item = world.gate.items()[-1]
        assert item["state"] == "held", item
        assert world.gate.show(item["id"])["facts"]["attachments"] is None
        assert "not read to its end" in world.gate.command("show", item["id"]).stdout
    assert world.sink.messages() == []


@story("A list of many recipients stays short, and names the worst first (XD7)")
def _(world):
    to = [f"{'x' * 60}{number}@{'y' * 60}.example.net" for number in range(300)]
    for _ in range(3):
        assert world.submit(ASSISTANT, to, letter(to[0])).code == 250
    for item in world.gate.items():
        assert len(item["to"]) == 3 and item["more"] == 297, item


@story("A list of long subjects stays short, says that they are cut, and show has them whole (XD6, XC14)")
def _(world):
    subject = "A very long subject. " * 2000
    folded = letter(STRANGER, subject="PLACE").replace(
        b"PLACE", subject.replace(". ", ".\r\n ").strip().encode())
    assert world.submit(ASSISTANT, [STRANGER], folded).code == 250
    [item] = world.gate.items()
    assert len(item["subject"]) <= 301 and item["subject"].endswith("\u2026"), item
    assert world.gate.show(item["id"])["subject"] == subject.strip()
    [fate] = world.gate.answer("cancel", item["id"])["items"]
    assert fate["subject"] == item["subject"], fate


@story("A sender that the login may not use is refused, whatever its From says (E10, H1, H3, XA12)")
def _(world):
    for sender, shown in (("", ASSISTANT), (ASSISTANT, "boss@example.com")):
        reply = world.submit(ASSISTANT, [DANA], letter(DANA, sender=shown), sender=sender)
        assert reply.code == 550, reply
    assert world.gate.items() == [] and world.sink.messages() == []


@story("The same bytes again are the same item, also when the id was ours (S2, XF22)")
def _(world):
    message = letter(STRANGER, Message_ID=None, Date=None)
    for _ in range(3):
        assert world.submit(ASSISTANT, [STRANGER], message).code == 250
    assert len(world.gate.items()) == 1
    assert world.submit(ASSISTANT, [STRANGER], message + b"More.\r\n").code == 250
    assert len(world.gate.items()) == 2


@story("The same Message-ID with other bytes supersedes, and voids an approval (E1, E2)")
def _(world):
    message = letter(STRANGER)
    world.submit(ASSISTANT, [STRANGER], message)
    old = only_item(world)["id"]
    world.submit(ASSISTANT, [STRANGER], message + b"And more.\r\n")
    assert world.gate.show(old)["state"] == "superseded"
    assert only_item(world)["id"] != old
    digest = world.gate.show(old)["digest"]
    assert world.gate.command("approve", old, digest).returncode == 65
    assert world.sink.messages() == []


@story("What waits is not in the mail server's queue: released, flushed and restarted, it stays (XA19)")
def _(world):
    world.submit(ASSISTANT, [NORA], answer_to(write(world, NORA)))
    world.submit(ASSISTANT, [STRANGER], letter(STRANGER))
    world.submit(ASSISTANT, [NORA], letter(NORA))
    waiting = world.gate.items()
    assert sorted(item["state"] for item in waiting) == ["delayed", "draft", "held"], waiting
    world.sink.wait(1)
    world.host.wait_empty()
    subprocess.run(["postsuper", "-c", world.host.config, "-r", "ALL", "-H", "ALL"], check=True)
    world.host.flush()
    world.host.stop()
    world.host.restart()
    world.host.flush()
    world.host.wait_empty()
    assert len(world.sink.messages()) == 1
    assert [item["state"] for item in world.gate.items()] == \
        [item["state"] for item in waiting]
    held = next(item["id"] for item in waiting if item["state"] == "held")
    world.gate.approve(held)
    assert world.gate.wait_state(held, "sent") == "sent"
    assert [message.recipients for message in world.sink.wait(2)][1] == [STRANGER]


@story("An identical message after one that was sent is a new item and waits (XC23)")
def _(world):
    message = letter(STRANGER)
    world.submit(ASSISTANT, [STRANGER], message)
    first = only_item(world)["id"]
    world.gate.approve(first)
    assert world.gate.wait_state(first, "sent") == "sent"
    world.submit(ASSISTANT, [STRANGER], message)
    again = only_item(world)
    assert again["id"] != first and again["reason"] == \
        f"this very message was sent before, as {first}", again
    world.host.wait_empty()
    assert len(world.sink.wait(1)) == 1


@story("A rejected message stays, with its reason")
def _(world):
    world.submit(ASSISTANT, [STRANGER], letter(STRANGER))
    item = only_item(world)["id"]
    assert world.gate.command("reject", item, "Not this year.").returncode == 0
    shown = world.gate.show(item)
    assert shown["state"] == "rejected" and shown["why"] == "Not this year.", shown
    assert world.sink.messages() == []


@story("Mode draft lets nothing out, not even approved; mode review holds everything (A6, B17)")
def _(world):
    write(world, DANA)
    for mode, state in (("draft", "draft"), ("review", "held")):
        world.gate.configure(POLICY, account={"mode": mode})
        world.gate.restart_relay()
        message = letter(DANA, mode)
        assert world.submit(ASSISTANT, [DANA], message).code == 250
        [item] = [item for item in world.gate.items() if item["subject"] == mode]
        assert item["state"] == state, item
        if mode == "draft":
            digest = world.gate.show(item["id"])["digest"]
            assert world.gate.command("approve", item["id"], digest).returncode == 65
    world.host.wait_empty()
    assert len(world.sink.wait(1)) == 1


@story("What comes in teaches ids, lists and addresses in texts, and is not touched (B26, D19, XB28)")
def _(world):
    write(world, NORA)
    world.sink.wait(1)
    inbound = letter(OWNER, "News", f"Write to {NORA} soon.\r\n", sender="mallory@example.net",
                     List_Post="<mailto:friends@example.org>")
    assert world.receive("mallory@example.net", [OWNER], inbound).code == 250
    assert world.sink.wait(2)[1].data.endswith(inbound)
    [entry] = world.gate.answer("history", NORA)["entries"]
    assert entry["mentioned"], entry
    [entry] = world.gate.answer("history", "friends@example.org")["entries"]
    assert entry["list"], entry
    [entry] = world.gate.answer("history", "mallory@example.net")["entries"]
    assert not entry["known"] and not entry["mentioned"], entry


@story("A message of thirty megabytes is kept and leaves byte for byte (XF7, XB17)")
def _(world):
    body = ("x" * 76 + "\r\n") * 390_000
    message = letter(STRANGER, body=body)
    assert world.submit(ASSISTANT, [STRANGER], message).code == 250
    item = only_item(world)["id"]
    assert world.gate.show(item)["opaque"] != []
    world.gate.approve(item)
    assert world.gate.wait_state(item, "sent") == "sent"
    [arrived] = world.sink.wait(1)
    assert arrived.data.endswith(message)


@story("A header without a body is kept and leaves as it is, and gets an id that it lacks (A23)")
def _(world):
    message = letter(STRANGER, body="")
    assert world.submit(ASSISTANT, [STRANGER], message).code == 250
    item = only_item(world)["id"]
    world.gate.approve(item)
    assert world.gate.wait_state(item, "sent") == "sent"
    write(world, DANA)
    nameless = letter(DANA, body="", Message_ID=None)
    assert world.submit(ASSISTANT, [DANA], nameless).code == 250
    data = [arrived.data for arrived in world.sink.wait(3)]
    assert any(one.endswith(message) for one in data), data
    assert all(b"message-id:" in one.lower() for one in data), data


@story("The same over TCP: the milter listens on inet:")
def _(world):
    port = free_port()
    address = f"inet:{port}@127.0.0.1"
    world.gate.milter.stop()
    world.gate.configure(POLICY, settings={"milter-socket": address})
    world.gate.milter.start()
    world.host.stop()
    world.host.milter = f"inet:127.0.0.1:{port}"
    world.host.start()
    write(world, DANA)
    world.submit(ASSISTANT, [DANA], letter(DANA, Agent_Action="x"))
    world.submit(ASSISTANT, [STRANGER], letter(STRANGER))
    assert len(world.sink.wait(2)) == 2
    assert only_item(world)["state"] == "held"


@story("The same with Postfix in a chroot")
def _(world):
    world.host.stop()
    world.host.chroot = True
    world.host.start()
    write(world, DANA)
    assert world.submit(ASSISTANT, [DANA], letter(DANA)).code == 250
    assert world.submit(ASSISTANT, [STRANGER], letter(STRANGER)).code == 250
    assert len(world.sink.wait(2)) == 2
    item = only_item(world)["id"]
    world.gate.approve(item)
    assert world.gate.wait_state(item, "sent") == "sent"
    assert len(world.sink.wait(3)) == 3


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World(POLICY)))
