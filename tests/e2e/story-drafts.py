"""What waits lies in the human's mailbox, and what happens to it there stops it (B14, B15)."""

import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import ADMIN, RELAY  # noqa: E402
from imaphost import LOGIN, make_token  # noqa: E402
from letter import letter, message_id  # noqa: E402
from postbox import Postbox, field  # noqa: E402
from proxy import Proxy  # noqa: E402
from story import main, story, until  # noqa: E402
from world import end_on_signals  # noqa: E402

OWNER, ASSISTANT = "owner@example.com", "agent@example.com"
NORA, LEE, DANA, SAM = ("nora@example.org", "lee@example.net", "dana@example.com",
                        "sam@example.com")
POLICY = """\
hold    "first contact outside"       if external_novel > 0
delay 2h-6h "answer in my conversation" if mine and outside_thread = 0 and novel = 0
draft   "the rest"
"""
HOURS = 3600


def hold(world, **fields):
    assert world.submit(ASSISTANT, [NORA], letter(NORA, **fields)).code == 250
    return world.last()


def draft(world, message=None):
    assert world.submit(ASSISTANT, [DANA], message or letter(DANA)).code == 250
    return world.last()


def delay(world, **fields):
    """The human writes to Nora, she answers, the agent answers that."""
    first = letter(NORA, sender=OWNER)
    assert world.submit(OWNER, [NORA], first).code == 250
    second = letter(OWNER, "Re: A word", sender=NORA, In_Reply_To=message_id(first))
    assert world.receive(NORA, [OWNER], second).code == 250
    answer = letter(NORA, "Re: A word", In_Reply_To=message_id(second), **fields)
    assert world.submit(ASSISTANT, [NORA], answer).code == 250
    item = world.last()
    assert world.gate.show(item)["state"] == "delayed"
    assert len(world.sink.wait(2)) == 2
    world.sink.clear()
    return item


def expect_ended(world, item, state, why):
    assert world.gate.wait_state(item, state) == state, world.gate.show(item)
    shown = world.gate.show(item)
    assert why in shown["why"], shown["why"]
    assert shown["moves"][-1]["who"] == f"mailbox {LOGIN} at localhost", shown["moves"]
    expect_nothing_leaves(world)


def expect_nothing_leaves(world, count=0, clock=7 * HOURS):
    """After the longest delay the sink has what it had before."""
    world.gate.clock(clock)
    time.sleep(1.5)  # the schedule looks every second
    world.host.wait_empty()
    assert len(world.sink.wait(count)) == count


GONE = "its draft was deleted, moved or edited in the mailbox"


@story("What is held, drafted or delayed lies in the mailbox, marked, with whom it hides (B14)")
def _(world):
    held, delayed = hold(world, Agent_Rationale="because"), delay(world)
    message = letter(DANA, Bcc="eve@example.org")
    assert world.submit(ASSISTANT, [DANA, SAM], message).code == 250
    drafted = world.last()
    assert world.gate.show(drafted)["state"] == "draft"
    for item in (held, delayed, drafted):
        uid, flags, found = world.wait_draft(item)
        assert "\\Draft" in flags and uid > 0
        assert (field(found, "X-Exeat-Due") is None) == (item != delayed)
        assert field(found, "Bcc") == (SAM if item == drafted else None), found
        assert b"Agent-" not in found and b"Ticket" not in found, found
        assert found.endswith(b"\r\n\r\nHello.\r\n"), found
    assert field(world.drafts()[drafted][2], "Message-ID") == message_id(message)
    shown = world.gate.show(held)
    assert shown["draft_place"].endswith("/Drafts") and shown["draft_trouble"] == "", shown
    entries = world.gate.answer("audit", "--item", held, "--kind", "draft")["entries"]
    assert len(entries) == 1, entries


@story("Deleting the draft stops what is delayed, and rejects what waits for a person (B15)")
def _(world):
    delayed, held, drafted = delay(world), hold(world), draft(world)
    for item in (delayed, held, drafted):
        world.delete(item)
    expect_ended(world, held, "rejected", GONE)
    expect_ended(world, drafted, "rejected", GONE)
    expect_ended(world, delayed, "vetoed", GONE)
    done = world.gate.command("approve", held, world.gate.show(held)["digest"])
    assert done.returncode != 0, done


@story("A draft that is only marked as deleted, or moved to another folder, stops it too (B15)")
def _(world):
    marked, moved = delay(world), hold(world)
    uid = world.wait_draft(marked)[0]
    world.imap.fill("Trash", [])
    world.change(moved, ("move", "Trash"))
    client = world.imap.client()
    client.select("Drafts")
    client.uid("store", str(uid), "+FLAGS", r"(\Deleted)")
    client.logout()
    expect_ended(world, moved, "rejected", GONE)
    expect_ended(world, marked, "vetoed", GONE)
    assert list(world.drafts("Trash")) == [moved]


@story("Deleted between two looks, it is missed at its due time, and does not leave (B15)")
def _(world):
    item = delay(world)
    world.wait_draft(item)
    time.sleep(1.2)  # so that the next look without a reason is some seconds away
    world.delete(item)
    expect_nothing_leaves(world)
    assert world.gate.wait_state(item, "vetoed") == "vetoed"


@story("An edited draft approves nothing: the item ends, and the human's copy stays")
def _(world):
    item = delay(world)
    copy = world.wait_draft(item)[2]
    edited = copy.replace(b"Hello.", b"Send me everything.")
    world.imap.fill("Drafts", [edited], flags=r"(\Draft)")
    client = world.imap.client()
    client.select("Drafts")
    _, data = client.uid("search", "ALL")
    client.uid("store", data[0].split()[0].decode(), "+FLAGS", r"(\Deleted)")
    client.expunge()
    client.logout()
    expect_ended(world, item, "vetoed", GONE)
    assert world.drafts()[item][2] == edited


@story("The same draft twice is none, though the server's answer was lost")
def _(world):
    world.line.deaf_after = 100_000
    item = hold(world, body="x" * 76 + "\r\n" * 1)
    big = letter(NORA, body=("x" * 76 + "\r\n") * 2000)
    assert world.submit(ASSISTANT, [NORA], big).code == 250
    lost = world.last()
    until(lambda: lost in world.drafts())
    world.line.deaf_after = None
    world.line.cut()
    world.wait_draft(lost)
    world.wait_draft(item)
    assert set(world.drafts()) == {item, lost}


@story("A message made up with an item's id does not pass for its draft")
def _(world):
    world.line.set_down(True)
    delayed, held = delay(world), hold(world)
    for item in (delayed, held):
        world.imap.fill("Drafts", [letter(NORA, body="Harmless.\r\n", X_Exeat_Item=item)])
    world.line.set_down(False)
    for item in (delayed, held):
        until(lambda item=item: world.gate.show(item)["draft_since"] > 0)
    client = world.imap.client()
    client.select("Drafts", readonly=True)
    _, data = client.uid("fetch", "3:*", "(BODY.PEEK[])")
    client.logout()
    texts = [entry[1] for entry in data if isinstance(entry, tuple)]
    assert sorted(field(text, "X-Exeat-Item") for text in texts) == sorted([delayed, held])
    assert all(text.endswith(b"Hello.\r\n") for text in texts), texts
    world.gate.answer("reject", held, "no")
    until(lambda: len(world.imap.look("Drafts")) == 3)  # ours goes, and the other stays


@story("While the server is away nothing is lost: the draft comes later, and one that ended goes")
def _(world):
    early = hold(world)
    world.wait_draft(early)
    world.line.set_down(True)
    late = hold(world)
    world.gate.answer("reject", early, "no")
    until(lambda: world.gate.answer("status", uid=ADMIN)["mailboxes_failed"])
    until(lambda: "cannot be used" in world.gate.relay.read_log())
    assert early in world.drafts() and late not in world.drafts()
    world.line.set_down(False)
    world.wait_draft(late)
    world.wait_no_draft(early)
    assert world.gate.answer("status", uid=ADMIN)["mailboxes_failed"] == []


@story("A mailbox that cannot be looked at when it is due stops it until it can be (B15)")
def _(world):
    item = delay(world)
    world.wait_draft(item)
    world.line.set_down(True)
    expect_nothing_leaves(world)
    until(lambda: world.gate.show(item)["draft_trouble"] != "")
    until(lambda: f"{item}: not sent now: " in world.gate.relay.read_log())
    assert world.gate.show(item)["state"] == "delayed"
    until(lambda: "the mailbox cannot be used" in world.gate.command("show", item).stdout)
    world.line.set_down(False)
    world.gate.clock(8 * HOURS)
    assert world.gate.wait_state(item, "sent") == "sent", world.gate.show(item)
    assert len(world.sink.wait(1)) == 1
    world.wait_no_draft(item)


@story("A draft that came late is seen for ten minutes before its message leaves (B15)")
def _(world):
    world.line.set_down(True)
    item = delay(world)
    expect_nothing_leaves(world)
    world.line.set_down(False)
    world.gate.clock(8 * HOURS)
    world.wait_draft(item)
    expect_nothing_leaves(world, clock=8 * HOURS + 300)
    assert world.gate.show(item)["state"] == "delayed"
    world.gate.clock(9 * HOURS)
    assert world.gate.wait_state(item, "sent") == "sent", world.gate.show(item)


@story("One whose mailbox stays away expires, and is never sent")
def _(world):
    item = delay(world)
    world.wait_draft(item)
    world.line.set_down(True)
    world.gate.clock(15 * 24 * HOURS)
    assert world.gate.wait_state(item, "expired") == "expired"
    assert "could not be looked at" in world.gate.show(item)["moves"][-2]["why"]
    expect_nothing_leaves(world)


def renumber(world):
    """Another UIDVALIDITY, as after a restored backup."""
    folder = os.path.join(world.imap.folder, "mail", LOGIN, ".Drafts")
    world.line.cut()
    for name in os.listdir(folder):
        if name.startswith("dovecot"):
            os.unlink(os.path.join(folder, name))


@story("After another UIDVALIDITY a draft is found again by its item, or is gone (B15)")
def _(world):
    stays, goes = delay(world), hold(world)
    world.wait_draft(stays)
    world.wait_draft(goes)
    world.line.set_down(True)
    path = os.path.join(world.imap.folder, "mail", LOGIN, ".Drafts")
    for place, _, names in os.walk(path):
        for name in names:
            with open(os.path.join(place, name), "rb") as file:
                if f"X-Exeat-Item: {goes}".encode() in file.read():
                    os.unlink(os.path.join(place, name))
    world.imap.fill("Drafts", [letter(OWNER)])
    renumber(world)
    world.line.set_down(False)
    assert world.gate.wait_state(goes, "rejected") == "rejected"
    assert world.gate.show(stays)["state"] == "delayed"
    world.gate.clock(7 * HOURS)
    assert world.gate.wait_state(stays, "sent") == "sent", world.gate.show(stays)
    assert len(world.sink.wait(1)) == 1
    world.wait_no_draft(stays)


@story("What the human sends from the own program leaves once, without our marks, and is done (B23)")
def _(world):
    for by_id in (True, False):
        item = delay(world)
        copy = world.wait_draft(item)[2]
        if by_id:  # as a program that keeps its fields, and makes an id of its own
            copy = re.sub(rb"Message-ID: [^\r]*", b"Message-ID: <own@example.com>", copy)
        else:
            copy = re.sub(rb"X-Exeat-[^\r]*\r\n", b"", copy)
        copy = copy.replace(b"From: agent@", b"From: owner@")
        assert world.submit(OWNER, [NORA], copy).code == 250
        assert world.gate.wait_state(item, "sent-by-human") == "sent-by-human"
        shown = world.gate.show(item)
        assert shown["why"] == "sent by the human", shown["why"]
        assert shown["moves"][-1]["who"] == f"human login {OWNER}", shown["moves"]
        arrived = world.sink.wait(1)
        assert b"X-Exeat" not in arrived[0].data, arrived[0].data
        world.wait_no_draft(item)
        expect_nothing_leaves(world, 1)
        world.gate.clock(0)
        world.sink.clear()


@story("What the human sends in the moment in which it leaves, leaves once")
def _(world):
    item = hold(world)
    copy = world.wait_draft(item)[2].replace(b"From: agent@", b"From: owner@")
    with Proxy(os.path.join(world.folder, "proxy"), world.host.door) as proxy:
        def send_by_hand():
            assert world.submit(OWNER, [NORA], copy).code == 250
            return "pass"
        proxy.at_dot = send_by_hand
        world.gate.configure(POLICY, world.keys, {"next-hop": f"unix:{proxy.path}"})
        world.gate.restart_relay()
        world.gate.approve(item)
        assert world.gate.wait_state(item, "sent-by-human", "sent", "held") == "sent-by-human"
        world.host.wait_empty()
        [arrived] = world.sink.wait(1)
        assert arrived.sender == OWNER and len(proxy.sessions) == 1, arrived.sender


@story("A message that somebody else sends with the id of what waits changes nothing")
def _(world):
    item = hold(world)
    copy = world.wait_draft(item)[2]
    assert world.receive(NORA, [OWNER], copy).code == 250
    assert world.submit(ASSISTANT, [NORA], letter(NORA, X_Exeat_Item=item)).code == 250
    assert world.gate.show(item)["state"] == "held"


@story("What was sent past the gate is found among what was sent")
def _(world):
    delayed, held = delay(world), hold(world)
    copies = [world.wait_draft(item)[2] for item in (delayed, held)]
    time.sleep(2)  # the marks of a message that is filed are a second coarse
    world.imap.fill("Sent", [re.sub(rb"X-Exeat-[^\r]*\r\n", b"", copies[0]), copies[1]])
    world.delete(delayed)
    expect_ended(world, delayed, "sent-by-human", "sent by the human: UID 1 of Sent")
    expect_ended(world, held, "sent-by-human", "sent by the human: UID 2 of Sent")
    world.wait_no_draft(held)


@story("A copy that the agent files itself is not the human's")
def _(world):
    message = letter(NORA)
    world.imap.fill("Sent", [message])
    assert world.submit(ASSISTANT, [NORA], message).code == 250
    item = world.last()
    world.wait_draft(item)
    world.imap.fill("Sent", [letter(DANA)])
    time.sleep(7)  # more than a look
    assert world.gate.show(item)["state"] == "held"


@story("Removing a draft takes nothing else out of the folder")
def _(world):
    world.imap.fill("Drafts", [letter(DANA)], flags=r"(\Deleted)")
    item = hold(world)
    world.wait_draft(item)
    world.gate.answer("reject", item, "no")
    world.wait_no_draft(item)
    assert len(world.drafts()) == 1


@story("Without the folder one is made; a login that is refused is told and stops nothing else")
def _(world):
    world.gate.configure(POLICY, {**world.keys, "drafts": world.keys["drafts"] + "/Entw%C3%BCrfe"})
    world.gate.reload()
    item = hold(world)
    until(lambda: item in world.drafts("Drafts/Entw&APw-rfe"))
    world.gate.write("imap-password", "wrong horse\n", 0o600)
    os.chown(os.path.join(world.gate.etc, "imap-password"), RELAY, RELAY)
    world.gate.reload()
    other = hold(world)
    until(lambda: "refuses the login" in world.gate.relay.read_log())
    assert "horse" not in world.gate.relay.read_log()
    assert world.gate.show(other)["state"] == "held"
    world.gate.approve(other)
    assert world.gate.wait_state(other, "sent") == "sent"


@story("A token from a command is a login, too; one that is refused is asked for anew")
def _(world):
    tokens = [make_token(-60), make_token(3600)]
    for number, token in enumerate(tokens):
        world.gate.write(f"token{number}", token + "\n", 0o644)
    runs = os.path.join(world.folder, "runs")
    os.makedirs(runs)
    os.chown(runs, RELAY, RELAY)
    world.gate.write("token", "#!/bin/sh\n"
                     f"if mkdir {runs}/1 2>/dev/null; then cat {world.gate.etc}/token0; "
                     f"else mkdir {runs}/2 && cat {world.gate.etc}/token1; fi\n", 0o755)
    world.gate.configure(POLICY, {**world.keys, "drafts-password-file": None,
                                  "drafts-token-command": f"{world.gate.etc}/token"})
    world.gate.restart_relay()
    item = hold(world)
    world.wait_draft(item)
    world.line.cut()
    other = hold(world)
    world.wait_draft(other)  # with the token that there is: a third run would fail
    assert re.search(f"Login: user=<{LOGIN}>, method=(OAUTHBEARER|XOAUTH2)", world.imap.read_log())
    assert not any(token in world.gate.relay.read_log() for token in tokens)


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: Postbox(POLICY)))
