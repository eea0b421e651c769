"""A message that takes the place of an earlier one, and what it must not win by that."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import AGENT, APPROVER  # noqa: E402
from letter import letter, message_id  # noqa: E402
from story import main, story, until  # noqa: E402
from world import World, end_on_signals  # noqa: E402

OWNER, ASSISTANT, OTHER = "owner@example.com", "agent@example.com", "other@example.com"
NORA, STRANGER, DANA = "nora@example.org", "stranger@example.net", "dana@example.com"
POLICY = """\
refuse  "never this"          if subject contains "never"
draft   "park it"             if subject contains "park"
hold    "first contact"       if novel > 0
release "colleagues"          if external = 0
delay 2h-6h "people I know"
"""
SECOND = """\
[account second]
addresses = tom@example.com
agent-logins = other@example.com
senders = other@example.com
internal-domains = example.com
approvers = 61041
mode = hybrid
policy = policy
"""
SECOND_APPROVER = 61041
HOURS = 3600


def begin(world):
    """The human writes to two people, who are known from then on. One is inside, so the mail
    server makes two messages of it."""
    assert world.submit(OWNER, [NORA, DANA], letter(NORA, sender=OWNER)).code == 250
    assert len(world.sink.wait(2)) == 2


def submit(world, to, subject="A word", message=None, old=None, code=250, login=ASSISTANT):
    """An agent submits a message that may name an old one. Returns its item and the reply."""
    uid = SECOND_APPROVER if world.second and login == OTHER else APPROVER

    def items():
        return [item["id"] for item in world.gate.answer("list", "--all", uid=uid)["items"]]
    known = set(items())
    message = message or letter(to, subject, sender=login, Agent_Supersedes=old)
    reply = world.submit(login, [to], message)
    assert reply.code == code, reply
    fresh = [item for item in items() if item not in known]
    return (fresh or [None])[0], str(reply)


def effect(world, item):
    """What the audit record says of the name in a message's claim."""
    [entry] = world.gate.answer("audit", "--item", item, "--kind", "supersedes")["entries"]
    return entry["content"]["effect"]


def states(world, *items):
    return [world.gate.show(item)["state"] for item in items]


def outcome(world, item):
    return world.gate.command("status", item, uid=AGENT).stdout.replace(item, "ID")


@story("What an agent names and what still waits is superseded, with its approval (E2, B21)")
def _(world):
    begin(world)
    old = [submit(world, STRANGER)[0], submit(world, NORA, "park")[0], submit(world, NORA)[0],
           submit(world, STRANGER)[0]]
    world.gate.configure(POLICY, settings={"next-hop": "unix:/nowhere/at/all"})
    world.gate.reload()
    world.gate.approve(old[3])
    until(lambda: world.gate.show(old[3])["answer"] != "")
    assert states(world, *old) == ["held", "draft", "delayed", "approved"]
    new = [submit(world, STRANGER, "Again", old=item)[0] for item in old]
    assert states(world, *old, *new) == ["superseded"] * 4 + ["held"] * 4
    assert {effect(world, item) for item in new} == {"superseded"}
    for before, after in zip(old, new):
        assert world.gate.show(before)["why"] == f"superseded by {after}"
        digest = world.gate.show(before)["digest"]
        assert world.gate.command("approve", before, digest).returncode == 65
    assert {outcome(world, item) for item in old} == {"ID: superseded\n"}
    world.gate.configure(POLICY)
    world.gate.clock(7 * HOURS)
    world.gate.restart_relay()
    world.host.wait_empty()
    assert len(world.sink.messages()) == 2
    world.gate.approve(new[0])
    assert world.gate.wait_state(new[0], "sent") == "sent"


@story("A Message-ID in angle brackets names the item as well as its id")
def _(world):
    begin(world)
    message = letter(NORA, "note")
    old, _ = submit(world, NORA, message=message)
    submit(world, STRANGER, old=message_id(message))
    assert states(world, old) == ["superseded"]
    item, _ = submit(world, STRANGER, old=message_id(message))
    assert effect(world, item) == "none: it is superseded"
    item, _ = submit(world, STRANGER, old="<nothing@example.com>")
    assert effect(world, item) == "none: no item of this login"


@story("Withdrawn and superseded are two words, each the same for every tier (XF21)")
def _(world):
    begin(world)
    for word, end in (("superseded", lambda item: submit(world, STRANGER, "New", old=item)),
                      ("withdrawn", lambda item: world.gate.command("withdraw", item, uid=AGENT))):
        old = [submit(world, STRANGER)[0], submit(world, NORA, "park")[0], submit(world, NORA)[0]]
        assert states(world, *old) == ["held", "draft", "delayed"]
        for item in old:
            end(item)
        assert {outcome(world, item) for item in old} == {f"ID: {word}\n"}


@story("Naming what is decided, another's, or nothing has no effect, and is not told (XC18)")
def _(world):
    begin(world)
    world.gate.configure(POLICY, more=SECOND)
    world.gate.restart_relay()
    world.second = True
    foreign, _ = submit(world, STRANGER, login=OTHER)
    rejected, vetoed, sent = [submit(world, to)[0] for to in (STRANGER, NORA, DANA)]
    world.gate.command("reject", rejected, "Not this year.")
    world.gate.command("veto", vetoed)
    words = "<b>; DROP TABLE item' \u202e"
    told = []
    for name, expected in ((foreign, "none: no item of this login"),
                           ("0" * len(foreign), "none: no item of this login"),
                           (words, "none: no item of this login"),
                           (rejected, "none: it is rejected"), (vetoed, "none: it is vetoed"),
                           (sent, "none: it is released")):
        item, reply = submit(world, STRANGER, old=name)
        assert effect(world, item) == expected
        told.append((world.gate.show(item)["state"], reply.rpartition(" ")[0],
                     outcome(world, item)))
    assert len(set(told)) == 1, told
    assert states(world, rejected, vetoed, sent) == ["rejected", "vetoed", "released"]
    shown = world.gate.answer("show", foreign, uid=SECOND_APPROVER)
    assert shown["state"] == "held", shown


@story("Who reviews it sees what became of the one it names (B21)")
def _(world):
    begin(world)
    rejected, _ = submit(world, STRANGER)
    world.gate.command("reject", rejected, "Not this year.")
    better, _ = submit(world, STRANGER, old=rejected)
    shown = world.gate.show(better)
    assert [shown[f"instead_{word}"] for word in ("of", "state", "why")] == [
        rejected, "rejected", "Not this year."], shown
    assert f"In place of:   {rejected}, rejected: Not this year." in world.gate.command(
        "show", better).stdout
    plain, _ = submit(world, STRANGER, old="0" * len(rejected))
    assert "instead_of" not in world.gate.show(plain)


@story("Another agent's item of the same account stays, and so does what a person wrote")
def _(world):
    begin(world)
    world.gate.configure(POLICY, {"agent-logins": f"{ASSISTANT}, {OTHER}",
                                  "senders": f"{ASSISTANT}, {OTHER}"})
    world.gate.restart_relay()
    old, _ = submit(world, STRANGER)
    item, _ = submit(world, STRANGER, login=OTHER, old=old)
    assert effect(world, item) == "none: no item of this login"
    world.gate.environment = {"VISUAL": "sed -i s/Hello/Greetings/", "TMPDIR": world.folder}
    os.chmod(world.folder, 0o777)
    assert world.gate.command("edit", old).returncode == 0
    world.gate.environment = {}
    [edited] = [line["id"] for line in world.gate.items() if line["id"] != item]
    item, _ = submit(world, STRANGER, old=edited)
    assert effect(world, item) == "none: no item of this login"
    assert states(world, old, edited) == ["superseded", "held"]
    same = letter(STRANGER, Message_ID=world.gate.show(edited)["message_id"])
    submit(world, STRANGER, message=same)
    for words in (("withdraw", edited), ("cancel", edited), ("status", edited)):
        done = world.gate.command(*words, uid=AGENT)
        assert done.returncode == 66 and "there is no item" in done.stderr, done
    assert states(world, edited) == ["held"]


@story("What takes the place of a delayed message leaves no earlier, however often (B13)")
def _(world):
    begin(world)
    old, _ = submit(world, NORA)
    due = world.gate.show(old)["due"]
    for number in range(12):
        old, _ = submit(world, NORA, f"Number {number}", old=old)
        assert world.gate.show(old)["due"] >= due
        due = world.gate.show(old)["due"]
    same = letter(NORA)
    first, _ = submit(world, NORA, message=same)
    second, _ = submit(world, NORA, message=same + b"More.\r\n")
    assert world.gate.show(second)["due"] >= world.gate.show(first)["due"]
    assert states(world, first) == ["superseded"]
    # A colleague's would be released at once: it waits as long as what it replaces.
    item, _ = submit(world, DANA, "At once", old=old)
    shown = world.gate.show(item)
    assert (shown["state"], shown["due"]) == ("delayed", due), shown
    assert shown["reason"] == "colleagues; not before what it supersedes was due"
    assert len(world.sink.messages()) == 2
    world.gate.clock(due - shown["created"] + 1)
    assert world.gate.wait_state(item, "sent") == "sent"


@story("Naming an item makes no verdict laxer: it still counts while the new one is judged (A5)")
def _(world):
    world.gate.configure(POLICY.replace("release", """\
hold    "a third today"       if sent_day > 1
draft   "an earlier waits"    if pending
release"""))
    world.gate.restart_relay()
    first = letter(NORA, sender=OWNER, Message_ID="<root@example.com>")
    assert world.submit(OWNER, [NORA, DANA], first).code == 250
    thread = {"In_Reply_To": "<root@example.com>"}
    waits, _ = submit(world, NORA, message=letter(NORA, **thread))
    assert states(world, waits) == ["delayed"]
    plain, _ = submit(world, NORA, message=letter(NORA, **thread))
    named, _ = submit(world, NORA, message=letter(NORA, Agent_Supersedes=waits, **thread))
    assert states(world, waits, plain, named) == ["superseded", "draft", "draft"]
    counted = [submit(world, NORA)[0], submit(world, NORA)[0]]
    plain, _ = submit(world, NORA)
    named, _ = submit(world, NORA, old=counted[0])
    assert states(world, plain, named) == ["held", "held"]


@story("What is refused supersedes nothing, and what is never answered is one item (XF22)")
def _(world):
    begin(world)
    old, _ = submit(world, STRANGER)
    submit(world, STRANGER, "never this", old=old, code=550)
    assert states(world, old) == ["held"]
    message = letter(STRANGER, "Again", Agent_Supersedes=old)
    new, _ = submit(world, STRANGER, message=message)
    again, _ = submit(world, STRANGER, message=message)
    assert again is None and states(world, old, new) == ["superseded", "held"]
    assert "agent-supersedes" not in str(world.sink.messages()[0].head).lower()


def make():
    world = World(POLICY)
    world.second = False
    return world


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(make))
