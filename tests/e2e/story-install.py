"""The files that an admin copies, as they are: the README's exeat.conf, contrib/postfix,
contrib/systemd and a shipped policy. Only paths, ports and users are replaced."""

import os
import re
import ssl
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import AGENT, APPROVER, MILTER, environment  # noqa: E402
from letter import letter, message_id  # noqa: E402
from mailhost import PASSWORD, MailHost  # noqa: E402
from shipped import read, readme_conf  # noqa: E402
from smtpclient import Client  # noqa: E402
from story import main, story  # noqa: E402
from world import World, end_on_signals  # noqa: E402

OWNER, ASSISTANT = "owner@example.com", "agent@example.com"
NORA, STRANGER = "nora@example.org", "stranger@example.net"
QUEUE = "/var/spool/postfix"
USERS = {"milter-user": MILTER, "agent-users": AGENT, "approvers": APPROVER}


def entries(text):
    """The lines of a Postfix file together with those that continue them, comments left out."""
    lines = [line for line in text.splitlines() if line.strip() and line[0] != "#"]
    return re.findall(r"(?m)^\S.*(?:\n\s.*)*", "\n".join(lines))


class CopiedHost(MailHost):
    """A MailHost with contrib/postfix in place of its own lines about the same things."""

    def configure(self):
        super().configure()
        self._make_certificate()
        self._replace("main.cf", lambda entry: entry.partition("=")[0].strip(),
                      read("contrib", "postfix", "main.cf").replace(
                          "hash:/etc/postfix", "texthash:" + self.config))
        self._replace("master.cf", lambda entry: entry.split()[0].rpartition(":")[2],
                      read("contrib", "postfix", "master.cf").replace(
                          "submission inet", f"127.0.0.1:{self.submission} inet"))
        table = re.search(r"(?m)^#     (\S+ +.*)$", read("contrib", "postfix", "main.cf"))
        self._write("sender_logins", table.group(1) + "\n")

    def _replace(self, name, key, copied):
        new = entries(copied)
        taken = {key(entry) for entry in new}
        with open(os.path.join(self.config, name), encoding="utf-8") as file:
            kept = [entry for entry in entries(file.read()) if key(entry) not in taken]
        self._write(name, "\n".join(kept + new) + "\n")

    def _make_certificate(self):
        path = os.path.join(self.folder, "tls.pem")
        if not os.path.exists(path):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                            "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=mx.example.com",
                            "-keyout", path, "-out", path + ".crt"],
                           check=True, capture_output=True)
            with open(path + ".crt", encoding="ascii") as certificate, \
                    open(path, "a", encoding="ascii") as file:
                file.write(certificate.read())


class CopiedWorld(World):
    """A World of copied files."""

    def make_host(self, **more):
        more["more"] = f"smtpd_tls_chain_files = {self.folder}/tls.pem"
        return CopiedHost(self.folder, self.sink.port, chroot=True, **more)

    def configure(self, policy, account, settings):
        gate = self.gate
        lines = ["[exeat]", f"state = {gate.state}", f"relay-socket = {gate.socket}",
                 f"spool = {self.folder}/spool"]
        text = readme_conf().replace("[exeat]", "\n".join(lines))
        for key, number in USERS.items():
            text = re.sub(rf"(?m)^({key}) = .*", rf"\1 = {number}", text)
        gate.write("exeat.conf", text.replace(QUEUE, self.host.queue))
        gate.write("standard", policy)

    def client(self, login=None):
        if login is None:
            return super().client()
        client = Client(("127.0.0.1", self.host.submission))
        client.ehlo()
        assert client.command(f"AUTH PLAIN {PASSWORD}").code == 530, "no login without TLS"
        assert client.command("STARTTLS").ok
        context = ssl.create_default_context(cafile=os.path.join(self.folder, "tls.pem"))
        client.socket = context.wrap_socket(client.socket, server_hostname="mx.example.com")
        client.ehlo()
        client.login(login, PASSWORD)
        return client

    def check(self):
        """exeat-relay --check: the finished process."""
        return subprocess.run([*self.gate.relay.arguments, "--check"], capture_output=True,
                              text=True, env=environment(), check=False)


@story("With the copied files mail is judged, held, approved, and leaves through the door")
def _(world):
    first = letter(NORA, sender=OWNER)
    assert world.submit(OWNER, [NORA], first).code == 250
    message = letter(STRANGER, sender=OWNER, In_Reply_To=message_id(first))
    assert world.submit(ASSISTANT, [STRANGER], message, sender=OWNER).code == 250
    [item] = world.gate.items()
    assert item["state"] == "held", item
    assert len(world.sink.wait(1)) == 1
    world.gate.approve(item["id"])
    assert world.gate.wait_state(item["id"], "sent", "held") == "sent"
    arrived = world.sink.wait(2)[-1]
    assert arrived.recipients == [STRANGER] and arrived.data.endswith(message), arrived


@story("With the copied files nothing passes without a login, nor as somebody else (XA4, XA12)")
def _(world):
    message = letter(STRANGER, sender=OWNER)
    assert world.receive(OWNER, [STRANGER], message).code >= 500
    assert world.submit(ASSISTANT, [STRANGER], message, sender="boss@example.com").code == 553
    assert not world.gate.items(everything=True)
    assert not world.sink.messages()


@story("With the copied files and the milter down the agent gets a 4xx before it can log in (XF1)")
def _(world):
    world.gate.milter.kill()
    with Client(("127.0.0.1", world.host.submission)) as client:
        client.ehlo()
        reply = client.command("STARTTLS")
    assert 400 <= reply.code < 500, reply


@story("With the copied files the doctor finds no way past the gate")
def _(world):
    done = world.gate.command("doctor", "--postfix-config", world.host.config, uid=0)
    assert done.returncode == 0 and "FAULT" not in done.stdout, done
    assert re.search(r"(?m)^ok +listener exeat/unix ", done.stdout), done


@story("The units, the commands of the README and exeat.conf name the same users and folders")
def _(world):
    conf, commands = readme_conf(), read("contrib", "postfix", "README.md")
    socket = f"{QUEUE}/exeat/milter"
    assert f"milter-socket = unix:{socket}\n" in conf
    assert f"install -d -o exeat-milter -g postfix -m 2750 {os.path.dirname(socket)}\n" in commands
    for name, lines in (
            ("exeat-milter", ["User=exeat-milter", "Group=postfix",
                              f"ReadWritePaths=-{os.path.dirname(socket)}"]),
            ("exeat-relay", ["User=exeat-relay", "SupplementaryGroups=postdrop",
                             "StateDirectory=exeat", "RuntimeDirectory=exeat"])):
        unit = read("contrib", "systemd", f"{name}.service.in").splitlines()
        assert f"ExecStart=@sbindir@/{name}" in unit
        assert [line for line in lines if line not in unit] == []
        assert re.search(rf"(?m)^useradd .* {name}$", commands)


@story("exeat-relay --check says what cannot be read, and that a policy holds everything")
def _(world):
    assert (world.check().returncode, world.check().stdout) == (0, "")
    world.gate.write("standard", "# nothing yet\n")
    done = world.check()
    assert done.returncode == 0
    assert done.stdout == f"account owner: {world.gate.etc}/standard holds everything\n", done
    os.unlink(os.path.join(world.gate.etc, "standard"))
    done = world.check()
    assert done.returncode == 78
    assert re.search(r"exeat\.conf:\d+: /\S+/standard: No such file", done.stderr), done


@story("A folder that is missing is told with its key")
def _(world):
    gate = world.gate
    gate.stop()
    for daemon, key, folder, status in (
            (gate.relay, "state", gate.state, 78),
            (gate.relay, "relay-socket", os.path.dirname(gate.socket), 75),
            (gate.milter, "milter-socket", os.path.dirname(gate.milter_socket), 78)):
        os.rename(folder, folder + ".away")
        done = subprocess.run(daemon.arguments, capture_output=True, text=True,
                              env=environment(), check=False, timeout=60, **daemon.identity)
        os.rename(folder + ".away", folder)
        assert done.returncode == status, done
        assert folder in done.stderr and f"“{key}”" in done.stderr, done


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: CopiedWorld(read("contrib", "policies", "standard"))))
