"""What is tried on decisions by mail, on times, names, places and loops; nothing comes of it (A39)."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import AGENT, RELAY  # noqa: E402
from letter import letter  # noqa: E402
from mailhost import DOOR  # noqa: E402
from milterclient import MilterClient  # noqa: E402
from smtpclient import Client  # noqa: E402
from story import main, story  # noqa: E402
from world import World, end_on_signals  # noqa: E402

OWNER, ASSISTANT, STOP = "owner@example.com", "agent@example.com", "stop@example.com"
NORA, MALLORY = "nora@example.org", "mallory@example.net"
POLICY = """\
hold  "first contact outside" if external_novel > 0
delay 2h-6h "the rest"
"""
HOURS = 3600
ACCOUNT = {"stop-address": STOP}


def hold(world, to=MALLORY, **fields):
    """A message that waits for a person. Returns the item's id."""
    before = {item["id"] for item in world.gate.items()}
    assert world.submit(ASSISTANT, [to], letter(to, **fields)).code == 250
    [item] = {item["id"] for item in world.gate.items()} - before
    return item


def went_to(world, address):
    world.host.wait_empty()
    return [message for message in world.sink.messages() if address in message.recipients]


@story("Mail decides nothing, whoever sends it and whatever it says (XC16)")
def _(world):
    item = hold(world)
    digest = world.gate.show(item)["digest"]
    words = (f"approve {item} {digest}", f"Re: [exeat] {item}: approved", "yes", "start")
    for subject in words:
        body = f"approve {item} {digest}\r\nexeat approve {item} {digest}\r\n"
        for sender, login in ((OWNER, OWNER), (ASSISTANT, ASSISTANT), (NORA, None),
                              (OWNER, ASSISTANT), ("exeat@example.com", None)):
            for to in (OWNER, ASSISTANT, STOP, "exeat@example.com", "postmaster@example.com"):
                message = letter(to, subject, body=body, sender=sender,
                                 In_Reply_To=f"<{item}@example.com>")
                if login is None:
                    world.receive(sender, [to], message)
                else:
                    world.submit(login, [to], message, sender=sender)
    assert world.gate.show(item)["state"] == "held"
    world.gate.clock(HOURS)
    assert went_to(world, MALLORY) == []


@story("A due time is drawn once: no restart moves it, and no jump of the clock passes a stop (XC20)")
def _(world):
    message = letter(NORA, sender=OWNER)
    assert world.submit(OWNER, [NORA], message).code == 250
    for _ in range(12):
        assert world.submit(ASSISTANT, [NORA], letter(NORA)).code == 250
    due = {item["id"]: world.gate.show(item["id"])["due"] for item in world.gate.items()}
    assert len(due) == 12 and len(set(due.values())) > 1, due
    for number in range(20):
        if number % 2:
            world.gate.relay.kill()
            world.gate.relay.start()
        else:
            world.gate.restart_relay()
        assert {item["id"]: world.gate.show(item["id"])["due"]
                for item in world.gate.items()} == due
    world.gate.clock(HOURS)
    assert world.gate.command("stop", "look first", uid=0).returncode == 0
    world.gate.clock(7 * HOURS)
    world.gate.restart_relay()
    assert len(went_to(world, NORA)) == 1  # the human's own
    assert not {world.gate.show(item)["state"] for item in due} & {"sent", "sending"}


@story("A name that looks like an address is not taken for one; the mailbox is shown (XD8)")
def _(world):
    item = hold(world, subject="Lunch", To=f'"{NORA}" <{MALLORY}>',
                From=f'"{NORA} (approved)" <{ASSISTANT}>')
    text = world.gate.command("show", item).stdout
    assert [line for line in text.splitlines() if MALLORY in line and "never" in line], text
    assert [line for line in text.splitlines() if NORA in line] == [
        f'From field:    "{NORA} (approved)" <{ASSISTANT}>'], text
    assert f"From:          {ASSISTANT}\n" in text, text
    assert text.index(MALLORY) < text.index("Lunch"), text
    listed = world.gate.command("list").stdout
    assert MALLORY in listed and NORA not in listed, listed


@story("What a message says is never run, neither by the editor's call nor by a pager (XD18)")
def _(world):
    place = os.path.join(world.folder, "place")
    os.mkdir(place)
    os.chmod(place, 0o777)
    mark, pager, seen = (os.path.join(place, name) for name in ("ran", "pager", "seen"))
    tricks = f"`touch {mark}` $(touch {mark}); touch {mark} | touch {mark} & '\" !touch {mark}"
    item = hold(world, subject=tricks, body=tricks + f"\r\nvim: set shell=touch\\ {mark}:\r\n")
    editor = os.path.join(place, "editor")
    for path, text in ((editor, f'#!/bin/sh\nprintf "%s\\n" "$#" "$@" >{seen}\n'
                        'sed -i "s/^To: .*/To: nora@example.org/" "$1"\n'),
                       (pager, f"#!/bin/sh\ntouch {mark}\n")):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(path, 0o755)
    world.gate.environment = {"EDITOR": editor, "PAGER": pager, "TMPDIR": place,
                              "LESSOPEN": f"|touch {mark}"}
    for words in (("show", item), ("list",), ("audit", "--item", item), ("edit", item)):
        done = world.gate.command(*words)
        assert done.returncode == 0, done
    world.gate.environment = {}
    assert world.gate.show(item)["state"] == "superseded"
    with open(seen, encoding="utf-8") as file:
        count, path = file.read().split("\n", 1)
    assert count == "1" and path.startswith(place + "/") and "touch" not in path, path
    assert not os.path.exists(mark)
    assert sorted(os.listdir(place)) == ["editor", "pager", "seen"]


@story("The gate asks for the macros it needs, whatever the server is set to send (XF12)")
def _(world):
    with open(os.path.join(world.host.config, "main.cf"), "a", encoding="ascii") as file:
        file.write("milter_mail_macros =\nmilter_connect_macros =\nmilter_rcpt_macros =\n"
                   "milter_end_of_data_macros =\nmilter_helo_macros =\n")
    world.host.reload()
    item = hold(world)
    assert "login agent@example.com" in world.gate.relay.read_log()
    assert world.submit(OWNER, [NORA], letter(NORA, sender=OWNER)).code == 250
    assert world.gate.show(item)["state"] == "held"
    assert went_to(world, MALLORY) == [] and len(went_to(world, NORA)) == 1


@story("A recipient of Sendmail's own, named without a domain, is in no other; else it is refused")
def _(world):
    def submit(*macros):
        with MilterClient(world.gate.milter_socket) as mta:
            mta.begin(ASSISTANT, ASSISTANT, [OWNER], macros)
            for name, value in (("From", ASSISTANT), ("To", OWNER), ("Subject", macros[1])):
                mta.header(name, " " + value)
            mta.body(b"x\r\n")
            return mta.end()

    local = "{rcpt_mailer}", "local"
    assert submit("{rcpt_addr}", "owner", *local)[0] == "keep"
    assert submit("{rcpt_addr}", "owner+x", "{rcpt_host}", "+ x", *local)[0] == "keep"
    assert submit("{rcpt_addr}", OWNER, "{rcpt_host}", "example.com")[0] == "keep"
    for macros in (("{rcpt_addr}", "owner", "{rcpt_host}", "far", "{rcpt_mailer}", "uucp"),
                   ("{rcpt_addr}", NORA, "{rcpt_host}", "example.org"),
                   ("{rcpt_addr}", NORA, *local)):
        verdict, text = submit(*macros)
        assert verdict == "refuse" and "another domain" in text, (macros, verdict, text)


@story("Nobody else can put a link or a file where the daemons keep theirs (XF14)")
def _(world):
    item = hold(world)
    folders = [world.gate.state, os.path.join(world.folder, "spool"), world.gate.etc,
               os.path.dirname(world.gate.socket), os.path.dirname(world.gate.milter_socket)]
    for folder in folders:
        for name in ("exeat.db", "key.new", "handovers.log.new", "audit.head", "x"):
            done = subprocess.run(["ln", "-sf", "/etc/passwd", os.path.join(folder, name)],
                                  user=AGENT, group=AGENT, extra_groups=[], check=False,
                                  stderr=subprocess.PIPE, text=True)
            assert done.returncode != 0 and "ermission denied" in done.stderr, (folder, done)
    digest = world.gate.show(item)["digest"]
    for odd in ("../" + item, "/etc/passwd", item + "/..", "..", item + "\n", "%2e%2e/" + item,
                "a" * 5000, "'; DROP TABLE item; --", item.upper() + "x", " " + item):
        assert world.gate.command("show", odd).returncode in (64, 66), odd
        assert world.gate.command("approve", odd, digest).returncode in (64, 66), odd
    head = os.path.join(world.gate.state, "audit.head")
    world.gate.relay.stop()
    os.rename(head, head + ".real")
    os.symlink(head + ".real", head)
    done = subprocess.run(world.gate.relay.arguments, user=RELAY, group=RELAY,
                          extra_groups=[], check=False,
                          stdin=subprocess.DEVNULL, capture_output=True)
    assert done.returncode != 0, done
    os.rename(head + ".real", head)
    world.gate.relay.start()
    assert world.gate.show(item)["state"] == "held"


@story("What has left and comes round again is no passed mail: it waits, or is no item (XF18)")
def _(world):
    item = hold(world)
    digest = world.gate.show(item)["digest"]
    assert world.gate.command("approve", item, digest).returncode == 0
    [left] = world.sink.wait(1)
    world.host.wait_empty()
    assert world.gate.wait_state(item, "sent") == "sent"
    # By the listener for everybody, as a forwarding host would; by the door; by the agent.
    world.receive(ASSISTANT, [MALLORY], left.data)
    with Client(os.path.join(world.host.queue, "public", DOOR)) as client:
        client.ehlo()
        assert client.submit(ASSISTANT, [MALLORY], left.data).code // 100 == 5
    assert world.submit(ASSISTANT, [MALLORY], left.data).code == 250
    waiting = world.gate.items()
    assert [line["state"] for line in waiting] == ["held"] and waiting[0]["id"] != item, waiting
    assert len(went_to(world, MALLORY)) == 1


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World(POLICY, ACCOUNT)))
