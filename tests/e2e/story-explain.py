"""What people are told of rules: why a message was judged so, what another policy would have
done, how the weeks went, and whether a new policy was taken."""

import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import ADMIN, AGENT, APPROVER, STRANGER as NOBODY  # noqa: E402
from letter import letter, message_id  # noqa: E402
from story import main, story, until  # noqa: E402
from world import World, end_on_signals  # noqa: E402

OWNER, ASSISTANT = "owner@example.com", "agent@example.com"
NORA, DANA, EVE = "nora@example.org", "dana@example.com", "eve@example.net"
MINUTES, DAYS = 60, 24 * 3600
RULES = """\
hold    "first contact" if novel > 0
release "colleagues"    if external = 0 and recipients <= 5
draft   "the rest"
hold    "money"         if text contains "iban"
limit 9 automatic per day else hold
"""


def write(world, to):
    message = letter(to, sender=OWNER)
    assert world.submit(OWNER, [to], message).code == 250
    return message_id(message)


def send(world, to, **fields):
    """The agent sends; returns what became of it."""
    known = {item["id"] for item in world.gate.items(everything=True)}
    assert world.submit(ASSISTANT, [to], letter(to, **fields)).code == 250
    [new] = [item for item in world.gate.items(everything=True) if item["id"] not in known]
    return new["id"]


def begin(world, policy=RULES, **more):
    world.gate.configure(policy, **more)
    world.gate.restart_relay()


@story("Every line is told with what the facts say, and what would change it (A21, A22, A26, D14)")
def _(world):
    begin(world)
    write(world, NORA)
    item = send(world, NORA)
    shown = world.gate.show(item)
    assert world.gate.answer("status", shown["message_id"])["id"] == item
    assert shown["recipients"][0]["known"], shown
    told = world.gate.answer("explain", item)
    assert (told["tier"], told["reason"], told["line"]) == ("draft", "the rest", 3), told
    first, second, third, claim, limit = told["lines"]
    assert first["truth"] == "no" and not first["decides"], first
    assert first["conditions"] == [{"text": "novel > 0", "value": "novel = 0", "truth": "no"}]
    assert [c["truth"] for c in second["conditions"]] == ["no", "yes"], second
    assert third["decides"] and third["truth"] == "yes", third
    assert (claim["kind"], claim["truth"]) == ("claim", "no"), claim
    assert (limit["kind"], limit["truth"], limit["tier"]) == ("limit", "no", "hold"), limit
    laxer, stricter = told["nearest"]
    assert (laxer["fact"], laxer["from"], laxer["to"], laxer["tier"]) == \
        ("external", "1", "0", "release"), laxer
    assert (stricter["fact"], stricter["to"], stricter["tier"]) == ("novel", "1", "hold")
    text = world.gate.command("explain", item).stdout
    assert "> policy:3: draft “the rest”: decides" in text, text
    assert "no      novel > 0: novel = 0" in text, text
    assert "With external = 0 instead of 1: release, colleagues" in text, text


@story("One fact is flipped at a time, or several, and nothing happens to the item (D23)")
def _(world):
    begin(world)
    write(world, NORA)
    item = send(world, NORA)
    for wishes, tier in ((["external=0"], "release"), (["novel=1"], "hold"),
                         (["external=0", "recipients=6"], "draft"), (["external=?"], "draft"),
                         (["external=0", "sent_day=9"], "hold"), (["locked=yes"], "draft")):
        words = [word for wish in wishes for word in ("--what-if", wish)]
        told = world.gate.answer("explain", item, *words)
        assert told["tier"] == tier, (wishes, told)
    for wish in ("external", "nonesuch=1", "external=many", "external=0 novel=1", "=", "mine=2"):
        assert world.gate.command("explain", item, "--what-if", wish).returncode == 64, wish
    assert world.gate.show(item)["state"] == "draft"


@story("Thresholds are told to approvers alone, and of their own items (XC18, XF21)")
def _(world):
    begin(world)
    item = send(world, EVE)
    for uid, status in ((AGENT, 77), (NOBODY, 77), (ADMIN, 77), (APPROVER, 0)):
        assert world.gate.command("explain", item, uid=uid).returncode == status, uid
    assert world.gate.command("explain", "nonesuch0000").returncode == 66
    assert world.submit(ASSISTANT, [DANA], letter(DANA), sender="").code == 550
    [refused] = [i for i in world.gate.items(everything=True) if i["state"] == "refused"]
    assert world.gate.command("explain", refused["id"]).returncode == 65


@story("A policy that changed since is said to be another one (A22, XE3)")
def _(world):
    begin(world)
    item = send(world, EVE)
    old = world.gate.show(item)["policy"]
    assert world.gate.answer("explain", item)["policy"] == old
    begin(world, 'draft "all"\n')
    told = world.gate.answer("explain", item)
    judged = told["judged"]
    assert os.path.basename(judged.pop("file")) == "policy", told
    assert judged == {"policy": old, "tier": "hold", "line": 1, "reason": "first contact"}, told
    assert told["policy"] != old and told["tier"] == "draft", told
    text = world.gate.command("explain", item).stdout
    assert "judged under another policy: hold, first contact" in text, text


@story("A reload answers what is wrong, and the old policy stays until it is right (XF10, A22)")
def _(world):
    begin(world)
    for uid in (APPROVER, AGENT, NOBODY):
        assert world.gate.command("reload", uid=uid).returncode == 77, uid
    world.gate.configure("hold nothing\n")
    done = world.gate.command("reload", uid=ADMIN)
    assert done.returncode == 78 and "policy:1:6: found" in done.stderr, done
    status = world.gate.command("status").stdout
    assert "could not be read again at" in status and "policy:1:6" in status, status
    item = send(world, EVE)
    assert world.gate.show(item)["reason"] == "first contact"
    world.gate.configure('release "r" if novel > 0\nhold "h"\n')
    assert world.gate.command("reload", uid=ADMIN).returncode == 78
    world.gate.configure(RULES, settings={"nonesuch": "1"})
    assert world.gate.command("reload", uid=ADMIN).returncode == 78
    world.gate.relay.signal(signal.SIGHUP)
    until(lambda: "stays in force" in world.gate.relay.read_log())
    assert world.gate.answer("status")["reload_error"] != ""
    world.gate.configure('draft "all"\n')
    done = world.gate.command("reload", uid=ADMIN)
    assert done.returncode == 0 and done.stdout != "", done
    assert "could not" not in world.gate.command("status").stdout
    assert world.gate.show(send(world, EVE))["reason"] == "all"
    configured = world.gate.answer("audit", "--kind", "configured", uid=ADMIN)["entries"]
    assert len({entry["content"]["policy"] for entry in configured}) >= 2, configured


@story("From draft by review to hybrid, each step of an account is in the record (E51)")
def _(world):
    for mode, state in (("draft", "draft"), ("review", "held"), ("hybrid", "released")):
        begin(world, 'release "all"\n', account={"mode": mode})
        assert world.gate.show(send(world, EVE))["state"] == state, mode
    steps = world.gate.answer("audit", "--kind", "configured", uid=ADMIN)["entries"]
    modes = [entry["content"]["mode"] for entry in steps]
    assert modes[-3:] == ["draft", "review", "hybrid"], modes


@story("Past items are judged again by another policy, and the table says what would change (B8)")
def _(world):
    begin(world)
    world.gate.clock(-20 * DAYS)
    write(world, NORA)
    write(world, DANA)
    held = send(world, EVE)
    world.gate.clock(0)
    for _ in range(3):
        send(world, NORA)
    send(world, DANA)
    assert world.submit(ASSISTANT, [DANA], letter(DANA), sender="").code == 550
    told = world.gate.answer("policy", "replay")
    assert (told["items"], told["changed"], told["unjudged"]) == (5, 0, 1), told
    world.gate.write("friends", "dana@example.com\n")
    world.gate.write("other", 'hold "outside" if external > 0\ninclude more\n')
    world.gate.write("more", 'draft "friends" if all recipients in friends\nhold "others"\n')
    other = os.path.join(world.gate.etc, "other")
    told = world.gate.answer("policy", "replay", "--policy", other)
    assert told["changed"] == 4, told
    assert told["tiers"]["draft"]["hold"] == 3 and told["tiers"]["hold"]["hold"] == 1, told
    assert told["tiers"]["release"]["draft"] == 1, told
    assert [(w["held_then"], w["held_now"]) for w in told["weeks"] if w["held_now"]] == \
        [(1, 1), (0, 3)], told
    assert {e["reason"] for e in told["examples"]} == {"outside", "friends"}, told
    text = world.gate.command("policy", "replay", "--policy", other).stdout
    assert "5 items since" in text and "4 would be" in text, text
    assert world.gate.answer("policy", "replay", "--since", "7d")["items"] == 4
    assert held not in str(told["examples"])


@story("A replay is for those who may know the account, and changes nothing (XC18)")
def _(world):
    begin(world)
    send(world, EVE)
    for uid, status in ((AGENT, 77), (NOBODY, 77), (ADMIN, 0), (APPROVER, 0)):
        assert world.gate.command("policy", "replay", uid=uid).returncode == status, uid
    for words, status in ((["--account", "other"], 66), (["--since", "0d"], 64),
                          (["--since", "soon"], 64), (["--policy", "/nonesuch"], 65)):
        assert world.gate.command("policy", "replay", *words).returncode == status, words
    world.gate.write("bad", "hold nothing\n")
    bad = os.path.join(world.gate.etc, "bad")
    done = world.gate.command("policy", "replay", "--policy", bad)
    assert done.returncode == 65 and "bad:1:6: found" in done.stderr, done
    world.gate.write("big", 'hold "h"\n' + "# much to say\n" * 5000)
    big = os.path.join(world.gate.etc, "big")
    assert world.gate.command("policy", "replay", "--policy", big).returncode == 65
    assert world.gate.command("policy", "check").returncode == 64
    assert world.gate.command("policy", "check", bad, "--since", "7d").returncode == 64
    assert [item["state"] for item in world.gate.items()] == ["held"]


@story("Too much to decide, decided too fast, and new people show in the numbers (A33, A35, D16)")
def _(world):
    begin(world)
    world.gate.clock(-10 * DAYS)
    write(world, NORA)
    send(world, NORA)
    world.gate.clock(0)
    send(world, NORA)
    held = [send(world, EVE, body="A long word. " * 200 + "\r\n") for _ in range(3)]
    world.gate.approve(held[0])
    world.gate.show(held[1])
    world.gate.clock(2 * MINUTES)
    world.gate.approve(held[1])
    assert world.gate.command("reject", held[2], "No.").returncode == 0
    for item in held[:2]:
        assert world.gate.wait_state(item, "sent") == "sent"
    told = world.gate.answer("stats", "--weeks", "2")
    [account] = told["accounts"]
    assert (account["name"], account["held"], told["hold_target"]) == ("owner", 3, 2), told
    before, now = account["weeks"]
    assert before["tiers"]["draft"] == 1 and before["recipients"] == 1, before
    assert (now["tiers"]["draft"], now["tiers"]["hold"]) == (1, 3), now
    assert (now["recipients"], now["novel"]) == (4, 3), now
    assert (account["approvals"], account["hurried"]) == (2, 1), account
    [approver] = account["approvers"]
    assert approver["decisions"] == [0, 3] and str(APPROVER) in approver["who"], approver
    assert 0 <= account["waits"]["hold"] <= 5 * MINUTES, account
    assert [line["line"] for line in account["silent"]] == [2, 4, 5], account
    text = world.gate.command("stats").stdout
    for part in ("3 ████", "over the target of 2", "1 of 2 (50%)", "policy:2: release"):
        assert part in text, (part, text)
    status = world.gate.command("status").stdout
    assert "owner: 3 were held in the last week, the target is 2" in status, status
    world.gate.restart_relay()
    until(lambda: "account owner: 3 messages were held" in world.gate.relay.read_log())


@story("Numbers are for those who may know the account, and a target may be set (A33)")
def _(world):
    begin(world, settings={"hold-target": "5"})
    for _ in range(3):
        send(world, EVE)
    for uid, status in ((AGENT, 77), (NOBODY, 77), (ADMIN, 0), (APPROVER, 0)):
        assert world.gate.command("stats", uid=uid).returncode == status, uid
    for words, status in ((["--account", "other"], 66), (["--weeks", "0"], 64),
                          (["--weeks", "521"], 64), (["--weeks", "two"], 64)):
        assert world.gate.command("stats", *words).returncode == status, words
    assert "within the target of 5" in world.gate.command("stats").stdout
    assert "the target is" not in world.gate.command("status").stdout
    begin(world, 'draft "another policy"\n')
    assert "No line of the policy" in world.gate.command("stats").stdout


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World('hold "everything"\n')))
