"""Size as a weapon (XF7): whatever is sent, both daemons live, use no more memory than they
should, and nothing leaves that was not read. The policy here would let every message leave to a
colleague, if it were one that can be read."""

import base64
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from letter import letter  # noqa: E402
from milterclient import MilterClient  # noqa: E402
from story import main, story  # noqa: E402
from world import World, end_on_signals  # noqa: E402

OWNER, ASSISTANT, DANA = "owner@example.com", "agent@example.com", "dana@example.com"
POLICY = """\
hold    "unreadable" if opaque
release "colleagues" if external = 0 and novel = 0 and attachments = 0 and not opaque
"""
HEAD = [("From", ASSISTANT), ("To", DANA), ("Subject", "x"),
        ("Date", "Sun, 29 Nov 2026 12:00:00 +0000"), ("MIME-Version", "1.0")]
MEMORY = 128  # MiB for each daemon; the largest message has 50
MEGABYTE = 1024 * 1024
LARGE = "header_size_limit = 40000000\n"


def start_counting(daemon):
    """From now on the kernel notes the most memory that the daemon has."""
    with open(f"/proc/{daemon.process.pid}/clear_refs", "w", encoding="ascii") as file:
        file.write("5\n")


def peak(daemon):
    """In MiB. A daemon that has died has none."""
    assert daemon.process.poll() is None, f"{daemon.name} has ended:\n{daemon.read_log()}"
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as file:
        lines = dict(line.split(":", 1) for line in file)
    return int(lines["VmHWM"].split()[0]) // 1024


def attack(world, fields=(), chunks=b"x\r\n", recipients=(DANA,), login=ASSISTANT):
    """Sends one message straight to the milter; what became of it and why."""
    daemons = (world.gate.milter, world.gate.relay)
    for daemon in daemons:
        start_counting(daemon)
    with MilterClient(world.gate.milter_socket) as mta:
        mta.begin(login, login or "x@example.org", recipients)
        for name, value in [*HEAD, *fields]:
            mta.header(name, " " + value)
        mta.body(chunks)
        verdict, text = mta.end()
    used = [peak(daemon) for daemon in daemons]
    print(f"# {verdict} {text}, {used[0]} and {used[1]} MiB")
    assert max(used) < MEMORY, used
    return verdict, text


def held(world, *arguments, **more):
    """The reasons why a message was held, which is what must become of it."""
    before = {item["id"] for item in world.gate.items()}
    verdict, text = attack(world, *arguments, **more)
    assert verdict == "keep", (verdict, text)
    new = [item for item in world.gate.items() if item["id"] not in before]
    assert len(new) == 1 and new[0]["state"] == "held", new
    return world.gate.show(new[0]["id"])["opaque"]


def refused(world, *arguments, **more):
    """The text of the refusal that a message must come to."""
    verdict, text = attack(world, *arguments, **more)
    assert verdict == "refuse", (verdict, text)
    return text


def make_known(world):
    assert world.submit(OWNER, [DANA], letter(DANA, sender=OWNER)).code == 250
    world.sink.wait(1)


def nothing_left(world):
    """Everything still works, and the sink has the human's message alone."""
    assert attack(world) == ("pass", "")
    assert len(world.sink.messages()) == 1


@story("What is too much to be read is held, and the reason is told")
def _(world):
    make_known(world)
    assert attack(world) == ("pass", "")
    mixed = ("Content-Type", "multipart/mixed; boundary=b")
    assert "too many parts" in held(world, [mixed], (b"--b\r\n\r\nx\r\n" * 10_000
                                                     for _ in range(20)))
    deep = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (i, i)
                    for i in range(10_000))
    assert "too many parts" in held(world, [("Content-Type", "multipart/mixed; boundary=b")],
                                    b"--b\r\n" + deep)
    assert "parts nested too deeply" in held(
        world, [("Content-Type", "message/rfc822")],
        b"Content-Type: message/rfc822\r\n\r\n" * 10_000)
    assert "a header too long to be read" in held(
        world, [("Content-Type", "message/rfc822")], b"X-A: b\r\n" * 300_000 + b"\r\nx\r\n")
    assert "a header too long to be read" in held(world, [("X-A", "y")] * 100_000)
    assert "a header too long to be read" in held(world, [("Cc", "g:" * 30_000)])
    assert "text longer than 2 MiB" in held(
        world, [], (b"%076d\r\n" % i * 1000 for i in range(650)))  # nearly 50 MB
    eight = bytes(range(128, 256)) * 512
    assert any("character set" in why for why in
               held(world, [("X-A", eight[:50_000].decode("utf-8", "surrogateescape"))], eight + b"\r\n"))
    nothing_left(world)


@story("What an agent says beyond the limit of its texts is held, wherever it stands (XB17)")
def _(world):
    make_known(world)
    line = b"Thursday works for us, and so does any other day.\r\n"
    text = line * (2 * MEGABYTE // (len(line) - 1) + 1) + b"Our limit is 40,000.\r\n"
    wide = text.decode().encode("utf-16-be")
    parts = (
        ("text/plain", "7bit", text),
        ("text/html", "7bit", b"<p>" + text),
        ("text/plain; charset=utf-16be", "base64", base64.encodebytes(wide).replace(b"\n", b"\r\n")),
        ("text/plain; charset=iso-8859-1", "quoted-printable",
         b"=FC" * 24 + b"=\r\n" + b"=\r\n".join([b"=FC" * 24] * (MEGABYTE // 24 + 100)) + b"\r\n"),
        ("text/calendar", "7bit", b"BEGIN:VEVENT\r\nDESCRIPTION:" + text + b"END:VEVENT\r\n"),
        ("multipart/mixed; boundary=bb", "7bit",
         b"".join(b"--bb\r\n\r\n" + text[half] + b"\r\n"
                  for half in (slice(MEGABYTE + 99), slice(MEGABYTE, None))) + b"--bb--\r\n"),
        ("multipart/mixed; boundary=bb", "7bit", text + b"--bb\r\n\r\nx\r\n--bb--\r\n" + text),
    )
    for kind, encoding, body in parts:
        assert "text longer than 2 MiB" in held(
            world, [("Content-Type", kind), ("Content-Transfer-Encoding", encoding)], body), kind
    short = text[-MEGABYTE:]
    assert attack(world, chunks=short) == ("pass", "")
    assert len(world.sink.messages()) == 1


@story("What no letter has is refused, and the reason is told")
def _(world):
    make_known(world)
    assert "header is too large" in refused(world, [("X-A", "y")] * 600_000)
    assert "header is too large" in refused(world, [("X-A", "y" * 60_000)] * 350)
    assert "too many recipients" in refused(
        world, recipients=[f"u{i}@example.com" for i in range(100_000)])
    assert "too large" in refused(world, chunks=(b"x" * 76 + b"\r\n" for _ in [0] * 800_000))
    assert "zero byte" in refused(world, chunks=bytes(MEGABYTE) + b"\r\n")
    nothing_left(world)


@story("Of a header of 20 MB Postfix keeps the beginning: no more leaves than was judged")
def _(world):
    make_known(world)
    seen = set()
    for value in ("y" * 20 * MEGABYTE, ("y" * 70 + "\r\n ") * 280_000):
        before = len(world.sink.messages())
        assert world.submit(ASSISTANT, [DANA], letter(DANA, X_A=value)).code == 250
        (item,) = (one for one in world.gate.items(everything=True) if one["id"] not in seen)
        seen.add(item["id"])
        if item["state"] == "released":
            world.sink.wait(before + 1)
            left = len(world.sink.messages()[-1].data)
            assert left - world.gate.show(item["id"])["size"] < 1000, left  # traces, line ends
        assert world.gate.show(item["id"])["size"] < 100_000


@story("What comes in for an account passes, whatever its size, and what could be read is learned")
def _(world):
    make_known(world)
    outside = {"recipients": (OWNER,), "login": None}
    for fields, chunks in (([("Cc", "g:" * 30_000)], b"x\r\n"),
                           ([("X-A", "y")] * 600_000, b"x\r\n"),
                           ([], (b"%076d\r\n" % i * 1000 for i in range(1000)))):
        with MilterClient(world.gate.milter_socket, client="192.0.2.1") as mta:
            mta.begin(None, "nora@example.org", [OWNER])
            for name, value in [("From", "nora@example.org"), ("To", OWNER), *fields]:
                mta.header(name, " " + value)
            mta.body(chunks)
            assert mta.end() == ("pass", "")
    assert "without being learned" not in world.gate.milter.read_log()
    nothing_left(world)


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World(POLICY, host={"more": LARGE})))
