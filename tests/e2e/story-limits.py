"""What an agent may make us keep has limits, and a client that comes again and again makes one
item."""

import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import ADMIN, AGENT as USER, STRANGER  # noqa: E402
from letter import letter  # noqa: E402
from story import main, story, until  # noqa: E402
from world import World, end_on_signals  # noqa: E402

AGENT, OTHER, HUMAN = "agent@example.com", "other@example.com", "owner@example.com"
HELD, RELEASED, REFUSED = "mallory@example.net", "nora@example.com", "never@example.org"
POLICY = """\
refuse "never there" if subject contains "refuse"
hold "outside" if external > 0
release "inside"
"""
HOUR = 3600


def submit(world, to=HELD, login=AGENT, **fields):
    return world.submit(login, [to], letter(to, sender=login, **fields))


def limit(world, **settings):
    """Other limits, hyphens for underscores; and a second agent."""
    world.gate.configure(POLICY, account={"agent-logins": f"{AGENT}, {OTHER}",
                                          "senders": f"{AGENT}, {OTHER}, {HUMAN}"},
                         settings={key.replace("_", "-"): value
                                   for key, value in settings.items()})
    world.gate.restart_relay()


@story("A hundred identical submissions, many at once, are one item (XF22)")
def _(world):
    message = letter(HELD)
    codes = []

    def again():
        for _ in range(10):
            codes.append(world.submit(AGENT, [HELD], message).code)
    threads = [threading.Thread(target=again) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [250] * 100, codes
    assert len(world.gate.items(everything=True)) == 1


@story("A mail server that tries again writes another trace each time: one item (XF22)")
def _(world):
    message = letter(HELD, body="Hello.\r\nReceived: is only text here.\r\n")
    codes, both = [], threading.Barrier(2)

    def traced(number, of=message):
        return (f"Received: from mua.example.com by relay{number}.example.com\r\n"
                f"\twith ESMTPSA id {number:08X};\r\n Mon, 30 Nov 2026 10:00:{number:02} +0000\r\n"
                ).encode() + of

    def again(first):
        both.wait()
        for number in range(first, first + 10):
            codes.append(world.submit(AGENT, [HELD], traced(number)).code)
    threads = [threading.Thread(target=again, args=(first,)) for first in (0, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [250] * 20, codes
    [item] = world.gate.items(everything=True)
    refused = letter(REFUSED, subject="refuse me")
    replies = {world.submit(AGENT, [REFUSED], traced(number, refused)).text for number in range(3)}
    assert len(replies) == 1, replies
    assert len(world.gate.items(everything=True)) == 2
    # What else differs is another message, and takes the place of the first.
    assert world.submit(AGENT, [HELD], traced(1, message + b"More.\r\n")).code == 250
    assert world.gate.show(item["id"])["state"] == "superseded"


@story("Who is refused and insists makes one item, and what is different makes another (XF22)")
def _(world):
    message = letter(REFUSED, subject="refuse me")
    replies = [world.submit(AGENT, [REFUSED], message) for _ in range(10)]
    assert {reply.code for reply in replies} == {550}, replies
    assert len({reply.text for reply in replies}) == 1, replies
    assert world.submit(AGENT, [REFUSED], message + b"More.\r\n").code == 550
    items = world.gate.items(everything=True)
    assert [item["state"] for item in items] == ["refused"] * 2, items
    world.gate.configure('hold "outside" if external > 0\n')
    world.gate.restart_relay()
    assert world.submit(AGENT, [REFUSED], message).code == 250


@story("A login brings so many in an hour and in a day; then a 451, for it alone (XF22, XC14)")
def _(world):
    limit(world, hour_limit="3", day_limit="5")
    kept = letter(HELD)
    world.gate.clock(HOUR - world.gate.seen() % HOUR + 60)  # at the beginning of an hour
    assert world.submit(AGENT, [HELD], kept).code == 250
    assert submit(world, RELEASED).code == 250
    assert submit(world, RELEASED, subject="refuse me").code == 550
    for to in (HELD, RELEASED):
        reply = submit(world, to)
        assert reply.code == 451 and "limit" not in reply.text, reply
    assert world.submit(AGENT, [HELD], kept).code == 250  # it is kept already
    assert submit(world, RELEASED, login=OTHER).code == 250
    assert world.submit(HUMAN, [HELD], letter(HELD, sender=HUMAN)).code == 250
    assert "the hour-limit is reached" in world.gate.relay.read_log()
    world.gate.clock(world.gate.moved + HOUR)
    assert [submit(world).code for _ in range(3)] == [250, 250, 451]
    assert "the day-limit is reached" in world.gate.relay.read_log()
    world.gate.clock(world.gate.moved + 24 * HOUR)
    assert submit(world).code == 250
    until(lambda: len(world.sink.messages()) == 3)


@story("So many wait, and the next one is answered 451 until somebody decides (XC14)")
def _(world):
    limit(world, waiting_limit="3")
    assert [submit(world).code for _ in range(4)] == [250, 250, 250, 451]
    assert submit(world, RELEASED).code == 250  # it does not wait
    assert submit(world, REFUSED, subject="refuse me").code == 550
    assert "the waiting-limit is reached" in world.gate.relay.read_log()
    assert world.gate.command("reject", world.gate.items()[0]["id"], "no").returncode == 0
    assert [submit(world).code for _ in range(2)] == [250, 451]


@story("So many bytes are kept, and the next message is answered 451; finished ones go early (XF4)")
def _(world):
    limit(world, store_limit="200K")
    large = {"body": "y" * 70 + "\r\n"}
    large["body"] *= 30000 // len(large["body"])
    kept = [letter(HELD, **large) for _ in range(4)]
    assert [world.submit(AGENT, [HELD], one).code for one in kept] == [250, 250, 250, 451]
    assert "the store-limit is reached" in world.gate.relay.read_log()
    assert world.submit(AGENT, [HELD], kept[0]).code == 250  # it is kept already
    assert submit(world, RELEASED, **large).code == 250  # there is no room for its text
    assert submit(world, REFUSED, subject="refuse me", **large).code == 550
    first = world.gate.items()[0]["id"]
    assert world.gate.command("reject", first, "no").returncode == 0
    world.gate.clock(world.gate.moved + 120)  # until the relay looks what may go
    until(lambda: world.submit(AGENT, [HELD], kept[3]).code == 250)
    assert len(world.gate.items()) == 3
    assert world.gate.show(first)["state"] == "rejected"


@story("Records are never let go, so a login makes so many bytes of them in a day (XF22, XF7)")
def _(world):
    limit(world, record_limit="20K")
    large = {"Agent_Rationale": "z" * 4000}
    assert [submit(world, RELEASED, **large).code for _ in range(5)] == [250] * 4 + [451]
    assert submit(world, **large).code == 451
    assert submit(world, REFUSED, subject="refuse me", **large).code == 451
    assert "the record-limit is reached" in world.gate.relay.read_log()
    assert submit(world, RELEASED, login=OTHER, **large).code == 250
    world.gate.clock(world.gate.moved + 24 * HOUR)
    assert submit(world, RELEASED, **large).code == 250


@story("What a released message says is kept as long as others, and counts; without room it goes on")
def _(world):
    limit(world, store_limit="50K")
    large = {"body": ("y" * 70 + "\r\n") * 280}
    for _ in range(4):
        assert submit(world, RELEASED, **large).code == 250
    texts = [len(world.gate.show(item["id"])["text"]) > 19000
             for item in world.gate.items(everything=True)]
    assert sorted(texts) == [False, False, True, True], texts
    assert len(world.sink.wait(4)) == 4
    world.gate.clock(world.gate.moved + 31 * 24 * HOUR)
    until(lambda: [world.gate.show(item["id"])["text"] for item in
                   world.gate.items(everything=True)] == [""] * 4)
    assert submit(world, RELEASED, **large).code == 250
    assert world.gate.show(world.gate.items(everything=True)[-1]["id"])["text"] != ""


@story("So many refusals of a user are recorded in an hour, the last says so; others are as before")
def _(world):
    limit(world, refusal_limit="3")
    world.gate.clock(HOUR - world.gate.seen() % HOUR + 60)

    def refuse(uid, times):
        for _ in range(times):
            assert world.gate.command("veto", "abcdefghjkmn", uid=uid).returncode == 77

    def recorded():
        return [entry["content"]["why"] for entry in
                world.gate.answer("audit", "--kind", "denied", uid=ADMIN)["entries"]]
    refuse(USER, 10)
    assert len(recorded()) == 3, recorded()
    assert ["not recorded" in why for why in recorded()] == [False, False, True], recorded()
    refuse(STRANGER, 1)
    assert len(recorded()) == 4
    world.gate.clock(world.gate.moved + HOUR)
    refuse(USER, 1)
    assert len(recorded()) == 5


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World(POLICY)))
