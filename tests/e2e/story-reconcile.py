"""What became of a message whose answer was lost: looked for, told with its proof, never tried again."""

import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tools"))

from gate import RELAY  # noqa: E402
from imaphost import LOGIN  # noqa: E402
from letter import letter, message_id  # noqa: E402
from postbox import Postbox  # noqa: E402
from proxy import Proxy  # noqa: E402
from story import main, story, until  # noqa: E402
from world import end_on_signals  # noqa: E402

NORA = "nora@example.org"
POLICY = 'hold "everything"\n'
COMMAND = """\
#!/bin/sh
printf '%s\\n' "$@" >>{folder}/asked
exit $(cat {folder}/answer)
"""


def make_uncertain(world, settings=None, account=None):
    """Approves a message whose door takes it and answers nobody. Returns item and message."""
    world.proxy = Proxy(os.path.join(world.folder, "proxy"), world.host.door)
    world.proxy.at_dot = lambda: "mute"
    world.gate.configure(POLICY, account if account is not None else world.keys,
                         {"next-hop": f"unix:{world.proxy.path}", **(settings or {})})
    world.gate.restart_relay()
    message = letter(NORA)
    assert world.submit("agent@example.com", [NORA], message).code == 250
    item = world.gate.items()[-1]["id"]
    return item, message


def approve(world, item):
    world.gate.approve(item)
    assert world.gate.wait_state(item, "uncertain", "sent") == "uncertain"
    assert len(world.sink.wait(1)) == 1


def looks(world, item):
    return world.gate.answer("audit", "--item", item, "--kind", "looked")["entries"]


def put(world, name, text):
    """Puts a file of the relay's into the world's folder, in one step."""
    path = os.path.join(world.folder, name)
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(text)
    os.chown(path + ".new", RELAY, RELAY)
    os.rename(path + ".new", path)


def asked(world):
    """What the command was given, a word a line, three a time."""
    with open(os.path.join(world.folder, "asked"), encoding="ascii") as file:
        return file.read().split("\n")[:-1]


def expect_uncertain(world, item):
    assert world.gate.show(item)["state"] == "uncertain"
    world.host.wait_empty()
    assert len(world.sink.wait(1)) == 1 and len(world.proxy.sessions) == 1


@story("The message among what was sent is proof: the item is sent, and says where it was found (E40)")
def _(world):
    item, message = make_uncertain(world)
    approve(world, item)
    until(lambda: looks(world, item))
    expect_uncertain(world, item)
    world.imap.fill("Sent", [message])
    assert world.gate.wait_state(item, "sent") == "sent"
    last = world.gate.show(item)["moves"][-1]
    assert last["who"] == "relay", last
    assert last["why"].startswith(f"found in Sent of {LOGIN} at localhost: UID 1, "), last
    world.host.wait_empty()
    assert len(world.sink.wait(1)) == 1 and len(world.proxy.sessions) == 1
    world.wait_no_draft(item)


@story("Another message that names the id, and one from before, prove nothing (E40)")
def _(world):
    item, message = make_uncertain(world)
    world.wait_draft(item)
    named = letter(NORA, Message_ID=f"<another@example.com> ({message_id(message)})")
    world.imap.fill("Sent", [message, named])
    time.sleep(3)  # longer than clocks may differ
    approve(world, item)
    world.imap.fill("Sent", [named])
    until(lambda: len(looks(world, item)) == 2)
    expect_uncertain(world, item)
    assert "'found': <false>" in looks(world, item)[-1]["details"]


@story("A command is asked, with Message-ID and queue id and without a shell, and its 0 is proof")
def _(world):
    world.gate.write("look", COMMAND.format(folder=world.folder), 0o755)
    put(world, "asked", "")
    put(world, "answer", "1")
    command = os.path.join(world.gate.etc, "look") + " $HOME"
    item, message = make_uncertain(world, {"reconcile-command": command}, account={})
    approve(world, item)
    until(lambda: looks(world, item))
    expect_uncertain(world, item)
    queue_id = world.gate.show(item)["moves"][-2]["why"].split()[-1]
    assert asked(world)[:3] == ["$HOME", message_id(message), queue_id]
    put(world, "answer", "3")
    until(lambda: "exited with code 3" in world.gate.relay.read_log())
    expect_uncertain(world, item)
    # What failed is no look, however often it was asked before.
    assert len(looks(world, item)) < len(asked(world)) // 3
    put(world, "answer", "0")
    assert world.gate.wait_state(item, "sent") == "sent"
    last = world.gate.show(item)["moves"][-1]
    assert last["why"].endswith(f"look found it, queue id {queue_id}"), last
    world.host.wait_empty()
    assert len(world.sink.wait(1)) == 1 and len(world.proxy.sessions) == 1


@story("Postfix's own log is proof, by queue id, and by Message-ID where there is none")
def _(world):
    script = os.path.join(world.folder, "reconcile")
    shutil.copy(os.path.join(HERE, "..", "..", "contrib", "postfix", "reconcile"), script)
    item, message = make_uncertain(
        world, {"reconcile-command": f"{script} {world.host.log}"}, account={})
    os.chmod(world.host.log, 0o644)
    approve(world, item)
    assert world.gate.wait_state(item, "sent") == "sent"
    for ident, queue_id, status in ((message_id(message), "", 0), (message_id(message)[1:], "", 1),
                                    ("<nobody@example.com>", "", 1), ("<a@b>", "4XYZ", 1),
                                    ("<a@b>", ".*", 2)):
        done = subprocess.run([script, world.host.log, ident, queue_id], check=False)
        assert done.returncode == status, (ident, queue_id, done)
    done = subprocess.run([script, "/nowhere", message_id(message), ""], check=False)
    assert done.returncode == 2, done


@story("What is not found stays uncertain until a person says so, and its draft is gone")
def _(world):
    item, _ = make_uncertain(world)
    world.wait_draft(item)
    approve(world, item)
    world.wait_no_draft(item)
    until(lambda: looks(world, item))
    expect_uncertain(world, item)
    assert world.gate.answer("resolve", item, "failed")["state"] == "failed"
    assert world.gate.show(item)["moves"][-1]["why"] == "a person looked"


class Place(Postbox):
    def __init__(self):
        self.proxy = None
        super().__init__(POLICY)

    def stop(self):
        proxy, self.proxy = self.proxy, None
        if proxy is not None:
            proxy.__exit__()
        super().stop()


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(Place))
