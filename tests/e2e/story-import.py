"""What the gate learns from mailboxes of real programs, and what it does not."""

import email.utils
import json
import os
import re
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import ADMIN, AGENT, APPROVER  # noqa: E402
from letter import letter  # noqa: E402
from mailboxes import Dovecot, Mh, mutt  # noqa: E402
from story import Skip, main, story  # noqa: E402
from world import World, end_on_signals  # noqa: E402

OWNER, ASSISTANT = "owner@example.com", "agent@example.com"
NORA, SAM, MALLORY = "nora@example.org", "sam@example.org", "mallory@example.net"
POLICY = """\
hold    "named in a text"        if from_body > 0
hold    "first contact outside"  if external_novel > 0
release "my conversation"        if mine and outside_thread = 0 and novel = 0
draft   "the rest"
"""
DAY = 86400


def own_letter(to, **fields):
    return letter(to, sender=OWNER, **fields).replace(b"\r\n", b"\n")


def when(days):
    """A Date so many days ago."""
    return email.utils.formatdate(time.time() - days * DAY)


def put(world, name, *messages, mark=f"From {OWNER} Mon Nov  2 10:00:00 2026\n"):
    """An mbox. Returns its path."""
    path = os.path.join(world.folder, name)
    with open(path, "wb") as file:
        for message in messages:
            file.write(mark.encode() + message + b"\n")
    return path


def run(world, *words, uid=0):
    return world.gate.command("import", *words, uid=uid)


def imported(world, *words):
    """Imports as root; the summary."""
    return world.gate.answer("import", *words, uid=0)


def knows(world, address):
    [entry] = world.gate.answer("history", address)["entries"]
    return entry["times"]


def judged(world, recipients, **fields):
    """What becomes of the agent's message: the reason of its rule."""
    message = letter(", ".join(recipients), **fields)
    assert world.submit(ASSISTANT, recipients, message).code == 250
    world.host.wait_empty()
    return world.gate.items(everything=True)[-1]


def entries(world, kind):
    """Entries of the audit record: who, and what its details say of path and digest."""
    with sqlite3.connect(f"file:{world.gate.state}/exeat.db?mode=ro", uri=True) as database:
        rows = database.execute("SELECT who, details FROM audit WHERE kind = ? ORDER BY seq",
                                (kind,)).fetchall()
    database.close()
    return [(who, dict(re.findall(r"'(\w+)': <(?:uint64 )?'?([^'>]*)", details)))
            for who, details in rows]


@story("Mutt's sent mail: its recipients are known, a quoted message's are not (XB27)")
def _(world):
    sent = os.path.join(world.folder, "Sent")
    mutt(world.folder, sent, OWNER, [NORA], f"Look:\n\nFrom {OWNER} Mon Nov  2 10:00:00 2026\n"
         f"From: {OWNER}\nTo: {MALLORY}\nMessage-ID: <f@x>\n\nHi\n", bcc=[SAM])
    mutt(world.folder, sent, OWNER, [NORA], "Thursday?\n")
    summary = imported(world, sent)
    assert (summary["messages"], summary["sent"]) == (2, 2), summary
    assert (summary["correspondents"], summary["conversations"]) == (2, 2), summary
    assert (knows(world, NORA), knows(world, SAM), knows(world, MALLORY)) == (2, 1, 0)
    with open(sent, encoding="utf-8") as file:
        thread = re.findall("^Message-ID: (.*)$", file.read(), re.M)[-1]
    assert judged(world, [NORA], In_Reply_To=thread)["state"] == "released"
    assert judged(world, [MALLORY], In_Reply_To=thread)["state"] == "held"
    [left] = world.sink.messages()
    assert left.recipients == [NORA]


@story("Dovecot's Maildir: folders tell what was sent, a forged From in the inbox does not (XB27)")
def _(world):
    dovecot = Dovecot(os.path.join(world.folder, "dovecot"))
    dovecot.create("Gesendet", "Entwürfe")
    dovecot.save("Gesendet", own_letter(NORA, Date=when(300), Message_ID="<s1@example.com>"))
    dovecot.save("Gesendet", own_letter(SAM, Date=when(200)))
    dovecot.save("Gesendet", own_letter("auto@example.org", Auto_Submitted="auto-replied"))
    dovecot.save("Gesendet", own_letter("other@example.org", From="alias@example.com"))
    dovecot.save("Entwürfe", own_letter("draft@example.org"))
    dovecot.save("INBOX", own_letter(MALLORY))
    dovecot.save("INBOX", letter(OWNER, sender=NORA, body=f"Please ask {SAM}.\n",
                                 References="<s1@example.com>", Message_ID="<n1@example.org>"))
    summary = imported(world, dovecot.path)
    assert (summary["sent"], summary["received"]) == (2, 2), summary
    skipped = {why: number for why, number in summary["skipped"].items() if number}
    assert skipped == {"automatic": 1, "sender": 1, "draft": 1}, skipped
    for address in (MALLORY, "auto@example.org", "other@example.org", "draft@example.org"):
        assert knows(world, address) == 0, address
    assert judged(world, [NORA], In_Reply_To="<n1@example.org>")["state"] == "released"
    held = judged(world, [SAM])
    assert (held["state"], held["reason"]) == ("held", "named in a text"), held
    assert judged(world, [MALLORY])["state"] == "held"
    [left] = world.sink.messages()
    assert left.recipients == [NORA]


@story("The folders of nmh: what inc, rcvstore and refile wrote, without what rmm took out")
def _(world):
    if Mh.missing():
        raise Skip("there is no nmh")
    mh = Mh(os.path.join(world.folder, "mh"))
    mh.store("sent", own_letter(NORA, Date=when(300), Message_ID="<s1@example.com>"))
    mh.store("outbox", own_letter(SAM, Date=when(200)))
    mh.run("refile", "last", "-src", "+outbox", "+sent")
    mh.store("sent", own_letter("gone@example.org"))
    mh.run("rmm", "last", "+sent")
    mh.incorporate("inbox", own_letter(MALLORY),
                   letter(OWNER, sender=NORA, References="<s1@example.com>",
                          Message_ID="<n1@example.org>"))
    summary = imported(world, mh.path)
    assert (summary["sent"], summary["received"]) == (2, 2), summary
    assert (knows(world, NORA), knows(world, SAM)) == (1, 1)
    assert (knows(world, MALLORY), knows(world, "gone@example.org")) == (0, 0)
    assert judged(world, [NORA], In_Reply_To="<n1@example.org>")["state"] == "released"


@story("Takeout: labels in any language tell, even with --sent (I2)")
def _(world):
    mark = "From 1880000000000000001@xxx Mon Nov 02 10:00:00 +0000 2026\n"
    rows = [("Enviados", NORA), ("=?UTF-8?B?6YCB5L+h5riI44G/?=", SAM), ("Inbox,Opened", MALLORY),
            ("=?UTF-8?Q?Gesendet,Entw=C3=BCrfe?=", "draft@example.org")]
    path = put(world, "All mail.mbox",
               *[f"X-GM-THRID: 1\nX-Gmail-Labels: {label}\n".encode() + own_letter(to)
                 for label, to in rows], mark=mark)
    for more in ([], ["--sent"]):
        summary = imported(world, *more, path)
        assert (summary["sent"], summary["received"]) == (2, 1), summary
        assert summary["skipped"]["draft"] == 1, summary
    assert (knows(world, NORA), knows(world, SAM), knows(world, MALLORY)) == (1, 1, 0)


@story("--sent-labels names the labels of sent mail, in whatever file they stand")
def _(world):
    google = "From 1880000000000000001@xxx Mon Nov 02 10:00:00 +0000 2026\n"
    rows = [("=?utf-8?q?Weg,_Fort?=", SAM), ("Important,=?utf-8?q?=22Weg,_Fort=22?=", NORA),
            ("Sent", MALLORY), ("Inbox", "draft@example.org")]
    for start, mark in (("", google), ("X-GM-THRID: 1\n", google), ("Status: RO\n", None)):
        path = put(world, "All mail.mbox",
                   *[f"{start}X-Gmail-Labels: {label}\n".encode() + own_letter(to)
                     for label, to in rows], **({"mark": mark} if mark else {}))
        world.gate.restart_relay(fresh=True)
        summary = imported(world, "--sent-labels", 'Hin,"Weg, Fort"', path)
        assert (summary["sent"], summary["received"]) == (1, 3), summary
        assert (knows(world, NORA), knows(world, SAM), knows(world, MALLORY)) == (1, 0, 0)


@story("In a folder of sent mail, what a program marked as deleted or as a draft teaches nothing")
def _(world):
    path = put(world, "Sent", own_letter(NORA, X_Status="A", X_Mozilla_Status="0001"),
               own_letter(SAM, X_Mozilla_Status="0009"), own_letter(MALLORY, X_Status="T"))
    summary = imported(world, path)
    assert (summary["sent"], summary["skipped"]["deleted"]) == (1, 2), summary
    assert (knows(world, NORA), knows(world, SAM), knows(world, MALLORY)) == (1, 0, 0)


@story("Labels that the sender of a message wrote prove nothing (XB27)")
def _(world):
    forged = b"X-GM-THRID: 1\nX-Gmail-Labels: Sent\n" + own_letter(MALLORY)
    assert imported(world, put(world, "inbox", forged))["received"] == 1
    path = put(world, "mixed", b"Received: x\n" + own_letter(OWNER), forged,
               mark="From 1@xxx Mon Nov 02 10:00:00 +0000 2026\n")
    assert imported(world, path)["received"] == 2
    assert knows(world, MALLORY) == 0


@story("An import repeated counts nothing twice, and is recorded twice (XE17)")
def _(world):
    path = put(world, "Sent", own_letter(NORA), own_letter(NORA, Message_ID=None),
               own_letter(SAM, Message_ID="<a@x> <b@x>"), own_letter(NORA))
    first = imported(world, path)
    assert (first["sent"], first["correspondents"], first["conversations"]) == (4, 2, 4), first
    again = imported(world, path)
    assert (again["sent"], again["correspondents"], again["conversations"]) == (4, 0, 0), again
    assert (knows(world, NORA), knows(world, SAM)) == (3, 1)
    one, two = entries(world, "imported")
    assert one == two and one[1]["sent"] == "4" and one[1]["path"] == path, (one, two)
    assert re.fullmatch("[0-9a-f]{64}", one[1]["sha256"]), one


@story("Only admins import; whoever else tries has taught nothing")
def _(world):
    path = put(world, "Sent", own_letter(NORA))
    for uid in (APPROVER, AGENT):
        done = run(world, path, uid=uid)
        assert done.returncode == 77 and "admin" in done.stderr, done
    assert entries(world, "imported") == [] and knows(world, NORA) == 0
    assert run(world, path, uid=ADMIN).returncode == 0
    [(who, _)] = entries(world, "imported")
    assert str(ADMIN) in who and knows(world, NORA) == 1


@story("A dry run lists who would become known, and teaches nothing")
def _(world):
    path = put(world, "Sent", own_letter(NORA, Date=when(9)), own_letter(NORA, Date=when(2)),
               own_letter(SAM))
    imported(world, put(world, "sent", own_letter(SAM)))
    listed = imported(world, "--dry-run", path)["would_know"]
    assert [(one["address"], one["times"]) for one in listed] == [(NORA, 2)], listed
    assert 6 * DAY < listed[0]["last"] - listed[0]["first"] < 8 * DAY, listed
    text = run(world, "--dry-run", path).stdout
    assert NORA in text and SAM not in text and "Nothing was imported" in text, text
    assert knows(world, NORA) == 0 and len(entries(world, "imported")) == 1


@story("--min-times, --only-replied and --since narrow it")
def _(world):
    sent = put(world, "Sent", own_letter(NORA, Date=when(9)), own_letter([NORA, SAM][0]),
               own_letter(f"{SAM}, {NORA}", Date=when(400)), own_letter(MALLORY))
    inbox = put(world, "inbox", letter(OWNER, sender=SAM),
                letter(OWNER, sender=MALLORY, Auto_Submitted="auto-replied"))
    often = imported(world, "--min-times", "2", sent)
    assert often["skipped"]["unwanted"] == 1, often
    assert (knows(world, NORA), knows(world, SAM), knows(world, MALLORY)) == (3, 0, 0)
    world.gate.restart_relay(fresh=True)
    imported(world, "--only-replied", sent, inbox)
    assert (knows(world, NORA), knows(world, SAM), knows(world, MALLORY)) == (0, 1, 0)
    world.gate.restart_relay(fresh=True)
    assert imported(world, "--since", time.strftime("%Y-%m-%d", time.gmtime(
        time.time() - 30 * DAY)), sent)["skipped"]["earlier"] == 1
    assert (knows(world, NORA), knows(world, SAM), knows(world, MALLORY)) == (2, 0, 1)


@story("What is broken is named and counted, and the rest is imported")
def _(world):
    folder = os.path.join(world.folder, "mail")
    os.makedirs(os.path.join(folder, "Sent"))
    for name, content in (("1.eml", own_letter(NORA)), ("2.eml", b""), ("3.eml", b"no header\n\n"),
                          ("4.emlx", b"99999\nFrom: x\n\n"), ("5\x1b[2J.eml", b"\0\xff\n"),
                          ("6.eml", own_letter(SAM, To=f"undisclosed:;, {SAM}, \xff <x"))):
        with open(os.path.join(folder, "Sent", name), "wb") as file:
            file.write(content)
    os.symlink("/dev/zero", os.path.join(folder, "Sent", "7.eml"))
    os.mkfifo(os.path.join(folder, "Sent", "8.eml"))
    done = run(world, "--json", folder)
    assert done.returncode == 0, done
    summary = json.loads(done.stdout)
    assert (summary["sent"], summary["skipped"]["broken"]) == (2, 6), summary
    for name in ("2.eml", "3.eml", "4.emlx", "7.eml", "8.eml", "\\u{001B}"):
        assert name in done.stderr, done.stderr
    assert "\x1b" not in done.stderr, done.stderr
    assert (knows(world, NORA), knows(world, SAM)) == (1, 1)


@story("A slip in the last path, or in an option, leaves everything as it was")
def _(world):
    path = put(world, "Sent", own_letter(NORA))
    for words, status in (([path, "/nonexistent"], 66), (["--since", "yesterday", path], 64),
                          (["--min-times", "0", path], 64), ([], 64), ([world.gate.etc], 66),
                          (["--sent", "--received", path], 64),
                          (["--sent-labels", "", path], 64),
                          (["--account", "nobody", path], 66)):
        done = run(world, *words)
        assert done.returncode == status, (words, done)
    assert knows(world, NORA) == 0 and entries(world, "importing") == []


@story("A copy that somebody puts into a folder imported once teaches nothing by itself (XB26)")
def _(world):
    dovecot = Dovecot(os.path.join(world.folder, "dovecot"))
    dovecot.create("Sent")
    dovecot.save("Sent", own_letter(NORA))
    imported(world, dovecot.path)
    dovecot.save("Sent", own_letter(MALLORY))
    for hours in (1, 30, 24 * 30):
        world.gate.clock(hours * 3600)
    world.gate.restart_relay()
    assert judged(world, [MALLORY])["state"] == "held"
    assert world.sink.messages() == []


@story("A long folder goes in batches and leaves a trace from its beginning")
def _(world):
    path = put(world, "Sent", *[own_letter(f"p{number % 700}@example.org")
                                for number in range(4100)])
    summary = imported(world, path)
    assert (summary["sent"], summary["correspondents"]) == (4100, 700), summary
    [(_, begun)], [(_, ended)] = entries(world, "importing"), entries(world, "imported")
    assert begun == {"path": path} and ended["sent"] == "4100", (begun, ended)


@story("When a batch is not kept, nothing behind it is, and the reason is said once")
def _(world):
    order = os.path.join(world.folder, "fault")
    world.gate.load(world.gate.relay, "fault.so", EXEAT_TEST_FAULT=order)
    world.gate.restart_relay()
    path = put(world, "Sent", *[own_letter(f"p{number}@example.org") for number in range(2000)])
    with open(order, "w", encoding="ascii") as file:
        file.write("5")
    done = run(world, path)
    os.unlink(order)
    assert done.returncode == 75 and done.stderr.count("database") == 1, done.stderr
    assert world.gate.answer("history", "p1999@example.org")["entries"][0]["times"] == 0
    assert imported(world, path)["correspondents"] == 2000


@story("Mail in any order ties the same conversation")
def _(world):
    chain = [own_letter(NORA, Message_ID="<4@x>", References="<1@x> <2@x> <3@x>"),
             own_letter(NORA, Message_ID="<2@x>", References="<1@x>")]
    sent = put(world, "Sent", *chain)
    inbox = put(world, "inbox", letter(OWNER, sender=NORA, Message_ID="<3@x>",
                                       References="<1@x> <2@x>"),
                letter(OWNER, sender=NORA, Message_ID="<1@x>"))
    assert imported(world, sent, inbox)["conversations"] == 1
    item = judged(world, [NORA], References="<1@x> <2@x> <3@x> <4@x>")
    assert item["state"] == "released", item
    [left] = world.sink.messages()
    assert left.recipients == [NORA]


@story("What a machine wrote is a machine's when it comes from a mailbox, too (loop)")
def _(world):
    sent = put(world, "Sent", own_letter(NORA, Message_ID="<1@x>"))
    inbox = put(world, "inbox", letter(OWNER, sender=NORA, Message_ID="<2@x>", References="<1@x>",
                                       Auto_Submitted="auto-replied"),
                letter(OWNER, sender=NORA, Message_ID="<3@x>", References="<1@x>"))
    imported(world, sent, inbox)
    for parent, loop in (("<2@x>", True), ("<3@x>", False)):
        item = judged(world, [NORA], In_Reply_To=parent)
        assert world.gate.show(item["id"])["facts"]["loop"] is loop, item


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World(POLICY)))
