"""answer = later: who submits what is kept hears 451 until its end is known, and one answer."""

import email
import os
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import AGENT, RELAY  # noqa: E402
from letter import letter  # noqa: E402
from story import main, story, until  # noqa: E402
from world import World, end_on_signals  # noqa: E402

OWNER, ASSISTANT, BOX = "owner@example.com", "agent@example.com", "agent-box@example.com"
NORA, STRANGER, DANA = "nora@example.org", "stranger@example.net", "dana@example.com"
POLICY = """\
refuse  "never this"          if subject contains "never"
draft   "park it"             if subject contains "park"
hold    "look at it"          if subject contains "sign"
hold    "first contact"       if novel > 0
release "colleagues"          if external = 0
delay 2h-6h "people I know"
"""
LATER = {"answer": "later"}
HOURS, DAYS = 3600, 86400
TIERS = {"sign": "held", "park": "draft", "note": "delayed"}


def begin(world):
    """The human writes to two people, who are known from then on. One is inside, so the mail
    server makes two messages of it."""
    assert world.submit(OWNER, [NORA, DANA], letter(NORA, sender=OWNER)).code == 250
    assert len(world.sink.wait(2)) == 2


def keep(world, to=STRANGER, subject="sign", **fields):
    """The agent submits a message that is kept. Returns the message and its item."""
    message = letter(to, subject, **fields)
    reply = world.submit(ASSISTANT, [to], message)
    assert reply.code == 451, reply
    return message, re.search(r"kept as (\w+),", reply.text).group(1)


def again(world, message, to=STRANGER):
    """The agent's client comes again. Returns code and text."""
    reply = world.submit(ASSISTANT, [to], message)
    return reply.code, reply.text


def answered(world, item):
    """What the audit record has of the answers that a client got."""
    return [entry["content"]["state"] for entry in
            world.gate.answer("audit", "--item", item, "--kind", "answered")["entries"]]


def notices(world, count):
    until(lambda: len([mail for mail in world.sink.messages() if mail.recipients == [BOX]]) >= count)
    return [mail for mail in world.sink.messages() if mail.recipients == [BOX]]


def anonymous(text, *words):
    """Without what no two messages have in common: ids, times, queue ids."""
    for word in words:
        text = text.replace(word, "X")
    text = re.sub(r"(?m)^(Date|Arrival-Date): .*$", r"\1", text)
    text = re.sub(r"exeat\.X\.\d+@", "exeat.X.N@", text)
    text = re.sub(r"queued as \w+", "queued", text)
    return re.sub(r"(?ms)^Received: .*?^(?=From: )", "", text)


@story("Delayed, drafted and held hear the same, byte for byte, by reply, notice and status (XF21)")
def _(world):
    begin(world)
    told = set()
    for answer, code in (("later", 451), ("now", 250)):
        world.gate.configure(POLICY, {"answer": answer, "notices-to": BOX})
        world.gate.restart_relay()
        seen, before = set(), len(notices(world, 0))
        for number, (subject, state) in enumerate(TIERS.items()):
            name = f"<{answer}-{number}@example.com>"
            message = letter(NORA, subject, Message_ID=name)
            reply = world.submit(ASSISTANT, [NORA], message)
            item = world.gate.items(everything=True)[-1]
            assert (item["state"], reply.code) == (state, code), (item, reply)
            twice = world.submit(ASSISTANT, [NORA], message)
            notice = notices(world, before + number + 1)[-1]
            status = world.gate.command("status", item["id"], uid=AGENT).stdout
            seen.add(tuple(anonymous(text, item["id"], name) for text in (
                repr(reply), repr(twice), notice.data.decode(), status)))
        assert len(seen) == 1, seen
        told |= {texts[2] for texts in seen}
    [text] = told
    for word in ("park", "sign", "look", "draft", "hours", "tier", "policy", "novel"):
        assert word not in text.lower(), text


@story("Until it is decided each retry meets the same item; a storm of them is one item (XF22)")
def _(world):
    begin(world)
    message, item = keep(world)
    entries = len(world.gate.answer("audit")["entries"])
    with ThreadPoolExecutor(10) as clients:
        told = set(clients.map(lambda _: again(world, message), range(100)))
    assert told == {(451, f"4.7.1 kept as {item}, what becomes of it is not known yet: "
                          "try again later")}, told
    world.gate.kill()
    world.gate.start()
    assert again(world, message)[0] == 451
    assert [line["id"] for line in world.gate.items(everything=True)] == [item]
    kinds = [entry["kind"] for entry in world.gate.answer("audit")["entries"]]
    assert len(kinds) - entries <= 6 and answered(world, item) == [], kinds
    assert len(world.sink.messages()) == 2


@story("Once it was sent, by an approval or when due, a retry hears 250 and nothing leaves again")
def _(world):
    begin(world)
    held, approved = keep(world)
    late, delayed = keep(world, NORA, "note")
    world.gate.approve(approved)
    assert world.gate.wait_state(approved, "sent") == "sent"
    world.gate.clock(7 * HOURS)
    assert world.gate.wait_state(delayed, "sent") == "sent"
    for _ in range(3):
        assert again(world, held)[0] == 250 and again(world, late, NORA)[0] == 250
    world.gate.clock(14 * HOURS)
    world.gate.restart_relay()
    world.host.wait_empty()
    assert len(world.sink.messages()) == 4
    assert answered(world, approved) == answered(world, delayed) == ["sent"]
    assert len(world.gate.items(everything=True)) == 2


@story("What will not be sent hears 550 with the reason, whatever it was (A17)")
def _(world):
    begin(world)
    sentence = "Nicht dieses Jahr – 100 % sicher\u202e."
    plain = "The reviewer says: Nicht dieses Jahr - 100 "
    ends = set()
    for subject in TIERS:
        message, item = keep(world, NORA, subject)
        if subject == "note":
            world.gate.answer("veto", item)
        else:
            world.gate.answer("reject", item, sentence if subject == "sign" else "no reason given")
        code, text = again(world, message, NORA)
        assert code == 550 and again(world, message, NORA) == (code, text), text
        assert text.startswith(f"5.7.1 {item}: Your message was rejected"), text
        assert answered(world, item) == [world.gate.show(item)["state"]]
        if subject == "sign":
            assert plain in text and text.isascii() and "%" not in text, text
        else:
            ends.add(text.replace(item, "X"))
    assert len(ends) == 1, ends
    message, item = keep(world)
    world.gate.command("withdraw", item, uid=AGENT)
    assert "was withdrawn" in again(world, message)[1]
    message, item = keep(world)
    keep(world, Agent_Supersedes=item)
    assert "took the place" in again(world, message)[1]
    message, item = keep(world)
    world.gate.clock(15 * DAYS)
    assert world.gate.wait_state(item, "expired") == "expired"
    assert again(world, message) == (
        550, f"5.4.7 {item}: Nobody decided on your message in time. It was not sent.")
    assert len(world.sink.messages()) == 2


@story("A sentence of a thousand bytes fits into the reply, and the notice has all of it")
def _(world):
    world.gate.configure(POLICY, {**LATER, "notices-to": BOX})
    world.gate.restart_relay()
    message, item = keep(world)
    world.gate.answer("reject", item, "x" * 996 + " end")
    code, text = again(world, message)
    assert code == 550 and len(text) < 505 and text.endswith("x"), (code, len(text))
    texts = [email.message_from_bytes(mail.data).get_payload(0).get_payload(decode=True)
             for mail in notices(world, 2)]
    assert len([text for text in texts if b"x" * 996 + b" end" in text]) == 1, texts


@story("What the human sent from another program hears 250, too")
def _(world):
    begin(world)
    message, item = keep(world)
    assert world.submit(OWNER, [STRANGER], message, sender=OWNER).code == 250
    assert world.gate.wait_state(item, "sent-by-human") == "sent-by-human"
    assert again(world, message)[0] == 250
    assert len(world.sink.wait(3)) == 3


@story("What the next hop refused is answered with its reply")
def _(world):
    world.gate.configure(POLICY, LATER, {"next-hop": f"inet:127.0.0.1:{world.sink.port}",
                                         "next-hop-gated": "no"})
    world.gate.restart_relay()
    world.sink.rules = [{"at": "RCPT", "match": STRANGER, "do": "550 5.1.1 no such user"}]
    message, item = keep(world)
    world.gate.approve(item)
    assert world.gate.wait_state(item, "failed") == "failed"
    code, text = again(world, message)
    assert code == 550 and text.startswith(f"5.1.1 {item}: ") and "no such user" in text, text


@story("Who never comes again is told by notice all the same")
def _(world):
    world.gate.configure(POLICY, {**LATER, "notices-to": BOX})
    world.gate.restart_relay()
    _, item = keep(world)
    world.gate.approve(item)
    assert world.gate.wait_state(item, "sent") == "sent"
    told = [mail.data for mail in notices(world, 2)]  # either may overtake the other
    assert [sum(action in data for data in told)
            for action in (b"Action: delayed", b"Action: relayed")] == [1, 1], told
    assert all(item.encode() in data for data in told) and answered(world, item) == []


@story("Without an id of its own, a message is the same until two hours after its end was told")
def _(world):
    begin(world)
    fields = {"Message_ID": None, "Date": None}
    message, item = keep(world, **fields)
    assert again(world, message) == again(world, message)
    assert len(world.gate.items()) == 1
    world.gate.approve(item)
    assert world.gate.wait_state(item, "sent") == "sent"
    world.gate.clock(5 * HOURS)
    assert again(world, message)[0] == 250
    world.gate.clock(6 * HOURS)
    assert again(world, message)[0] == 250  # it may not have heard that
    world.gate.clock(8 * HOURS)
    code, text = again(world, message)
    assert code == 451 and item not in text, text
    [fresh] = world.gate.items()
    assert fresh["id"] != item and len(world.sink.wait(3)) == 3


@story("Two messages with one Message-ID do not supersede each other in a circle")
def _(world):
    begin(world)
    first, old = keep(world)
    second = first + b"More.\r\n"
    code, text = again(world, second)
    assert code == 451 and old not in text
    [new] = [item["id"] for item in world.gate.items()]
    for _ in range(3):
        code, text = again(world, first)
        assert code == 550 and old in text, text
        assert again(world, second)[0] == 451
    assert world.gate.show(new)["state"] == "held"
    assert len(world.gate.items(everything=True)) == 2


@story("What left after an older copy of the database was made is held when it comes again (XC12)")
def _(world):
    begin(world)
    path = os.path.join(world.gate.state, "exeat.db")
    world.gate.relay.stop()
    shutil.copy(path, path + ".old")
    world.gate.relay.start()
    due, late = keep(world, NORA, "note")
    looked, held = keep(world)
    world.gate.approve(held)
    assert world.gate.wait_state(held, "sent") == "sent"
    world.gate.clock(7 * HOURS)
    assert world.gate.wait_state(late, "sent") == "sent"
    world.gate.relay.stop()
    for suffix in ("-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.unlink(path + suffix)
    os.rename(path + ".old", path)
    os.chown(path, RELAY, RELAY)
    world.gate.relay.start()
    assert again(world, due, NORA)[0] == again(world, looked)[0] == 451
    reasons = [(item["state"], item["reason"]) for item in world.gate.items()]
    assert reasons == [("held", f"handed on before as {item}, which was lost")
                       for item in (late, held)], reasons
    world.gate.clock(20 * HOURS)
    world.gate.restart_relay()
    world.host.wait_empty()
    assert len(world.sink.messages()) == 4


@story("What is released or refused is answered at once, and people never wait for an answer")
def _(world):
    begin(world)
    released = letter(DANA, "note")
    assert world.submit(ASSISTANT, [DANA], released).code == 250
    assert world.submit(ASSISTANT, [DANA], letter(DANA, "never")).code == 550
    assert world.submit(OWNER, [STRANGER], letter(STRANGER, "sign", sender=OWNER)).code == 250
    assert len(world.sink.wait(4)) == 4


@story("When the key changes, what waits is answered by the new one and nothing leaves twice")
def _(world):
    begin(world)
    message, item = keep(world)
    world.gate.configure(POLICY)
    world.gate.restart_relay()
    assert again(world, message)[0] == 250
    world.gate.configure(POLICY, LATER)
    world.gate.restart_relay()
    world.gate.approve(item)
    assert world.gate.wait_state(item, "sent") == "sent"
    assert again(world, message)[0] == 250
    world.host.wait_empty()
    assert len(world.sink.messages()) == 3
    assert [line["id"] for line in world.gate.items(everything=True)] == [item]


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World(POLICY, LATER)))
