"""Importing from an IMAP server: exactly, over verified TLS, and without a trace on the server."""

import os
import pty
import re
import socket
import subprocess
import sys
import termios
import threading
from urllib.parse import quote

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import ADMIN, environment  # noqa: E402
from imaphost import COPIES, COPIES_WIRE, LOGIN, PASSWORD, Cut, ImapHost, make_authority  # noqa: E402
from letter import letter  # noqa: E402
from story import PATIENCE, main, story, until  # noqa: E402
from world import World, end_on_signals  # noqa: E402

ASSISTANT, NORA, TOM = "agent@example.com", "nora@example.org", "tom@example.net"
POLICY = 'hold "new" if novel > 0\nhold "from a text" if from_body > 0\nrelease "known"\n'


class Place(World):
    """A world with an IMAP server, and the password for it in a file of the admin's."""

    def __init__(self):
        self.imap = None
        super().__init__(POLICY)
        try:
            self.imap = ImapHost(self.folder)
            self.imap.start()
            self.write_password(PASSWORD)
        except BaseException:
            self.stop()
            raise

    def logs(self):
        return super().logs() + self.imap.read_log()

    def stop(self):
        if self.imap is not None:
            self.imap.kill()
        super().stop()

    def write_password(self, password, mode=0o600):
        self.gate.write("imap-password", password + "\n", mode)
        self.password = os.path.join(self.gate.etc, "imap-password")
        os.chown(self.password, ADMIN, ADMIN)

    def address(self, folder, scheme="imaps", host="localhost", port=None):
        port = port or getattr(self.imap, scheme)
        return f"{scheme}://{LOGIN}@{host}:{port}/{quote(folder)}"

    def options(self, ca=None):
        return ["--ca-file", ca or self.imap.ca, "--password-file", self.password]

    def import_from(self, folder, **where):
        """What a successful import says."""
        return self.gate.answer("import", *self.options(), self.address(folder, **where),
                                uid=ADMIN)

    def refusal(self, address, ca=None):
        """What a failing import says; nothing was learned from it."""
        done = self.gate.command("import", *self.options(ca), address, uid=ADMIN)
        assert done.returncode != 0 and done.stdout == "", done
        assert not self.knows(NORA)
        return done.stderr

    def entry(self, address):
        entries = self.gate.answer("history", address, uid=ADMIN)["entries"]
        return next((entry for entry in entries if entry["account"] == "owner"), {})

    def knows(self, address):
        return self.entry(address).get("known", False)


def sent(to, **fields):
    return letter(to, sender="owner@example.com", **fields)


@story("Who was written to in a Sent folder is known, and the folder is as it was")
def _(world):
    world.imap.fill("Sent", [sent(NORA), sent(NORA), sent(TOM)])
    before = world.imap.look("Sent")
    said = world.import_from("Sent")
    assert (said["messages"], said["sent"], said["correspondents"]) == (3, 3, 2), said
    assert world.entry(NORA)["times"] == 2 and world.knows(TOM)
    assert world.imap.look("Sent") == before
    assert world.submit(ASSISTANT, [NORA], letter(NORA)).code == 250
    assert len(world.sink.wait(1)) == 1


@story("STARTTLS does as well, and is demanded")
def _(world):
    world.imap.fill("Sent", [sent(NORA)])
    assert world.import_from("Sent", scheme="imap")["sent"] == 1
    assert world.knows(NORA)


class Plain:
    """An IMAP server without STARTTLS. heard is what it was told."""

    def __init__(self):
        self.heard = b""
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        client, _ = self.listener.accept()
        client.sendall(b"* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN AUTH=LOGIN SASL-IR] hello\r\n")
        while data := client.recv(4096):
            self.heard += data
            client.sendall(b"* CAPABILITY IMAP4rev1 AUTH=PLAIN AUTH=LOGIN SASL-IR\r\n"
                           + data.split()[0] + b" OK done\r\n")
        client.close()
        self.listener.close()


@story("A server without STARTTLS gets no password")
def _(world):
    server = Plain()
    said = world.refusal(world.address("Sent", scheme="imap", port=server.port))
    assert "offers no STARTTLS" in said, said
    server.thread.join(PATIENCE)
    assert server.heard.startswith(b"A001 CAPABILITY\r\n"), server.heard
    assert b"AUTH" not in server.heard and b"LOGIN" not in server.heard, server.heard


@story("A certificate of another authority, or for another host, is refused")
def _(world):
    world.imap.fill("Sent", [sent(NORA)])
    other = make_authority(world.folder, "other")
    for scheme in ("imaps", "imap"):
        said = world.refusal(world.address("Sent", scheme=scheme), ca=other)
        assert "localhost cannot be trusted" in said and "certificate" in said, said
        said = world.refusal(world.address("Sent", scheme=scheme, host="127.0.0.1"))
        assert "127.0.0.1 cannot be trusted" in said and "certificate" in said, said
    until(lambda: "Login: " in world.imap.read_log())
    assert world.imap.read_log().count("Login: ") == 1  # the one that filled the folder


@story("A refused login is told in the server's words, and shows no password")
def _(world):
    world.write_password("wrong horse")
    said = world.refusal(world.address("Sent"))
    assert f"localhost refuses the login of “{LOGIN}”" in said, said
    assert "AUTHENTICATIONFAILED" in said and "horse" not in said, said


@story("A password that others may read, or in the address, is refused")
def _(world):
    world.write_password(PASSWORD, mode=0o640)
    assert "only its owner may read" in world.refusal(world.address("Sent"))
    world.write_password(PASSWORD)
    said = world.refusal(world.address("Sent").replace(LOGIN, f"{LOGIN}:{quote(PASSWORD)}"))
    assert "password" in said and quote(PASSWORD) not in said, said


@story("The password may come from the environment")
def _(world):
    world.imap.fill("Sent", [sent(NORA)])
    subprocess.run([os.path.join(world.gate.bin, "exeat"), "-c", world.gate.config, "import",
                    "--ca-file", world.imap.ca, world.address("Sent")], user=ADMIN, group=ADMIN,
                   extra_groups=[], cwd="/", env=environment(EXEAT_IMAP_PASSWORD=PASSWORD),
                   stdin=subprocess.DEVNULL, capture_output=True, check=True)
    assert world.knows(NORA)


@story("At a terminal it is asked for once, and not shown")
def _(world):
    world.imap.fill("Sent", [sent(NORA), sent(NORA)])
    program = os.path.join(world.gate.bin, "exeat")
    child, terminal = pty.fork()
    if child == 0:
        os.setgroups([])
        os.setresgid(ADMIN, ADMIN, ADMIN)
        os.setresuid(ADMIN, ADMIN, ADMIN)
        os.execve(program, [program, "-c", world.gate.config, "import", "--min-times", "2",
                            "--ca-file", world.imap.ca, world.address("Sent")], environment())
    shown = b""
    while not shown.endswith(b"localhost: "):
        shown += os.read(terminal, 4096)
    # The prompt is there a moment earlier.
    until(lambda: not termios.tcgetattr(terminal)[3] & termios.ECHO)
    os.write(terminal, PASSWORD.encode() + b"\n")
    try:
        while data := os.read(terminal, 4096):
            shown += data
    except OSError:
        pass  # how a terminal tells that nobody is left
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert status == 0 and PASSWORD.encode() not in shown, (status, shown)
    assert shown.count(b"Password of") == 1, shown
    assert world.knows(NORA)


@story("A folder's role is what the server says, and its name may hold spaces and umlauts")
def _(world):
    world.imap.fill(COPIES_WIRE, [sent(NORA)])
    world.imap.fill("Entw&APw-rfe", [sent(TOM)])
    said = world.import_from(COPIES)
    assert (said["messages"], said["sent"]) == (1, 1), said
    assert world.knows(NORA)
    said = world.import_from("Entwürfe")
    assert said["skipped"]["draft"] == 1 and not world.knows(TOM), said
    done = world.gate.command("import", *world.options(), world.address("Büro"), uid=ADMIN)
    assert done.returncode != 0 and f"no folder “Büro”, but" in done.stderr, done
    assert f"“{COPIES}”" in done.stderr, done


@story("Without a folder all are read, drafts are none")
def _(world):
    world.imap.fill("Sent", [sent(NORA)])
    world.imap.fill("Drafts", [sent(TOM)], flags="(\\Draft)")
    world.imap.fill("INBOX", [letter("owner@example.com", sender=NORA)])
    said = world.import_from("")
    assert (said["sent"], said["received"], said["skipped"]["draft"]) == (1, 1, 1), said
    assert world.knows(NORA) and not world.knows(TOM)


@story("Of 500 messages one has too large a header: it is named, the others come in, once")
def _(world):
    people = [f"person{number}@example.org" for number in range(499)]
    world.imap.fill("Sent", [sent(person) for person in people[:250]]
                    + [sent(TOM, X_Long="y" * 300_000)] + [sent(who) for who in people[250:]])
    done = world.gate.command("import", "--json", *world.options(), world.address("Sent"),
                              uid=ADMIN)
    assert done.returncode == 0 and "Sent: UID 251: its header is too large" in done.stderr, done
    assert done.stderr.count("\n") == 1, done.stderr
    assert not world.knows(TOM)
    assert all(world.knows(person) for person in (people[0], people[250], people[498]))
    said = world.import_from("Sent")
    assert (said["messages"], said["sent"], said["correspondents"]) == (500, 499, 0), said
    assert world.entry(people[0])["times"] == 1


@story("A lost connection says how far it got, and the next run completes without doubling")
def _(world):
    world.imap.fill("Sent", [sent(f"person{number}@example.org, {NORA}")
                             for number in range(700)])
    # TLS and the login take about 7 turns, then 50 messages one.
    with Cut(world.imap.imaps, at=20) as cut:
        done = world.gate.command("import", *world.options(),
                                  world.address("Sent", port=cut.port), uid=ADMIN)
    assert done.returncode != 0 and done.stdout == "", done
    told = re.search(r"Sent: after (\d+) of 700 messages: the connection is lost", done.stderr)
    reached = int(told[1])
    assert 0 < reached < 700, reached
    until(lambda: world.entry(NORA).get("times") == reached)
    said = world.import_from("Sent")
    assert (said["messages"], said["correspondents"]) == (700, 700 - reached), said
    assert world.entry(NORA)["times"] == 700, world.entry(NORA)


@story("A message that speaks IMAP is a message, and stays unread")
def _(world):
    tricks = "".join(f"E{tag} OK done\r\n)\r\nA{tag:03} OK done\r\n* BYE\r\n"
                     for tag in range(12))
    body = f"Hello.\r\n{tricks}{'x' * 90_000}\r\nWrite to {TOM}, please.\r\n"
    world.imap.fill("INBOX", [letter("owner@example.com", sender=NORA, body=body)])
    before = world.imap.look("INBOX")
    said = world.import_from("INBOX")
    assert (said["messages"], said["received"]) == (1, 1), said
    assert world.entry(TOM)["mentioned"] and not world.knows(NORA)
    assert world.imap.look("INBOX") == before


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(Place))
