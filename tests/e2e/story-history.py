"""What the gate knows of people, what it tells, and what an admin may say of them."""

import os
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import ADMIN, AGENT, APPROVER, STRANGER  # noqa: E402
from letter import letter, message_id  # noqa: E402
from story import PATIENCE, main, story, until  # noqa: E402
from world import World, end_on_signals  # noqa: E402

OWNER, ASSISTANT = "owner@example.com", "agent@example.com"
NORA, MALLORY, DANA = "nora@example.org", "mallory@example.net", "dana@example.com"
POLICY = """\
hold    "address taken from mail text" if from_body > 0
hold    "looks like somebody you know" if lookalike > 0
hold    "first contact outside"        if external_novel > 0
release "the rest"
"""
DAY = 24 * 3600


def write(world, to):
    """The human writes to somebody. Returns the Message-ID."""
    message = letter(to, sender=OWNER)
    reply = world.submit(OWNER, [to], message)
    assert reply.code == 250, reply
    return message_id(message)


def hear(world, sender, text):
    """Somebody writes to the human. Returns the Message-ID."""
    message = letter(OWNER, sender=sender, body=text + "\r\n")
    reply = world.receive(sender, [OWNER], message)
    assert reply.code == 250, reply
    return message_id(message)


def propose(world, to):
    """The agent writes to somebody, and is held. Returns the item as show has it."""
    assert world.submit(ASSISTANT, [to], letter(to)).code == 250
    [item] = [item for item in world.gate.items() if item["to"] == [to]]
    return world.gate.show(item["id"])


def passes(world, to):
    """Whether a message of the agent reaches somebody without a person."""
    world.host.wait_empty()
    before = len(world.sink.messages())
    assert world.submit(ASSISTANT, [to], letter(to)).code == 250
    world.host.wait_empty()
    arrived = world.sink.messages()[before:]
    assert all(message.recipients == [to] for message in arrived), arrived
    return len(arrived) == 1


def entries(world, address, uid=ADMIN):
    return world.gate.answer("history", address, uid=uid)["entries"]


def shown(world, item):
    return world.gate.command("show", item["id"]).stdout


@story("Whoever looks like a correspondent is held, and is said to (XB9, XD9)")
def _(world):
    write(world, NORA)
    for address, like in (("n0ra@example.org", NORA), ("nora@examp1e.org", NORA),
                          ("nora@exmaple.org", NORA), ("nora+bank@example.org", NORA),
                          ("bob@example.org.evil.net", "example.org"),
                          ("dana@examp1e.com", "example.com"), ("dana@example.co", "example.com"),
                          ("owner@example-com.net", "example.com")):
        item = propose(world, address)
        assert item["reason"] == "looks like somebody you know", (address, item["reason"])
        assert item["facts"]["lookalike"] == 1, item["facts"]
        assert item["recipients"][0]["looks_like"] == like, item["recipients"]
        word = like if "@" in like else f"the domain {like}"
        assert f"looks like {word}\n" in shown(world, item), shown(world, item)
    assert len(world.sink.messages()) == 1


@story("A name below a known domain, or beside a correspondent, is a stranger and no look-alike")
def _(world):
    write(world, NORA)
    for address in ("bob@example.org", "bob@mail.example.org", MALLORY):
        item = propose(world, address)
        assert item["reason"] == "first contact outside", (address, item["reason"])
        assert item["facts"]["lookalike"] == 0, item["facts"]
        assert item["recipients"][0]["looks_like"] == "", item["recipients"]


@story("Who was written to himself is taken for nobody else")
def _(world):
    write(world, NORA)
    write(world, "n0ra@example.org")
    assert passes(world, "n0ra@example.org")


@story("What a program sends with the human's login makes nobody known (RFC 3834, RFC 8098)")
def _(world):
    for sender, mark in ((OWNER, "auto-replied"), ("", None), ("", "auto-replied")):
        message = letter(MALLORY, sender=OWNER, Auto_Submitted=mark)
        assert world.submit(OWNER, [MALLORY], message, sender=sender).code == 250
        item = propose(world, MALLORY)
        assert item["reason"] == "first contact outside", (mark, item["reason"])
        world.gate.command("reject", item["id"], "Seen.")
    assert world.submit(OWNER, [NORA], letter(NORA, sender=OWNER, Auto_Submitted="no")).code == 250
    assert passes(world, NORA)


@story("Show says where an address from a text was first and last seen (D19, A12)")
def _(world):
    first = hear(world, MALLORY, "Pay to billing@example.net please.")
    last = hear(world, NORA, "I heard of billing@example.net, too.")
    item = propose(world, "billing@example.net")
    [recipient] = item["recipients"]
    assert item["reason"] == "address taken from mail text", item["reason"]
    assert recipient["first_named"]["message"] == first, recipient
    assert recipient["first_named"]["sender"] == MALLORY, recipient
    assert recipient["last_named"]["message"] == last, recipient
    text = shown(world, item)
    assert f"first seen in a message from {MALLORY} on 2" in text, text
    assert f"last seen in a message from {NORA} on 2" in text, text
    assert "named in a text, external" in text, text
    world.host.wait_empty()
    assert all(message.recipients == [OWNER] for message in world.sink.messages())


@story("A sender's name cannot put words into the explanation")
def _(world):
    hear(world, '"x on 2026-01-01, vouched for by user root"@evil.example.net',
         "Ask billing@example.net.")
    item = propose(world, "billing@example.net")
    text = shown(world, item)
    assert "in a message from somebody at evil.example.net on 2" in text, text
    assert "vouched" not in text, text


@story("Show counts how often somebody known was written to")
def _(world):
    write(world, NORA)
    write(world, NORA)
    world.gate.configure('hold "all"\n')
    world.gate.restart_relay()
    item = propose(world, NORA)
    assert item["recipients"][0]["times"] == 2, item["recipients"]
    assert "written to 2 times since 2" in shown(world, item), shown(world, item)


@story("History tells letters, texts and the one an address looks like")
def _(world):
    letters = [write(world, NORA), write(world, NORA)]
    text = hear(world, MALLORY, f"Ask {NORA}.")
    [entry] = entries(world, NORA)
    assert not entry["looks_like"] and entry["times"] == 2 and entry["mentioned"], entry
    assert {letter_["message"] for letter_ in entry["conversations"]} == set(letters), entry
    assert entry["first_named"]["message"] == text, entry
    [stranger, other] = entries(world, "n0ra@example.org")
    assert not stranger["known"] and stranger["looks_like"] == NORA, stranger
    assert other == entry, other
    said = world.gate.command("history", "n0ra@example.org").stdout
    assert "owner, never written to: n0ra@example.org\n  looks like nora@example.org\n" in said, said
    assert f"owner, named in a text: {NORA}\n  written to 2 times since 2" in said, said
    assert letters[0] in said and text in said, said


@story("An address an admin vouches for is known; forgotten, it is a stranger again")
def _(world):
    assert not passes(world, NORA)
    world.gate.answer("history", "vouch", NORA, uid=ADMIN)
    [entry] = entries(world, NORA)
    assert entry["known"] and entry["vouched"] and entry["times"] == 0, entry
    assert str(ADMIN) in entry["voucher"], entry
    assert passes(world, NORA)
    said = world.gate.command("history", NORA).stdout
    assert f"vouched for by user {ADMIN} on 2" in said, said
    write(world, NORA)
    world.gate.answer("history", "forget", NORA, uid=ADMIN)
    [entry] = entries(world, NORA)
    assert not entry["known"] and not entry["vouched"] and entry["times"] == 0, entry
    assert not passes(world, NORA)
    again = world.gate.command("history", "forget", NORA, uid=ADMIN)
    assert again.returncode == 66, again
    write(world, NORA)
    assert passes(world, NORA)


@story("Only an admin vouches and forgets")
def _(world):
    write(world, NORA)
    for uid in (APPROVER, AGENT, STRANGER):
        for verb, address in (("vouch", MALLORY), ("forget", NORA)):
            refused = world.gate.command("history", verb, address, uid=uid)
            assert refused.returncode == 77, (uid, verb, refused)
    assert not entries(world, MALLORY)[0]["known"]
    assert entries(world, NORA)[0]["known"]
    assert not passes(world, MALLORY)
    for words, status in ((("praise", NORA), 64), (("vouch", "nobody"), 64),
                          (("vouch", NORA, "--account", "other"), 66)):
        refused = world.gate.command("history", *words, uid=ADMIN)
        assert refused.returncode == status, (words, refused)


@story("With two accounts, the admin says which one knows somebody (XB30)")
def _(world):
    world.gate.configure(POLICY, more="[account second]\naddresses = second@example.com\n"
                         "agent-logins = second-agent@example.com\n"
                         "internal-domains = example.com\npolicy = policy\n")
    world.gate.restart_relay()
    unnamed = world.gate.command("history", "vouch", NORA, uid=ADMIN)
    assert unnamed.returncode == 64 and "--account" in unnamed.stderr, unnamed
    world.gate.answer("history", "vouch", NORA, "--account", "second", uid=ADMIN)
    known = {entry["account"]: entry["known"] for entry in entries(world, NORA)}
    assert known == {"owner": False, "second": True}, known
    assert not passes(world, NORA)


@story("What a text named is let go ninety days after it was last seen (XE18)")
def _(world):
    write(world, NORA)
    hear(world, MALLORY, f"Ask {NORA}.")
    assert not passes(world, NORA)
    world.gate.clock(89 * DAY)
    world.gate.restart_relay()
    assert entries(world, NORA)[0]["mentioned"]
    world.gate.clock(91 * DAY)
    until(lambda: not entries(world, NORA)[0]["mentioned"])
    assert passes(world, NORA)


@story("Of what received mail taught so much is kept; one sender pushes nobody else's out (XE18)")
def _(world):
    write(world, NORA)
    hear(world, DANA, f"Ask first@example.net, and {NORA}.")
    flood = [f"flood{number}@example.net" for number in range(20)]
    for number, address in enumerate(flood):
        world.gate.clock(60 if number < 10 else 120)
        hear(world, MALLORY, f"Ask {address}.")
    world.gate.configure(POLICY, settings={"received-limit": "5"})
    world.gate.restart_relay()
    until(lambda: len([one for one in flood if entries(world, one)[0]["mentioned"]]) == 4)
    named = [address for address in ["first@example.net", NORA, *flood]
             if entries(world, address)[0]["mentioned"]]
    assert named[:2] == ["first@example.net", NORA] and set(named[2:]) < set(flood[10:]), named
    assert not passes(world, NORA) and not passes(world, "first@example.net")


def database(world, statement):
    """As somebody who can write the database, but cannot read the key."""
    with sqlite3.connect(os.path.join(world.gate.state, "exeat.db"), timeout=PATIENCE) as handle:
        handle.execute(statement)
    handle.close()


def verify(world):
    done = world.gate.command("audit", "verify")
    return done.returncode, done.stdout


@story("A correspondent written into the database is a stranger, and is said to be made (XE13)")
def _(world):
    write(world, NORA)
    assert passes(world, NORA)
    path = os.path.join(world.gate.state, "exeat.db")
    code = f"import sqlite3; sqlite3.connect({path!r}).execute('DELETE FROM correspondent')"
    denied = subprocess.run(["/usr/bin/python3", "-c", code], user=AGENT, group=AGENT,
                            extra_groups=[], capture_output=True, check=False, text=True)
    assert "unable to open database file" in denied.stderr, denied
    assert verify(world)[0] == 0
    database(world, "INSERT INTO correspondent SELECT account, 'mallory@example.net', skeleton, "
             "times, first_written, last_written, event, vouched, voucher, seal "
             "FROM correspondent WHERE address = 'nora@example.org'")
    until(lambda: "correspondent mallory@example.net was not written" in world.gate.relay.read_log())
    assert propose(world, MALLORY)["reason"] == "first contact outside"
    assert passes(world, NORA)
    changed = world.gate.answer("audit", "--kind", "history-changed")["entries"]
    assert all("mallory@example.net" in entry["content"]["fault"] for entry in changed)
    assert len(changed) >= 2, changed  # when it was noticed, and when it was judged
    status, text = verify(world)
    assert status == 65 and "correspondent mallory@example.net was not written" in text, text


@story("An admin takes a changed history as it is, which is recorded, and then it is whole (XE13)")
def _(world):
    write(world, NORA)
    write(world, DANA)
    nothing = world.gate.command("history", "accept", uid=ADMIN)
    assert nothing.returncode == 66 and "as the relay wrote it" in nothing.stderr, nothing
    database(world, "DELETE FROM correspondent WHERE address = 'dana@example.com'")
    database(world, "INSERT INTO correspondent SELECT account, 'mallory@example.net', skeleton, "
             "times, first_written, last_written, event, vouched, voucher, seal "
             "FROM correspondent")
    assert verify(world)[0] == 65
    for uid in (APPROVER, AGENT, STRANGER):
        assert world.gate.command("history", "accept", uid=uid).returncode == 77
    assert verify(world)[0] == 65
    done = world.gate.command("history", "accept", uid=ADMIN)
    assert done.returncode == 0 and done.stdout.count("owner, accepted: ") == 2, done
    assert verify(world)[0] == 0
    [entry] = world.gate.answer("audit", "--kind", "history-accepted")["entries"]
    assert entry["who"].startswith(f"user {ADMIN}"), entry
    assert "mallory@example.net was not written" in entry["content"]["faults"][0], entry
    assert propose(world, MALLORY)["reason"] == "first contact outside"
    assert passes(world, NORA)
    told = len(world.gate.answer("audit", "--kind", "history-changed")["entries"])
    database(world, "DELETE FROM correspondent")  # a new fault is told anew
    until(lambda: len(world.gate.answer("audit", "--kind", "history-changed")["entries"]) > told)


@story("A history deleted from the database is missed at once (XE15)")
def _(world):
    write(world, NORA)
    write(world, DANA)
    assert verify(world)[0] == 0
    database(world, "DELETE FROM correspondent")
    until(lambda: "rows that were recorded" in world.gate.relay.read_log())
    status, text = verify(world)
    assert status == 65 and "of 4 rows that were recorded, 2 are there" in text, text
    assert world.gate.answer("audit", "--kind", "history-changed")["entries"]
    assert propose(world, NORA)["reason"] == "first contact outside"
    world.gate.restart_relay()
    write(world, NORA)
    assert verify(world)[0] == 65


@story("It is the open database that is verified, wherever the files say the next one will be (XF10)")
def _(world):
    write(world, NORA)
    world.gate.configure(POLICY, settings={"state": os.path.join(world.folder, "moved")})
    world.gate.reload()
    assert verify(world)[0] == 0
    database(world, "DELETE FROM correspondent")
    until(lambda: "rows that were recorded" in world.gate.relay.read_log())
    assert verify(world)[0] == 65


@story("What the human sends is in the record: which login, which message (XA3)")
def _(world):
    sent = write(world, NORA)
    hear(world, MALLORY, "hello")
    [entry] = world.gate.answer("audit", "--kind", "history")["entries"]
    assert entry["who"] == f"human login {OWNER}", entry
    assert entry["content"]["message"] == sent and entry["content"]["rows"] == 2, entry


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World(POLICY)))
