"""A next hop that fails at every stage: what the item says and what the world got always agree.

    story-nexthop.py [--sends N] [words of a sentence]

make check is content with a few hundred sends; 10000 take a quarter of an hour."""

import os
import random
import socket
import ssl
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import APPROVER, RELAY, setting_lines  # noqa: E402
from imaphost import make_authority  # noqa: E402
from ledger import read_items  # noqa: E402
from letter import letter, message_id  # noqa: E402
from mailhost import PASSWORD  # noqa: E402
from provider import make_certificate  # noqa: E402
from sink import Sink  # noqa: E402
from smtpclient import Client  # noqa: E402
from story import main, story, until  # noqa: E402
from world import World, end_on_signals  # noqa: E402

AGENT, OTHER, BOSS = "agent@example.com", "other@example.com", "boss@example.com"
GOOD, BAD = "good@example.net", "bad@example.net"
POLICY = """\
hold "said to be held" if subject contains "hold"
delay 1m-2m "by and by"
"""
SETTINGS = {"waiting-limit": "1000000", "approval-life": "9d"}
SENDS = 300
RETRY = 1000  # seconds: longer than the longest wait between two attempts
STREAMS = 4
A_DAY = 400  # sends of one account: what is counted of a day is counted anew for each message
DAY = 25 * 3600
MANY = 100  # messages that wait for one next hop: more than one look at the clock takes
LOOKED_AT = 10  # messages of which every recipient is looked at

BEFORE = [("CONNECT", "421 4.3.2 busy"), ("CONNECT", "554 5.7.1 nobody home"), ("CONNECT", "drop"),
          ("CONNECT", "reset"), ("CONNECT", "half"), ("EHLO", "421 4.3.2 busy"), ("EHLO", "drop"),
          ("MAIL", "451 4.3.0 later"), ("MAIL", "421 4.3.2 bye"), ("MAIL", "drop"),
          ("MAIL", "reset"), ("MAIL", "half"), ("RCPT", "450 4.2.0 greylisted"),
          ("RCPT", "421 4.3.2 bye"), ("RCPT", "drop"), ("RCPT", "half"),
          ("DATA", "451 4.3.0 later"), ("DATA", "421 4.3.2 bye"), ("DATA", "drop"),
          ("DATA", "half"), ("BODY", "drop"), ("BODY", "reset"),
          ("BODY", "421 4.3.2 bye")]
LONG = 12_000_000  # bytes: more than a connection takes ahead, so the end is not reached
# What an item becomes when it was played at the end, and whether the server has the message.
AFTER = [("MAIL", "550 5.1.0 no", "failed", 0), ("RCPT", "550 5.1.1 no", "failed", 0),
         ("DATA", "554 5.6.0 no", "failed", 0), ("BODY", "421 4.3.2 bye", "failed", 0),
         ("DOT", "554 5.6.0 no", "failed", 0), ("DOT", "451 4.3.0 later", "failed", 0),
         ("DOT", "421 4.3.2 bye", "failed", 0), ("DOT", "drop", "uncertain", 1),
         ("DOT", "reset", "uncertain", 1), ("DOT", "half", "uncertain", 1),
         ("DOT", "drip", "sent", 1), ("QUIT", "drop", "sent", 1)]


def leave_by(world, sink, **settings):
    """From now on mail leaves by this server, which has no gate."""
    world.gate.configure(POLICY, settings={
        **SETTINGS, "next-hop": f"inet:localhost:{sink.port}", "next-hop-gated": "no",
        **settings})
    world.gate.restart_relay()


def hold(world, *to, **fields):
    """A held message: its item."""
    message = letter(", ".join(to), subject="Please hold this", **fields)
    assert world.submit(AGENT, list(to), message).code == 250
    [item] = [item for item in world.gate.items(everything=True)
              if world.gate.show(item["id"])["message_id"] == message_id(message)]
    return item["id"]


def other(world, name="other", **more):
    return Sink(os.path.join(world.folder, name), **more)


def hang_up(sink):
    """Ends the connections that wait for another message."""
    with sink.changed:
        for connection in list(sink.connections):
            connection.abort()


def wait_attempt(world, item):
    """Waits until an attempt to send it has ended. Returns what the next hop said."""
    until(lambda: (shown := world.gate.show(item))["answer"] and shown["state"] != "sending")
    return world.gate.show(item)["answer"]


@story("Whatever fails before the dot, the message stays here, and leaves once when it is mended")
def _(world):
    with other(world) as sink:
        leave_by(world, sink)
        for number, (stage, failure) in enumerate(BEFORE, 1):
            hang_up(sink)
            sink.rules = [{"at": stage, "do": failure}]
            long = {"body": ("x" * 998 + "\r\n") * (LONG // 1000)} if stage == "BODY" else {}
            item = hold(world, GOOD, **long)
            world.gate.approve(item)
            answer = wait_attempt(world, item)
            assert world.gate.show(item)["state"] == "approved", (stage, failure, answer)
            assert len(sink.messages()) == number - 1, (stage, failure)
            sink.rules = []
            world.gate.clock(world.gate.moved + 31)
            assert world.gate.wait_state(item, "sent") == "sent", (stage, failure)
            assert len(sink.messages()) == number, (stage, failure)


@story("Once nothing can be taken back, it is sent, failed or uncertain, and never tried again (E40)")
def _(world):
    with other(world) as sink:
        leave_by(world, sink)
        kept = 0
        for stage, failure, state, messages in AFTER:
            # The line in the body comes late: what the relay does before the dot has happened.
            sink.rules = [{"at": stage, "do": failure, "match": "Hello" if stage == "BODY" else ""}]
            item = hold(world, GOOD)
            world.gate.approve(item)
            wanted = ("approved", "failed", "uncertain") if stage == "BODY" else (state,)
            wait_attempt(world, item)
            assert world.gate.wait_state(item, *wanted) in wanted, (stage, failure)
            sink.rules = []
            world.gate.clock(world.gate.moved + RETRY)
            if world.gate.show(item)["state"] == "approved":  # the farewell came in time
                assert world.gate.wait_state(item, "sent") == "sent"
                messages = 1
            kept += messages
            assert len(sink.messages()) == kept, (stage, failure)


@story("A server that is not who it should be, or whose TLS is broken, gets nothing")
def _(world):
    ca = make_authority(world.folder, "ca")
    make_authority(world.folder, "stranger")

    def serve(name, host, days=30, known=True):
        """A sink with a certificate for that host."""
        folder = os.path.join(world.folder, name)
        os.mkdir(folder)
        authority = ca if known else os.path.join(world.folder, "stranger.pem")
        for end in ("pem", "key"):
            os.symlink(authority[:-3] + end, os.path.join(folder, "ca." + end))
        path = make_certificate(folder, "server", host, days)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path + ".pem", path + ".key")
        return other(world, name + "-mail", context=context)

    cases = [("good", {"host": "DNS:localhost"}, None, ""),
             ("wrong", {"host": "DNS:other.example"}, None, "hostname mismatch"),
             ("strange", {"host": "DNS:localhost", "known": False}, None, "unable to get local"),
             ("broken", {"host": "DNS:localhost"}, "rubbish", "TLS"),
             ("refused", {"host": "DNS:localhost"}, "454 4.7.0 no TLS now", "454 4.7.0"),
             ("cut", {"host": "DNS:localhost"}, "drop", "closed the connection"),
             ("old", {"host": "DNS:localhost", "days": 1}, None, "expired")]
    for name, certificate, failure, text in cases:
        with serve(name, **certificate) as sink:
            sink.rules = [{"at": "STARTTLS", "do": failure}] if failure else []
            leave_by(world, sink, **{"next-hop-tls": "starttls", "next-hop-ca": ca})
            if name == "old":
                world.gate.clock(2 * 24 * 3600)
            item = hold(world, GOOD)
            world.gate.approve(item)
            answer = wait_attempt(world, item)
            assert text in answer, (name, answer)
            state = world.gate.show(item)["state"]
            assert state == ("sent" if name == "good" else "approved"), (name, state)
            assert len(sink.messages()) == (name == "good"), name
    with other(world) as plain:
        leave_by(world, plain, **{"next-hop-tls": "starttls", "next-hop-ca": ca})
        item = hold(world, GOOD)
        world.gate.approve(item)
        assert "offers no STARTTLS" in wait_attempt(world, item)
        assert plain.messages() == []
    with serve("mended", "DNS:localhost") as sink:
        leave_by(world, sink, **{"next-hop-tls": "starttls", "next-hop-ca": ca})
        world.gate.clock(world.gate.moved + RETRY)
        sink.wait(len(cases))
        until(lambda: world.gate.items() == [])
        assert len(sink.messages()) == len(cases)


def outcomes(world, item):
    return {recipient["address"]: (recipient["outcome"], recipient["answer"])
            for recipient in world.gate.show(item)["recipients"]}


@story("A recipient that is refused ends there; the others get it, and everybody is told (A4)")
def _(world):
    with other(world) as sink:
        world.gate.configure(POLICY, account={"notices-to": "box@example.com"}, settings={
            **SETTINGS, "next-hop": f"inet:localhost:{sink.port}", "next-hop-gated": "no"})
        world.gate.restart_relay()
        sink.rules = [{"at": "RCPT", "match": "bad@", "do": "550 5.1.1 no such user"}]
        item = hold(world, BAD, GOOD)
        world.gate.approve(item)
        assert world.gate.wait_state(item, "sent", "failed") == "sent"
        assert outcomes(world, item) == {BAD: ("refused", "550 5.1.1 no such user"),
                                         GOOD: ("accepted", "250 2.1.5 Ok")}
        text = world.gate.command("show", item).stdout
        assert "refused: 550 5.1.1 no such user" in text and "accepted: 250" in text, text
        until(lambda: any(b"Sent, but not to all" in message.data
                          for message in sink.messages()))
        mail = [message for message in sink.messages() if message.sender == AGENT]
        assert [message.recipients for message in mail] == [[GOOD]]
        [report] = [message.data.decode() for message in sink.messages()
                    if b"Sent, but not to all" in message.data]
        assert f"{GOOD}\r\nAction: relayed\r\nStatus: 2.0.0\r\n" in report
        assert f"{BAD}\r\nAction: failed\r\nStatus: 5.1.1\r\n" in report
        done = world.gate.command("audit", "verify")
        assert done.returncode == 0, done.stdout + done.stderr


@story("Put off for one recipient, it waits for all; refused for all, it has failed")
def _(world):
    with other(world) as sink:
        leave_by(world, sink)
        sink.rules = [{"at": "RCPT", "match": "bad@", "do": "452 4.2.2 mailbox full"}]
        item = hold(world, GOOD, BAD)
        world.gate.approve(item)
        wait_attempt(world, item)
        assert outcomes(world, item) == {GOOD: ("", "250 2.1.5 Ok"),
                                         BAD: ("put off", "452 4.2.2 mailbox full")}
        assert sink.messages() == []
        sink.rules = [{"at": "RCPT", "do": "550 5.7.1 no"}]
        world.gate.clock(31)
        assert world.gate.wait_state(item, "failed") == "failed"
        assert {fate for fate, _ in outcomes(world, item).values()} == {"refused"}
        assert sink.messages() == []


@story("At the gated door, too: the ticket is for exactly those whom it takes (E43)")
def _(world):
    item = hold(world, GOOD, BAD)
    world.host.more += ("smtpd_recipient_restrictions = check_recipient_access "
                        f"inline:{{ {{ {BAD} = 550 5.1.1 no such user }} }}\n")
    world.host.configure()
    world.host.reload()
    until(lambda: not try_recipient(world, BAD))
    world.gate.approve(item)
    assert world.gate.wait_state(item, "sent", "failed", "held") == "sent"
    assert outcomes(world, item)[BAD] == (
        "refused", f"550 5.1.1 <{BAD}>: Recipient address rejected: no such user")
    assert outcomes(world, item)[GOOD][0] == "accepted"
    world.host.wait_empty()
    [message] = world.sink.messages()
    assert message.recipients == [GOOD] and message.field("X-Exeat-Ticket") == []
    done = world.gate.command("audit", "verify")
    assert done.returncode == 0, done.stdout + done.stderr


def try_recipient(world, address):
    with world.client(AGENT) as client:
        return client.mail(AGENT).ok and client.rcpt(address).ok


@story("A notice reaches the others when one of those who should hear it is refused")
def _(world):
    account = {"notify": f"{BAD}, {BOSS}"}
    world.host.more += ("smtpd_recipient_restrictions = check_recipient_access "
                        f"inline:{{ {{ {BAD} = 550 5.1.1 no such user }} }}\n")
    world.host.configure()
    world.host.reload()
    until(lambda: not try_recipient(world, BAD))
    with other(world) as sink:
        for place, settings in ((world.sink, {}),
                                (sink, {"next-hop": f"inet:localhost:{sink.port}",
                                        "next-hop-gated": "no"})):
            sink.rules = [{"at": "RCPT", "match": "bad@", "do": "550 5.1.1 no such user"}]
            world.gate.configure(POLICY, account, {**SETTINGS, **settings})
            world.gate.clock(world.gate.moved + RETRY)
            world.gate.restart_relay()
            hold(world, GOOD)
            [message] = place.wait(1)
            assert message.recipients == [BOSS] and message.field("X-Exeat-Ticket") == []


@story("Many messages share a connection, and one that died is replaced without a pause")
def _(world):
    with other(world) as sink:
        leave_by(world, sink)
        for number in range(1, 9):
            item = hold(world, GOOD)
            world.gate.approve(item)
            assert world.gate.wait_state(item, "sent") == "sent"
            if number == 4:
                assert sink.sessions == 1, sink.sessions
                hang_up(sink)
            if number == 6:  # as a server does whose milter is gone
                sink.rules = [{"at": "MAIL", "do": "451 4.7.1 try again later", "times": 1}]
        assert sink.sessions == 3, sink.sessions
        assert len(sink.messages()) == 8
        assert "not sent" not in world.gate.relay.read_log()


@story("A milter that was started again costs no attempt")
def _(world):
    for number in range(1, 4):
        item = hold(world, GOOD)
        world.gate.approve(item)
        assert world.gate.wait_state(item, "sent", "failed") == "sent"
        world.sink.wait(number)
        world.gate.milter.stop()
        world.gate.milter.start()
    assert len(world.sink.messages()) == 3
    assert "not sent" not in world.gate.relay.read_log()


def second_account(**more):
    """Another account, whose agent is OTHER."""
    keys = {"addresses": "second@example.com", "agent-logins": OTHER, "senders": OTHER,
            "internal-domains": "example.com", "approvers": str(APPROVER), "mode": "hybrid",
            "policy": "policy", **{key.replace("_", "-"): value for key, value in more.items()}}
    return "\n".join(["[account second]", *setting_lines(keys)]) + "\n"


def write_many(world):
    """So much of one account is due at once that one look takes only a part of it, and then a
    little of the other."""
    for login, count in ((AGENT, MANY), (OTHER, 3)):
        with world.client(login) as client:
            for _ in range(count):
                assert client.submit(login, [GOOD], letter(GOOD, sender=login)).code == 250
    world.gate.clock(world.gate.moved + 121)


@story("A next hop that answers nothing keeps nobody else's mail waiting (XF6)")
def _(world):
    with other(world, "silent") as silent, other(world, "quick") as quick:
        silent.rules = [{"at": "MAIL", "do": "hang"}]
        world.gate.configure(POLICY, settings={
            **SETTINGS, "next-hop": f"inet:localhost:{silent.port}", "next-hop-gated": "no"},
            more=second_account(next_hop=f"inet:localhost:{quick.port}", next_hop_gated="no"))
        world.gate.restart_relay()
        write_many(world)
        assert len(quick.wait(3)) == 3
        assert silent.messages() == []
        assert silent.sessions <= 4, silent.sessions
        silent.rules = []
        hang_up(silent)
        for _ in range(12):  # an attempt may end, and be put off, after the clock moved
            world.gate.clock(world.gate.moved + RETRY)
            if len(silent.wait(MANY, 20)) == MANY:
                break
        assert len(silent.messages()) == MANY


@story("A mailbox that answers nothing keeps nobody else's mail waiting (B15)")
def _(world):
    with other(world) as quick, socket.create_server(("127.0.0.1", 0)) as silent:
        world.gate.write("secret", "secret\n", 0o600)
        os.chown(os.path.join(world.gate.etc, "secret"), RELAY, RELAY)
        world.gate.configure(
            POLICY, {"drafts": f"imap://owner@localhost:{silent.getsockname()[1]}",
                     "drafts-password-file": "secret"}, SETTINGS,
            second_account(next_hop=f"inet:localhost:{quick.port}", next_hop_gated="no"))
        world.gate.restart_relay()
        write_many(world)
        assert len(quick.wait(3)) == 3
        assert world.sink.messages() == []


class Moody(Sink):
    """A next hop in a bad mood: whatever can go wrong does, now and then."""

    MOODS = {
        "CONNECT": ["421 4.3.2 busy", "554 5.7.1 nobody home", "drop", "reset", "half", "drip"],
        "EHLO": ["421 4.3.2 busy", "drop", "502 5.5.1 what?"],
        "MAIL": ["451 4.3.0 later", "421 4.3.2 bye", "drop", "reset", "half", "drip"],
        "RCPT": ["450 4.2.0 greylisted", "421 4.3.2 bye", "drop", "half", "drip"],
        "DATA": ["451 4.3.0 later", "421 4.3.2 bye", "drop", "half"],
        "BODY": ["drop", "reset", "421 4.3.2 bye"],
        "DOT": ["554 5.6.0 no", "451 4.3.0 later", "421 4.3.2 bye", "drop", "reset", "half",
                "250 2.0.0 kept", "drip"],
        "QUIT": ["drop", "reset"]}

    def __init__(self, folder, seed):
        self.dice = random.Random(seed)
        self.played = {}
        super().__init__(folder)

    def watches(self, stage):
        return stage in self.MOODS

    def failure(self, stage, subject):
        with self.changed:
            if stage == "RCPT" and "bad" in subject:
                return "550 5.1.1 no such user"
            calm = {"BODY": 0.997, "DOT": 0.95}.get(stage, 0.8)  # BODY is asked for each line
            if stage not in self.MOODS or self.dice.random() < calm:
                return None
            mood = self.dice.choice(self.MOODS[stage])
            self.played[stage, mood] = self.played.get((stage, mood), 0) + 1
            return mood


def write_some(world, letters, numbers):
    """One agent's session."""
    with Client(("127.0.0.1", world.host.submission)) as client:
        client.ehlo()
        assert client.login(AGENT, PASSWORD).ok
        for number in numbers:
            to = [f"p{number}@example.net"]
            if number % 3 == 0:
                to.append(f"q{number}@example.net")
            if number % 10 == 0:
                to.append(f"bad{number}@example.net")
            message = letter(", ".join(to), subject=f"Send {number}",
                             body="Hello.\r\n..\r\n" + "x" * 60 + "\r\n")
            assert client.submit(AGENT, to, message).code == 250
            letters[message_id(message)] = (to, message)


def send_day(world, letters, first, count):
    """What agents write in a day, until nothing of it is under way any more."""
    threads = [threading.Thread(target=write_some, args=(
        world, letters, range(first + stream, first + count, STREAMS)))
        for stream in range(STREAMS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(letters) == first + count
    deadline = time.monotonic() + 60 + count / 2
    while left := waiting(world):
        assert time.monotonic() < deadline, f"{left} still wait"
        world.gate.clock(world.gate.moved + RETRY)
        time.sleep(0.5)
    world.gate.clock(world.gate.moved + DAY)


def compare(world, letters, sink):
    """The complaints: of every message what its item says, and what the server has."""
    arrived = {}
    for message in sink.messages():
        arrived.setdefault(message.field("Message-ID")[0], []).append(message)
    states, complaints = {"twice": 0}, []
    items = {item.message_id: item.state for item in read_items(world.gate)}
    if set(items) != set(letters):
        complaints.append(f"{len(items)} items for {len(letters)} messages")
    for name, (to, message) in letters.items():
        state = items.get(name, "missing")
        copies = arrived.pop(name, [])
        states[state] = states.get(state, 0) + 1
        states["twice"] += len(copies) > 1
        good = [address for address in to if not address.startswith("bad")]
        if state not in ("sent", "failed", "uncertain"):
            complaints.append(f"{name} is {state}")
        # Of what is uncertain nobody knows: the server went after the dot, or just before it.
        if len(copies) not in {"sent": (1,), "uncertain": (0, 1)}.get(state, (0,)):
            complaints.append(f"{name} is {state} and arrived {len(copies)} times")
        for copy in copies:
            if copy.recipients != good or not copy.data.endswith(message):
                complaints.append(f"{name} went to {copy.recipients}, or changed")
            if (copy.answer[0] == "2") != (state == "sent"):
                complaints.append(f"{name} is {state}, and was answered {copy.answer}")
    partly = [(name, to) for name, (to, _) in letters.items()
              if items.get(name) == "sent" and to[-1].startswith("bad")]
    for name, to in partly[:LOOKED_AT]:
        complaints += check_replies(world, name, to)
    complaints += [f"{name}: nobody wrote it" for name in arrived]
    return states, complaints


def check_replies(world, name, to):
    """The complaints about what is told of each recipient of a message that was sent."""
    [item] = [item.id for item in read_items(world.gate) if item.message_id == name]
    for address, (outcome, answer) in outcomes(world, item).items():
        wanted = ("refused", "550") if address.startswith("bad") else ("accepted", "250")
        if (outcome, answer[:3]) != wanted or address not in to:
            yield f"{name}: {address} was {outcome}: {answer}"


@story("A next hop in a bad mood: nothing is lost and nothing leaves twice (XC8, E40)")
def _(world):
    seed = random.randrange(1 << 32)
    tell(f"seed {seed}")
    letters = {}
    begun = time.monotonic()
    with Moody(os.path.join(world.folder, "moody"), seed) as sink:
        leave_by(world, sink)
        for first in range(0, SENDS, A_DAY):
            send_day(world, letters, first, min(A_DAY, SENDS - first))
            if SENDS > A_DAY:
                tell(f"{len(letters)} messages, {time.monotonic() - begun:.0f} s")
        states, complaints = compare(world, letters, sink)
        tell(f"{states}, {sum(sink.played.values())} failures played in {sink.sessions} "
             f"sessions, {time.monotonic() - begun:.0f} s")
        assert not complaints, "\n".join(complaints[:20])
        assert states["sent"] > len(letters) // 2
        assert len(sink.played) > 20, sink.played


def waiting(world):
    """How many items are under way."""
    [account] = world.gate.answer("status")["accounts"]
    return sum(count for state, count in account["counts"].items()
               if state in ("delayed", "approved", "sending", "committing"))


def tell(text):
    print(f"# {text}", flush=True)


def take_sends(arguments):
    """The number after --sends, which is taken out of the arguments."""
    if "--sends" not in arguments:
        return SENDS
    at = arguments.index("--sends")
    sends = int(arguments[at + 1])
    del arguments[at:at + 2]
    return sends


if __name__ == "__main__":
    SENDS = take_sends(sys.argv)
    end_on_signals()
    sys.exit(main(lambda: World(POLICY, settings=SETTINGS)))
