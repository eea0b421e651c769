"""What is counted and locked over many messages: conversations, people, days."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import ADMIN, AGENT, STRANGER as NOBODY  # noqa: E402
from letter import letter, message_id  # noqa: E402
from story import main, story  # noqa: E402
from world import World, end_on_signals  # noqa: E402

OWNER, ASSISTANT = "owner@example.com", "agent@example.com"
OTHER, ROBOT = "other@example.com", "robot@example.com"
NORA, DANA = "nora@example.org", "dana@example.com"
HOURS, DAYS = 3600, 24 * 3600
SHIPPED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "contrib",
                       "policies")
OPEN = 'release "open"\n'


def standard():
    with open(os.path.join(SHIPPED, "standard"), encoding="utf-8") as file:
        return file.read()


def write(world, to, login=OWNER, **fields):
    message = letter(to, sender=login, **fields)
    assert world.submit(login, to.split(", "), message).code == 250
    return message_id(message)


def send(world, to, login=ASSISTANT, **fields):
    """The agent sends; returns what became of it."""
    known = {item["id"] for item in world.gate.items(everything=True)}
    assert world.submit(login, [to], letter(to, sender=login, **fields)).code == 250
    [new] = [item for item in world.gate.items(everything=True) if item["id"] not in known]
    return new


def answer(world, parent, to=NORA, **fields):
    return send(world, to, In_Reply_To=parent, References=parent, **fields)


def its_id(world, item):
    return world.gate.show(item["id"])["message_id"]


@story("A conversation that is handed over stays with the human, whatever the rules say (B5)")
def _(world):
    world.gate.configure(OPEN)
    world.gate.restart_relay()
    first, other = write(world, NORA), write(world, NORA)
    assert answer(world, first)["state"] == "released"
    item = answer(world, first, Agent_Action=" Hand-Over")
    assert (item["state"], item["reason"]) == ("draft", "handed back to the human"), item
    assert world.gate.show(item["id"])["facts"]["locked"] is True
    world.gate.restart_relay()
    later = answer(world, first, subject="Something else")
    assert later["state"] == "draft", later
    assert answer(world, its_id(world, later))["state"] == "draft"
    assert answer(world, other)["state"] == "released"
    assert send(world, DANA)["state"] == "released"
    assert world.gate.command("approve", item["id"],
                              world.gate.show(item["id"])["digest"]).returncode == 0
    assert world.gate.wait_state(item["id"], "sent") == "sent"
    locked = world.gate.answer("audit", "--kind", "locked")["entries"]
    assert [entry["item"] for entry in locked] == [item["id"]], locked
    assert len(world.sink.wait(6)) == 6


@story("A rule about handed back conversations holds them, and what is of no known one too (B5)")
def _(world):
    world.gate.configure(standard())
    world.gate.restart_relay()
    write(world, DANA)
    item = answer(world, "<never@seen>", to=DANA, Agent_Action="hand-over")
    assert item["state"] == "held", item
    assert answer(world, its_id(world, item), to=DANA)["state"] == "held"
    assert answer(world, "<never@seen>", to=DANA)["state"] == "held"
    assert send(world, DANA)["state"] == "released"


@story("A login that may only answer starts nothing and brings nobody in (D26)")
def _(world):
    world.gate.configure(OPEN, account={
        "agent-logins": f"{ASSISTANT}, {ROBOT}", "senders": f"{OWNER}, {ASSISTANT}, {ROBOT}",
        "reply-logins": "Robot@Example.com"})
    world.gate.restart_relay()
    first, other = write(world, NORA), write(world, DANA)
    refusal = "this login may only answer"
    for to, named in (([NORA], None), ([NORA], "<never@seen>"), ([NORA, DANA], first),
                      ([NORA], other)):
        fields = {"In_Reply_To": named} if named else {}
        reply = world.submit(ROBOT, to, letter(", ".join(to), sender=ROBOT, **fields))
        assert reply.code == 550 and refusal in reply.text, (to, named, reply)
    refused = world.gate.items(everything=True)
    assert {item["state"] for item in refused} == {"refused"} and len(refused) == 4, refused
    assert answer(world, first, login=ROBOT)["state"] == "released"
    assert send(world, DANA)["state"] == "released"
    assert len(world.sink.wait(4)) == 4


@story("How long ago the human wrote decides, to the day (A29, D3)")
def _(world):
    world.gate.configure('hold    "long not written to" if contact_days > 30\n'
                         'release "fresh"               if mine and thread_days <= 7\n'
                         'draft   "the rest"\n')
    world.gate.restart_relay()
    first = write(world, NORA)
    for seconds, reason in ((0, "fresh"), (8 * DAYS - HOURS, "fresh"), (8 * DAYS, "the rest")):
        world.gate.clock(seconds)
        item = answer(world, first)
        assert item["reason"] == reason, (seconds, item)
        told = world.gate.show(item["id"])["facts"]
        assert told["thread_days"] == told["contact_days"] == seconds // DAYS, told
        # What the agent sent makes nothing younger, and new conversations have no age.
        assert send(world, NORA)["reason"] == "the rest"
    write(world, NORA)
    told = world.gate.show(answer(world, first)["id"])["facts"]
    assert (told["thread_days"], told["contact_days"]) == (8, 0), told
    write(world, NORA, In_Reply_To=first, References=first)
    world.gate.clock(9 * DAYS)
    item = answer(world, first)
    assert world.gate.show(item["id"])["facts"]["thread_days"] == 1, item
    world.gate.clock(40 * DAYS)
    assert answer(world, first)["reason"] == "long not written to"
    told = world.gate.show(send(world, "eve@example.net")["id"])["facts"]
    assert (told["thread_days"], told["contact_days"]) == (9999, 9999), told


@story("What waits in a conversation stays when an approver locks it, and goes on after (B5)")
def _(world):
    world.gate.configure('delay 2h-6h "later"\n')
    world.gate.restart_relay()
    first = write(world, NORA)
    delayed = answer(world, first)
    for uid, status in ((AGENT, 77), (NOBODY, 77), (ADMIN, 77)):
        assert world.gate.command("lock", delayed["id"], uid=uid).returncode == status
    assert world.gate.command("lock", "nonesuch0000").returncode == 66
    done = world.gate.command("lock", delayed["id"])
    assert done.returncode == 0 and "is locked" in done.stdout, done
    assert world.gate.command("lock", delayed["id"]).returncode == 65
    world.gate.clock(7 * HOURS)
    assert world.gate.wait_state(delayed["id"], "draft") == "draft"
    assert answer(world, first)["state"] == "draft"
    done = world.gate.command("unlock", delayed["id"])
    assert done.returncode == 0 and "not locked any more" in done.stdout, done
    assert world.gate.command("unlock", delayed["id"]).returncode == 65
    assert answer(world, first)["state"] == "delayed"
    kinds = [entry["kind"] for entry in world.gate.answer("audit", "--item",
                                                          delayed["id"])["entries"]]
    assert "locked" in kinds and "unlocked" in kinds, kinds
    assert len(world.sink.wait(1)) == 1


@story("Two answers go in a conversation, whatever its subject, and a restart forgets none "
       "(B11, XB16)")
def _(world):
    world.gate.configure(standard())
    world.gate.restart_relay()
    first = write(world, DANA)
    assert answer(world, first, to=DANA)["state"] == "released"
    world.gate.restart_relay()
    assert answer(world, first, to=DANA, subject="Something new")["state"] == "released"
    third = answer(world, first, to=DANA, subject="Now really")
    assert third["state"] == "draft" and "limit of 2" in third["reason"], third
    assert len(world.sink.wait(3)) == 3


@story("A conversation that the agent began counts from its first message (B11, B12)")
def _(world):
    world.gate.configure(standard())
    world.gate.restart_relay()
    write(world, DANA)
    begun = send(world, DANA)
    assert begun["state"] == "released", begun
    assert world.receive(DANA, [OWNER], letter(
        OWNER, sender=DANA, In_Reply_To=its_id(world, begun), Message_ID="<d1@example.com>")).ok
    assert answer(world, "<d1@example.com>", to=DANA)["state"] == "released"
    third = answer(world, "<d1@example.com>", to=DANA)
    assert third["state"] == "draft" and "limit of 2" in third["reason"], third
    facts = world.gate.show(third["id"])["facts"]
    assert (facts["auto_sends"], facts["mine"], facts["in_thread"]) == (2, False, False), facts
    assert send(world, DANA)["state"] == "released"
    assert len(world.sink.wait(5)) == 5


@story("A slow drip to one person ends, in however many conversations (XB15, XB16)")
def _(world):
    world.gate.configure(standard())
    world.gate.restart_relay()
    states = []
    for turn in range(13):
        states.append(answer(world, write(world, DANA), to=DANA)["state"])
        world.gate.clock((turn + 1) * 8 * HOURS)
    assert states == ["released"] * 5 + ["draft"] * 8, states
    dropped = send(world, DANA)
    assert dropped["state"] == "draft" and "per recipient" in dropped["reason"], dropped
    world.gate.clock(12 * DAYS)
    assert send(world, DANA)["state"] == "released"


@story("Forty single mails are an audience of forty (XB14)")
def _(world):
    world.gate.configure(standard())
    world.gate.restart_relay()
    people = [f"colleague{number}@example.com" for number in range(18)]
    write(world, ", ".join(people))
    states = [send(world, to)["state"] for to in people]
    assert states == ["released"] * 15 + ["held"] * 3, states


@story("Two agents that answer each other stop by themselves (B12)")
def _(world):
    more = ("[account other]\naddresses = other@example.com\nhuman-logins = other@example.com\n"
            "agent-logins = robot@example.com\nsenders = robot@example.com\n"
            "internal-domains = example.com\napprovers = 61003\nmode = hybrid\n"
            "policy = policy\n")
    world.gate.configure(standard(), more=more)
    world.gate.restart_relay()
    last = write(world, OTHER)
    write(world, ASSISTANT, login=OTHER, In_Reply_To=last, References=last)
    write(world, ROBOT, In_Reply_To=last, References=last)
    states, chain = [], last
    for _ in range(5):
        for login, to in ((ROBOT, ASSISTANT), (ASSISTANT, ROBOT)):
            item = send(world, to, login=login, In_Reply_To=last, References=chain)
            last = its_id(world, item)
            chain = f"{chain} {last}"
            states.append(item["state"])
    assert states == ["released"] * 4 + ["draft"] * 6, states
    assert len(world.sink.wait(7)) == 7


if __name__ == "__main__":
    end_on_signals()
    logins = {"owner@example.com": ["owner@example.com"],
              "agent@example.com": ["agent@example.com"],
              "other@example.com": ["other@example.com"],
              "robot@example.com": ["robot@example.com"]}
    sys.exit(main(lambda: World('hold "everything"\n', host={"logins": logins})))
