"""What people are shown of the queue, and what they are told when it cannot be done."""

import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import ADMIN, APPROVER, STRANGER as OUTSIDER  # noqa: E402
from letter import letter, message_id  # noqa: E402
from story import main, story, until  # noqa: E402
from world import World, end_on_signals  # noqa: E402

OWNER, ASSISTANT = "owner@example.com", "agent@example.com"
NORA, STRANGER, DANA = "nora@example.org", "stranger@example.net", "dana@example.com"
POLICY = """\
hold  "first contact outside" if external_novel > 0
delay 2h-6h "answer"          if mine
draft "the rest"
"""
DAY = 86400


def submit(world, to, **fields):
    """The id of the new item."""
    before = {item["id"] for item in world.gate.items(everything=True)}
    assert world.submit(ASSISTANT, [to], letter(to, **fields)).code == 250
    [new] = {item["id"] for item in world.gate.items(everything=True)} - before
    return new


def next_hop(world, name, **settings):
    world.gate.configure(POLICY, settings={"next-hop": f"unix:{world.folder}/{name}", **settings})
    world.gate.restart_relay()


def rows(world, *arguments):
    return world.gate.command("list", *arguments).stdout.splitlines()


@story("What waits for a person is listed first and apart, whatever else piles up (D15)")
def _(world):
    first = letter(NORA, sender=OWNER)
    world.submit(OWNER, [NORA], first)
    draft = submit(world, DANA)
    delayed = submit(world, NORA, In_Reply_To=message_id(first))
    held = submit(world, STRANGER)
    assert [item["id"] for item in world.gate.items()] == [held, delayed, draft]
    assert [item["state"] for item in world.gate.items()] == ["held", "delayed", "draft"]
    lines = rows(world)
    assert [line.split(" ")[0] for line in lines[1:]] == [
        "", "Waiting", held, "", "Leaving,", delayed, "", "Parked,", draft], lines
    assert [line.split(" ")[0] for line in rows(world, "--all")[1:]] == [draft, delayed, held]


@story("An approval that lapsed says why, and keeps the next hop's words (E42)")
def _(world):
    next_hop(world, "nowhere")
    held = submit(world, STRANGER)
    world.gate.approve(held)
    until(lambda: world.gate.show(held)["answer"] != "")
    world.gate.clock(16 * 60)
    assert world.gate.wait_state(held, "held") == "held"
    [item] = world.gate.items()
    assert item["why"] == "the approval is not valid any more", item
    assert "nowhere" in item["answer"] or "No such file" in item["answer"], item
    assert "the approval is" in rows(world)[-1]


@story("A message that failed after it was approved is listed for a week")
def _(world):
    world.sink.rules = [{"at": "DOT", "do": "550 5.1.1 no such person"}]
    next_hop(world, "x", **{"next-hop": f"inet:127.0.0.1:{world.sink.port}",
                            "next-hop-gated": "no"})
    held = submit(world, STRANGER)
    world.gate.approve(held)
    assert world.gate.wait_state(held, "failed") == "failed"
    [item] = world.gate.items()
    assert item["id"] == held and "no such person" in item["why"], item
    assert rows(world)[-2:][0].startswith("Did not leave") and held in rows(world)[-1]
    world.gate.clock(8 * DAY)
    assert world.gate.items() == []


@story("Who does the wrong one of two things is told the right one")
def _(world):
    held = submit(world, STRANGER)
    done = world.gate.command("veto", held)
    assert (done.returncode, done.stderr) == (
        65, f"exeat: {held} cannot be vetoed: it is held; you can reject it\n")
    world.gate.approve(held)
    world.gate.wait_state(held, "sent")
    done = world.gate.command("reject", held, "No.")
    assert done.stderr == f"exeat: {held} cannot be rejected: it is sent\n", done


@story("An account that is not there, or not one's own, is no account (XC18)")
def _(world):
    done = world.gate.command("history", NORA, "--account", "nobody", uid=ADMIN)
    assert (done.returncode, done.stdout, done.stderr) == (
        66, "", "exeat: there is no account nobody\n"), done
    assert world.gate.command("history", NORA, "--account", "owner").returncode == 0


@story("An option that is none is told with the command's own name and with --")
def _(world):
    for arguments in (["reject", "k", "-x"], ["list", "--account"], ["--frob"], ["--all=x"]):
        done = world.gate.command(*arguments)
        assert done.returncode == 64
        assert done.stderr.startswith(f"exeat: “{arguments[-1]}” is no option"), done
        assert " stands after --" in done.stderr, done
    done = world.gate.command("list", "k")
    assert "it takes: exeat list [--all]" in done.stderr, done


def edit(world, item, editor):
    """Runs exeat edit; returns the process and what is left of its folder."""
    place = os.path.join(world.folder, "place")
    os.makedirs(place, exist_ok=True)
    os.chmod(place, 0o777)
    world.gate.environment = {"VISUAL": editor, "TMPDIR": place}
    done = world.gate.command("edit", item)
    world.gate.environment = {}
    return done, [os.path.join(place, name, "letter.txt") for name in os.listdir(place)]


@story("An editor that fails or changes nothing leaves no file, nor a copy; what was written stays")
def _(world):
    held = submit(world, STRANGER)
    for editor in ("/nowhere/editor", "false", "sh -c 'exit 3'", "'"):
        done, left = edit(world, held, editor)
        assert done.returncode == 65 and left == [] and "still in" not in done.stderr, done
    done, left = edit(world, held, "sed -i~ s/Hello/Hello/")
    assert done.returncode == 0 and left == [], (done, left)
    done, [path] = edit(world, held, "sh -c 'echo more >>\"$0\"; exit 3'")
    assert done.returncode == 65 and f"your text is still in {path}\n" in done.stderr, done
    with open(path, encoding="ascii") as file:
        assert file.read().endswith("more\n")


@story("What cannot be done has the exit status that the page lists")
def _(world):
    there = os.path.join(world.folder, "there")
    for words, status, told in (
            (("passwd", "owner"), 77, "a password can only be typed at a terminal"),
            (("account", "resume", "nobody"), 66, "there is no account nobody"),
            (("start", "nobody"), 66, "there is no account nobody"),
            (("account", "resume", "owner"), 65, "owner is neither suspended nor revoked"),
            (("audit", "export", there), 73, f"{there}: File exists")):
        with open(there, "w", encoding="ascii"):
            done = world.gate.command(*words, uid=ADMIN)
        assert (done.returncode, done.stderr) == (status, f"exeat: {told}\n"), (words, done)


@story("An empty word is a variable without a value: it means neither everything nor this folder")
def _(world):
    held = submit(world, STRANGER)
    for words in (("stop", "Wrong."), ("stop", "owner", "Wrong.")):
        assert world.gate.command(*words, uid=ADMIN).returncode == 0
    for words in (("start", ""), ("stop", "", "why"), ("import", "--dry-run", ""),
                  ("history", "vouch", NORA, "--account", ""), ("stats", "--account", ""),
                  ("policy", "replay", "--account", ""), ("audit", "--item", ""),
                  ("audit", "--approver="), ("reject", "", "No."), ("veto", ""),
                  ("reject", f"{held},", "No."), ("reject", f"{held},", held, "No."),
                  ("reject", f"{held}, ,{held}", "No.")):
        done = world.gate.command(*words, uid=APPROVER if words[0] == "reject" else ADMIN)
        assert (done.returncode, done.stdout) == (64, ""), (words, done)
    assert len(world.gate.answer("status")["halts"]) == 2
    assert world.gate.show(held)["state"] == "held"
    done = world.gate.command("reject", f"{held} , {held}", "No.")
    assert done.stdout == f"{held}: rejected\n" and done.returncode == 65, done


@story("With --json whatever a command prints is an object, and an item's answer names it")
def _(world):
    ids = [submit(world, STRANGER) for _ in range(2)]
    folder = os.path.join(world.folder, "exports")
    os.mkdir(folder)
    os.chmod(folder, 0o777)
    digest = world.gate.show(ids[0])["digest"]
    export, record = os.path.join(folder, "item"), os.path.join(folder, "record")
    assert world.gate.answer("export", ids[0], export) == {"digest": digest}
    assert world.gate.answer("digest", f"{export}/message.eml") == {"digest": digest}
    assert world.gate.answer("audit", "export", record, uid=ADMIN) == {"file": record}
    done = world.gate.answer("audit", "verify")
    assert done["faults"] == [] and done["head"] > 0 and len(done["seal"]) == 64, done
    key = os.path.join(world.gate.state, "key")
    whole = world.gate.answer("audit", "verify", record, "--key", key, uid=0)
    assert whole == done, (whole, done)
    with open(record, "ab") as file:
        file.write(b"more\n")
    shown = json.loads(world.gate.command("audit", "verify", record, "--key", key, "--json",
                                          uid=0).stdout)
    [fault] = shown["faults"]
    assert fault == {"place": f"line {done['head'] + 1}", "fault": "this is no audit entry"}
    text = world.gate.command("reject", ",".join(ids), "No.", "--json").stdout
    assert [json.loads(part + "}") for part in text.split("}")[:-1]] == [
        {"id": item, "state": "rejected"} for item in ids], text


@story("What seems to choose from the audit record, and would not, is refused")
def _(world):
    held = submit(world, STRANGER)
    there = os.path.join(world.folder, "there")
    key = os.path.join(world.gate.state, "key")
    for words in (("verify", "--key", key), ("verify", "--account", "owner"), ("--key", key),
                  ("export", there, "--item", held), ("export", there, "--key", key),
                  ("verify", there, "--key", key, "--since", "2026-11-29"),
                  ("--tier", "holds")):
        done = world.gate.command("audit", *words, uid=0)
        assert done.returncode == 64 and "expected" in done.stderr, (words, done)
        assert not os.path.exists(there), words
    for name in (world.folder, f"{world.folder}/no\a"):
        done = world.gate.command("audit", "verify", name, "--key", key, uid=0)
        shown = name.replace("\a", "\\u{0007}")
        assert done.returncode == 66 and f"{shown}: " in done.stderr, done
        assert done.stdout == "", done


@story("What cannot be exported whole leaves no file, when it is refused and when a disk is full")
def _(world):
    held = submit(world, STRANGER, body="A line of the text.\r\n" * 100)
    folder = os.path.join(world.folder, "exports")
    os.mkdir(folder)
    os.chmod(folder, 0o777)
    there = os.path.join(folder, "there")
    for words in (("audit", "export", there), ("export", held, there)):
        done = world.gate.command(*words, uid=OUTSIDER)
        assert done.returncode == 77 and os.listdir(folder) == [], done
        done = subprocess.run(
            ["sh", "-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh",
             os.path.join(world.gate.bin, "exeat"),
             "-c", world.gate.config, *words], capture_output=True, text=True, check=False,
            user=APPROVER, group=APPROVER, extra_groups=[])
        assert done.returncode != 0 and "File too large" in done.stderr, done
        assert os.listdir(folder) == [], words
        assert world.gate.command(*words).returncode == 0 and os.listdir(folder) == ["there"]
        if os.path.isdir(there):
            shutil.rmtree(there)
        else:
            os.unlink(there)


@story("Where no terminal shows it, no line of a list is cut unless COLUMNS says so")
def _(world):
    subject = "a long word " * 12 + "end"
    held, other, third = (submit(world, STRANGER, subject=subject) for _ in range(3))
    world.gate.approve(other)
    world.gate.command("reject", held, "No.")
    world.gate.wait_state(other, "sent")
    world.gate.command("reject", third, "No.")
    submit(world, STRANGER, subject=subject)
    submit(world, DANA)

    def shown():
        return [world.gate.command(*words).stdout for words in
                (("list",), ("audit",), ("status",))]
    listed, audit, status = shown()
    assert subject in listed and "draft 1, held 1, rejected 2, sent 1" in status, (listed, status)
    assert "confirmation: " in audit and "result: " in audit and "…" not in audit, audit
    world.gate.environment = {"COLUMNS": "80"}
    assert all("…" in text and max(map(len, text.splitlines())) <= 80 for text in shown()[:2])
    world.gate.environment = {}


@story("The audit record is shown in words, and as it is with --json")
def _(world):
    world.gate.command("history", "vouch", NORA, "--account", "owner", uid=ADMIN)
    world.gate.show(submit(world, STRANGER, Agent_Supersedes="k, effect superseded"))
    world.gate.approve(submit(world, STRANGER))
    text = world.gate.command("audit").stdout
    assert f"address {NORA}" in text and "<'" not in text and "uint" not in text, text
    assert "effect 'none: no item of this login'" in text, text
    assert "named 'k, effect superseded'" in text, text
    assert re.search(r"shown .* characters \d+\n", text), text
    assert re.search(r" approval .*expires \d+-\d\d-\d\d \d\d:\d\d:\d\d[,\n]", text), text
    [entry] = world.gate.answer("audit", "--kind", "vouched")["entries"]
    assert entry["details"].startswith("{'") and entry["content"]["address"] == NORA, entry


@story("A single word that is an account stops everything, and it is said how to stop that alone")
def _(world):
    done = world.gate.command("stop", "owner", uid=ADMIN)
    assert done.stdout == ("Everything is stopped.\nNot only owner: everything. For owner alone: "
                           "exeat stop owner WHY, then exeat start\n"), done
    assert world.gate.answer("status")["halts"][0]["why"] == "owner"
    for words in (("stop", "owner", "why"), ("start",)):
        assert world.gate.command(*words, uid=ADMIN).returncode == 0
    [halt] = world.gate.answer("status")["halts"]
    assert (halt["account"], halt["why"]) == ("owner", "why"), halt
    assert world.gate.command("stop", "owners", uid=ADMIN).stdout == "Everything is stopped.\n"


@story("Who is forgotten is called so, beside the days on which they were written to")
def _(world):
    world.submit(OWNER, [NORA], letter(NORA, sender=OWNER))
    until(lambda: "known" in world.gate.command("history", NORA).stdout)
    world.gate.command("history", "forget", NORA, "--account", "owner", uid=ADMIN)
    shown = world.gate.command("history", NORA).stdout
    assert f"owner, forgotten: {NORA}" in shown and "last written to on" in shown, shown
    assert "never" in world.gate.command("history", DANA).stdout
    shown = world.gate.command("show", submit(world, NORA)).stdout
    assert "0 never written to, 1 forgotten" in shown, shown
    assert re.search(f"  forgotten, external +{NORA}", shown), shown


@story("A reason that ends its own sentence gets no second dot")
def _(world):
    for why, shown in (("Wrong people.", ": Wrong people. Nothing leaves.\n"),
                       ("Why not?", ": Why not? Nothing leaves.\n"),
                       ("It runs wild", ": It runs wild. Nothing leaves.\n")):
        assert world.gate.command("stop", "owner", why, uid=ADMIN).returncode == 0
        said = world.gate.command("status").stdout
        assert shown in said, said
        assert world.gate.command("start", "owner", uid=ADMIN).returncode == 0


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World(POLICY)))
