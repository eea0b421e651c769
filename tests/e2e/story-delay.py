"""What becomes of a delayed message while it waits."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import ADMIN, AGENT, APPROVER, STRANGER  # noqa: E402
from letter import letter, message_id  # noqa: E402
from story import main, story  # noqa: E402
from world import World, end_on_signals  # noqa: E402

OWNER, ASSISTANT = "owner@example.com", "agent@example.com"
NORA, LEE, DANA = "nora@example.org", "lee@example.net", "dana@example.com"
POLICY = """\
hold    "first contact outside"       if external_novel > 0
release "colleagues"                  if novel = 0 and external = 0
delay 2h-6h "answer in my conversation" if mine and outside_thread = 0 and novel = 0
draft   "the rest"
"""
HOURS = 3600
REPORT = """\
--b\r
Content-Type: text/plain\r
\r
It could not be delivered.\r
--b\r
Content-Type: message/delivery-status\r
\r
Reporting-MTA: dns; mx.example.org\r
\r
Final-Recipient: rfc822; {recipient}\r
Action: {action}\r
Status: 5.1.1\r
\r
--b\r
Content-Type: text/rfc822-headers\r
\r
Message-ID: {returned}\r
\r
--b--\r
"""


def begin(world, to=NORA):
    """The human writes to somebody, who answers. Returns the ids of both messages."""
    first = letter(to, sender=OWNER)
    assert world.submit(OWNER, [to], first).code == 250
    second = letter(OWNER, "Re: A word", sender=to, In_Reply_To=message_id(first))
    assert world.receive(to, [OWNER], second).code == 250
    return message_id(first), message_id(second)


def delay(world, parent, to=NORA, **fields):
    """The agent answers, and that is delayed. Returns the item."""
    message = letter(to, "Re: A word", In_Reply_To=parent, **fields)
    assert world.submit(ASSISTANT, [to], message).code == 250
    item = world.gate.items(everything=True)[-1]
    assert item["state"] == "delayed", item
    return item["id"]


def report(recipient, action="failed", returned="<nothing@example.com>"):
    return letter(OWNER, "Undelivered", sender="mailer-daemon@example.org",
                  body=REPORT.format(recipient=recipient, action=action, returned=returned),
                  Content_Type="multipart/report; report-type=delivery-status; boundary=b")


def expect_draft(world, item, why):
    shown = world.gate.show(item)
    assert (shown["state"], shown["why"]) == ("draft", why), (shown["state"], shown["why"])


def expect_delayed(world, item):
    assert world.gate.show(item)["state"] == "delayed"


def expect_held(world, fields, number):
    message = letter(NORA, f"Re: Number {number}", **fields)
    assert world.submit(ASSISTANT, [NORA], message).code == 250
    item = world.gate.show(world.gate.items(everything=True)[-1]["id"])
    assert item["reason"] == "answers automatic mail" and item["facts"]["loop"] is True, item


def marks(arrived):
    """The values of Auto-Submitted in what the sink got."""
    head = arrived.data.split(b"\r\n\r\n")[0].decode()
    return [line.partition(":")[2].strip() for line in head.split("\r\n")
            if line.lower().startswith("auto-submitted:")]


def expect_nothing_leaves(world, *items, count):
    """After the longest delay the sink has what it had before."""
    world.gate.clock(7 * HOURS)
    world.gate.restart_relay()
    for item in items:
        assert world.gate.show(item)["state"] == "draft"
    world.host.wait_empty()
    assert len(world.sink.wait(count)) == count


@story("When the other side writes again, what is delayed there becomes a draft (A34)")
def _(world):
    _, answer = begin(world)
    first, second = delay(world, answer), delay(world, answer)
    again = letter(OWNER, "Re: A word", sender=NORA, References=answer)
    assert world.receive(NORA, [OWNER], again).code == 250
    for item in (first, second):
        expect_draft(world, item, f"{NORA} wrote again")
    moved = world.gate.answer("audit", "--item", first, "--kind", "moved")["entries"]
    assert [entry["who"] for entry in moved] == ["relay"], moved
    expect_nothing_leaves(world, first, second, count=3)


@story("When the human answers, what is delayed there becomes a draft (A34)")
def _(world):
    _, answer = begin(world)
    item = delay(world, answer)
    own = letter(NORA, "Re: A word", sender=OWNER, In_Reply_To=answer)
    assert world.submit(OWNER, [NORA], own).code == 250
    expect_draft(world, item, "the human answered")
    expect_nothing_leaves(world, item, count=3)


@story("Mail elsewhere leaves what is delayed alone")
def _(world):
    _, answer = begin(world)
    _, other = begin(world, LEE)
    item, elsewhere = delay(world, answer), delay(world, other, LEE)
    for message in (letter(OWNER, "Re: A word", sender=NORA),
                    letter(OWNER, "Re: A word", sender=NORA, References="<unknown@example.org>")):
        assert world.receive(NORA, [OWNER], message).code == 250
    assert world.submit(OWNER, [NORA], letter(NORA, sender=OWNER)).code == 250
    expect_delayed(world, item)
    more = letter(OWNER, "Re: A word", sender=NORA, References=answer)
    assert world.receive(NORA, [OWNER], more).code == 250
    expect_draft(world, item, f"{NORA} wrote again")
    expect_delayed(world, elsewhere)
    world.sink.wait(8)
    world.gate.clock(7 * HOURS)
    assert world.gate.wait_state(elsewhere, "sent") == "sent"
    arrived = world.sink.wait(9)
    assert arrived[-1].recipients == [LEE] and len(arrived) == 9, arrived


@story("A bounce of the recipient, or from the conversation, makes drafts (RFC 3464)")
def _(world):
    sent, answer = begin(world)
    _, other = begin(world, LEE)
    item, elsewhere = delay(world, answer), delay(world, other, LEE)
    assert world.receive("", [OWNER], report(NORA, "delayed", sent)).code == 250
    assert world.receive("", [OWNER], report("tom@example.net")).code == 250
    expect_delayed(world, item)
    assert world.receive("", [OWNER], report(NORA)).code == 250
    expect_draft(world, item, f"mail to {NORA} came back")
    third = delay(world, answer)
    assert world.receive("", [OWNER], report("n.smith@example.org", returned=sent)).code == 250
    expect_draft(world, third, "mail to n.smith@example.org came back")
    expect_delayed(world, elsewhere)


@story("When it is due, what was learned since decides, too (A34, D19)")
def _(world):
    _, answer = begin(world)
    _, other = begin(world, LEE)
    item, elsewhere = delay(world, answer), delay(world, other, LEE)
    text = letter(OWNER, "News", f"Write to {NORA} soon.\r\n", sender="mallory@example.net")
    assert world.receive("mallory@example.net", [OWNER], text).code == 250
    expect_delayed(world, item)
    world.gate.clock(7 * HOURS)
    assert world.gate.wait_state(item, "held") == "held"
    assert world.gate.show(item)["why"] == "first contact outside"
    assert world.gate.wait_state(elsewhere, "sent") == "sent"
    world.host.wait_empty()
    assert [mail.recipients for mail in world.sink.messages()].count([NORA]) == 1


@story("An automatic answer is told as one")
def _(world):
    _, answer = begin(world)
    item = delay(world, answer)
    away = letter(OWNER, "Away", sender=NORA, In_Reply_To=answer, Auto_Submitted="auto-replied")
    assert world.receive(NORA, [OWNER], away).code == 250
    expect_draft(world, item, f"{NORA} answered automatically")


@story("An approver lets a delayed message leave now, for its digest alone")
def _(world):
    _, answer = begin(world)
    item = delay(world, answer)
    digest = world.gate.show(item)["digest"]
    wrong = ("0" if digest[0] != "0" else "1") + digest[1:]
    for words, uid in ((("now", item, wrong), APPROVER), (("now", item, digest[:4]), APPROVER),
                       (("now", item, digest), AGENT), (("now", item, digest), STRANGER),
                       (("approve", item, digest), APPROVER)):
        assert world.gate.command(*words, uid=uid).returncode != 0, words
    expect_delayed(world, item)
    world.sink.wait(2)
    done = world.gate.command("now", item, digest[:8])
    assert done.returncode == 0 and "approved" in done.stdout, done
    assert world.gate.wait_state(item, "sent") == "sent"
    assert world.sink.wait(3)[-1].recipients == [NORA]
    shown = world.gate.answer("audit", "--item", item, "--kind", "moved")["entries"]
    assert any(str(APPROVER) in entry["who"] for entry in shown), shown
    assert world.gate.command("now", item, digest).returncode != 0
    world.gate.clock(7 * HOURS)
    world.host.wait_empty()
    assert len(world.sink.wait(3)) == 3


@story("Nothing but what is delayed can leave now, and nothing in mode draft")
def _(world):
    _, answer = begin(world)
    item = delay(world, answer)
    digest = world.gate.show(item)["digest"]
    world.gate.configure(POLICY, {"mode": "draft"})
    assert world.gate.command("reload", uid=ADMIN).returncode == 0
    assert world.gate.command("now", item, digest).returncode != 0
    world.gate.configure(POLICY)
    assert world.gate.command("reload", uid=ADMIN).returncode == 0
    held = letter("stranger@example.net")
    assert world.submit(ASSISTANT, ["stranger@example.net"], held).code == 250
    other = world.gate.items(everything=True)[-1]
    assert other["state"] == "held", other
    done = world.gate.command("now", other["id"], world.gate.show(other["id"])["digest"])
    assert done.returncode != 0 and "is held" in done.stderr, done


@story("Rules and modes that got stricter show at once, those that did not change nothing (A34)")
def _(world):
    _, answer = begin(world)
    items = [delay(world, answer) for _ in range(20)]
    dues = [world.gate.show(item)["due"] for item in items]
    world.gate.configure(POLICY + "# the same\n")
    assert world.gate.command("reload", uid=ADMIN).returncode == 0
    world.gate.restart_relay()
    assert [world.gate.show(item)["due"] for item in items] == dues
    for item in items:
        expect_delayed(world, item)
    world.gate.configure('hold "nothing goes alone" if recipients > 0\n' + POLICY)
    world.gate.reload()
    for item in items:
        assert world.gate.wait_state(item, "held") == "held"
        assert world.gate.show(item)["why"] == "nothing goes alone"


@story("In mode draft what was delayed is a draft, and what a stop keeps stays delayed")
def _(world):
    _, answer = begin(world)
    first = delay(world, answer)
    world.gate.configure(POLICY, {"mode": "draft"})
    world.gate.restart_relay()
    assert world.gate.wait_state(first, "draft") == "draft"
    world.gate.configure(POLICY)
    assert world.gate.command("reload", uid=ADMIN).returncode == 0
    second = delay(world, answer)
    assert world.gate.command("stop", "owner", "a test", uid=ADMIN).returncode == 0
    world.gate.restart_relay()
    expect_delayed(world, second)
    assert world.gate.command("start", "owner", uid=ADMIN).returncode == 0
    third = delay(world, answer)
    world.gate.configure('hold "nothing goes alone" if recipients > 0\n' + POLICY)
    assert world.gate.command("reload", uid=ADMIN).returncode == 0
    for item in (second, third):
        assert world.gate.wait_state(item, "held") == "held"


@story("What answers a machine, or says that a machine wrote it, is held (loop, RFC 3834)")
def _(world):
    world.gate.configure('hold "answers automatic mail" if loop\n' + POLICY)
    assert world.gate.command("reload", uid=ADMIN).returncode == 0
    sent, answer = begin(world)
    for number, fields in enumerate(({"Auto_Submitted": "auto-replied"}, {"Precedence": "list"},
                                     {"List_Id": "<dev.lists.example.org>"})):
        came = letter(OWNER, "Re: A word", sender=NORA, In_Reply_To=sent, **fields)
        assert world.receive(NORA, [OWNER], came).code == 250
        expect_held(world, {"References": f"{sent} {message_id(came)}"}, number)
    bounce = report(NORA, returned=sent)
    assert world.receive("", [OWNER], bounce).code == 250
    expect_held(world, {"References": f"{answer} {message_id(bounce)}"}, 3)
    expect_held(world, {"References": answer, "Auto_Submitted": "auto-generated"}, 4)
    delay(world, answer, Auto_Submitted="no")


@story("What leaves by a rule is marked where the account says so, what was approved never is")
def _(world):
    world.gate.configure(POLICY, {"mark-automatic": "yes"})
    world.gate.restart_relay()
    _, answer = begin(world)
    assert world.submit(OWNER, [DANA], letter(DANA, sender=OWNER)).code == 250
    world.sink.wait(3)
    plain = letter(DANA, Auto_Submitted="no")
    assert world.submit(ASSISTANT, [DANA], plain).code == 250
    assert marks(world.sink.wait(4)[-1]) == ["auto-generated"]
    now, due = delay(world, answer), delay(world, answer, Auto_Submitted="no")
    digest = world.gate.show(due)["digest"]
    assert world.gate.command("now", now, world.gate.show(now)["digest"]).returncode == 0
    assert world.gate.wait_state(now, "sent") == "sent"
    assert marks(world.sink.wait(5)[-1]) == []
    world.gate.clock(7 * HOURS)
    assert world.gate.wait_state(due, "sent") == "sent"
    assert marks(world.sink.wait(6)[-1]) == ["auto-generated"]
    assert world.gate.show(due)["digest"] == digest
    world.gate.configure(POLICY)
    world.gate.restart_relay()
    assert world.submit(ASSISTANT, [DANA], plain.replace(b"letter-", b"other-")).code == 250
    assert marks(world.sink.wait(7)[-1]) == ["no"]


@story("A next hop without the gate gets the mark from the relay, in front of the message")
def _(world):
    world.gate.configure(POLICY, {"mark-automatic": "yes"}, {
        "next-hop": f"inet:127.0.0.1:{world.sink.port}", "next-hop-gated": "no"})
    world.gate.restart_relay()
    _, answer = begin(world)
    world.sink.wait(2)
    now = delay(world, answer)
    due = delay(world, answer, Auto_Submitted="no\r\n (a person\r\n\t wrote it)", X_Last="is kept")
    digest = world.gate.show(due)["digest"]
    assert world.gate.command("now", now, world.gate.show(now)["digest"]).returncode == 0
    assert world.gate.wait_state(now, "sent") == "sent"
    assert marks(world.sink.wait(3)[-1]) == []
    world.gate.clock(7 * HOURS)
    assert world.gate.wait_state(due, "sent") == "sent"
    message = world.sink.wait(4)[-1]
    assert marks(message) == ["auto-generated"]
    assert message.field("X-Last") == ["is kept"] and message.body == b"Hello.\r\n"
    assert b"a person" not in message.data
    assert world.gate.show(due)["digest"] == digest


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World(POLICY)))
