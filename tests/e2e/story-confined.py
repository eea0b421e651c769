"""What a daemon has given up by the time it meets a stranger's bytes."""

import ctypes
import errno
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from letter import letter  # noqa: E402
from story import main, story  # noqa: E402
from world import World, end_on_signals  # noqa: E402

ASSISTANT, STRANGER = "agent@example.com", "stranger@example.net"
POLICY = 'hold "outside" if external > 0\ndraft "inside"\n'
LANDLOCK_CREATE_RULESET = 444


def has_landlock():
    """The kernel's version of Landlock is at least 1."""
    call = ctypes.CDLL(None, use_errno=True).syscall
    return call(LANDLOCK_CREATE_RULESET, None, 0, 1) >= 1


def submit(world, **fields):
    return world.submit(ASSISTANT, [STRANGER], letter(STRANGER, **fields))


def status(daemon):
    """What the kernel says of a daemon."""
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as file:
        return {name: value.strip() for name, _, value in (line.partition(":") for line in file)}


@story("Neither daemon has a capability, and neither can win any")
def _(world):
    assert submit(world).code == 250
    for daemon in (world.gate.milter, world.gate.relay):
        found = status(daemon)
        assert all(int(found[name], 16) == 0 for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"))
        assert found["NoNewPrivs"] == "1", found
    assert status(world.gate.milter)["Seccomp"] == "2"  # a filter


@story("Who gets into the milter starts no program, reads no other file and reaches no other host")
def _(world):
    booty = os.path.join(world.folder, "booty")
    loot = os.path.join(world.folder, "spool", "loot")
    with open(booty, "w", encoding="ascii") as file:
        file.write("everybody may read this\n")
    world.gate.milter.stop()
    before = world.gate.milter.environment
    world.gate.load(world.gate.milter, "burglar.so", EXEAT_TEST_BURGLAR=loot,
                    EXEAT_TEST_BOOTY=booty)
    world.gate.milter.start()
    assert submit(world).code == 250
    world.gate.milter.environment = before
    with open(loot, encoding="ascii") as file:
        tries = [[int(word) for word in line.split()] for line in file]
    assert tries[0] == [0, 0, 0], tries  # at the start it could
    opened = errno.EACCES if has_landlock() else 0
    assert tries[1:] == [[errno.EPERM, opened, errno.EPERM]], tries


@story("Behind its walls the milter reads its file again, spools, and knows all character sets")
def _(world):
    assert submit(world, body="x" * 70 + "\r\n").code == 250
    world.gate.configure(POLICY, {"agent-logins": "agent@example.com, second@example.com"})
    big = ("y" * 70 + "\r\n") * 10_000
    assert submit(world, body=big).code == 250
    assert "again" in world.gate.milter.read_log()
    body = "\udce3\udcc8\udca5"  # EBCDIC's "THV", by a converter that is loaded when needed
    assert submit(world, body=body + "\r\n", Content_Type="text/plain; charset=IBM037",
                  Content_Transfer_Encoding="8bit").code == 250
    texts = [world.gate.show(item["id"])["text"] for item in world.gate.items()]
    assert any("THv" in text for text in texts), [text[:20] for text in texts]
    assert any(len(text) > 700_000 for text in texts), [len(text) for text in texts]
    assert world.sink.messages() == []


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World(POLICY)))
