"""A provider as the next hop: TLS and a login by every mechanism, against a real Postfix."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import RELAY  # noqa: E402
from letter import letter  # noqa: E402
from mailhost import PASSWORD  # noqa: E402
from provider import LOGIN, Provider, make_token  # noqa: E402
from story import main, story, until  # noqa: E402
from world import World, end_on_signals  # noqa: E402

AGENT, STRANGER = "agent@example.com", "stranger@example.net"
POLICY = 'hold "outside" if external > 0\ndraft "inside"\n'


def give(world, name, text, mode=0o600):
    """A secret beside exeat.conf, the relay's own."""
    world.gate.write(name, text, mode)
    path = os.path.join(world.gate.etc, name)
    os.chown(path, RELAY, RELAY)
    return path


def use(world, provider, port=None, host="localhost", **keys):
    """From now on mail leaves by the provider. keys: next-hop-… with underscores; None leaves
    one out."""
    settings = {"next-hop": f"inet:{host}:{port or provider.starttls}", "next-hop-gated": "no",
                "next-hop-tls": "implicit" if port == provider.wrapped else "starttls",
                "next-hop-ca": provider.ca, "next-hop-user": LOGIN}
    settings.update({"next-hop-" + name.replace("_", "-"): value
                     for name, value in keys.items()})
    world.gate.configure(POLICY, settings=settings)
    world.gate.reload()
    assert world.gate.answer("status")["next_hop"] == settings["next-hop"]


def hold(world, subject):
    assert world.submit(AGENT, [STRANGER], letter(STRANGER, subject=subject)).code == 250
    [item] = [item for item in world.gate.items() if item["subject"] == subject]
    return item["id"]


def send(world, subject, *states):
    """One held and approved message; what became of it."""
    item = hold(world, subject)
    world.gate.approve(item)
    assert world.gate.wait_state(item, "sent", "failed", "uncertain", *states) in \
        ("sent", *states)
    return world.gate.show(item)


def wait_answer(world, subject, text):
    """One that stays, for that reason."""
    item = hold(world, subject)
    world.gate.approve(item)
    until(lambda: text in world.gate.show(item)["answer"])
    assert world.gate.show(item)["state"] == "approved"
    return item


def check_all(world, provider, mechanisms):
    """Each by name, then the strongest."""
    password = give(world, "password", PASSWORD + "\n")
    for name in mechanisms:
        use(world, provider, auth=name, password_file=password)
        send(world, f"by {name}")
    use(world, provider, provider.wrapped, password_file=password)
    send(world, "by itself")
    provider.wait_empty()
    assert len(world.sink.messages()) == len(mechanisms) + 1

    def used():
        return [line.split("sasl_method=")[1].split(",")[0]
                for line in provider.read_log().splitlines() if "sasl_method=" in line]
    until(lambda: len(used()) > len(mechanisms))
    assert used() == [*mechanisms, "SCRAM-SHA-256"], used()
    assert PASSWORD not in world.gate.relay.read_log()


@story("A provider with Cyrus SASL takes PLAIN, LOGIN and SCRAM")
def _(world):
    with Provider(world.folder, world.sink.port) as provider:
        check_all(world, provider, ["PLAIN", "LOGIN", "SCRAM-SHA-1", "SCRAM-SHA-256"])


@story("A provider with Dovecot SASL takes PLAIN, LOGIN and SCRAM")
def _(world):
    with Provider(world.folder, world.sink.port, "dovecot") as provider:
        check_all(world, provider, ["PLAIN", "LOGIN", "SCRAM-SHA-1", "SCRAM-SHA-256"])


@story("A wrong password sends nothing and loses nothing, and the log does not tell it")
def _(world):
    with Provider(world.folder, world.sink.port, "dovecot") as provider:
        password = give(world, "password", "not this one\n")
        for name in ("PLAIN", "LOGIN", "SCRAM-SHA-256"):
            use(world, provider, auth=name, password_file=password)
            wait_answer(world, f"wrong by {name}", "535 ")
        assert world.sink.messages() == []
        assert "not this one" not in world.gate.relay.read_log()
        give(world, "password", PASSWORD + "\n")  # read when it is needed: no reload
        world.gate.clock(60)
        for item in world.gate.items():
            assert world.gate.wait_state(item["id"], "sent") == "sent"
        provider.wait_empty()
        assert len(world.sink.messages()) == 3


@story("Tokens open the door by OAUTHBEARER and XOAUTH2; one that lapsed is fetched anew")
def _(world):
    with Provider(world.folder, world.sink.port, "dovecot") as provider:
        runs = os.path.join(world.folder, "runs")
        os.mkdir(runs)
        os.chown(runs, RELAY, RELAY)
        script = os.path.join(world.folder, "token")
        fresh, stale = make_token(), make_token(life=-60)
        with open(script, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\ntouch {runs}/$$-$1\n"
                       f"if [ $(ls {runs} | wc -l) -eq 1 ]; then echo {stale}\n"
                       f"else echo {fresh}; echo more; fi\n")
        os.chmod(script, 0o755)
        use(world, provider, auth="OAUTHBEARER", token_command=f"{script} $(id)")
        send(world, "by a command")  # its first token has lapsed
        assert len(os.listdir(runs)) == 2
        assert all(name.endswith("-$(id)") for name in os.listdir(runs)), "a shell was at work"
        use(world, provider, auth="XOAUTH2", token_command=f"{script} $(id)")
        send(world, "by the same token")
        assert len(os.listdir(runs)) == 2
        token = give(world, "token", fresh + "\n")
        use(world, provider, provider.wrapped, token_file=token)
        send(world, "by a file")
        give(world, "token", make_token("another@example.net", -60))
        world.gate.restart_relay()
        wait_answer(world, "lapsed", "535 ")
        provider.wait_empty()
        assert len(world.sink.messages()) == 3
        log = world.gate.relay.read_log()
        assert fresh not in log and stale not in log


@story("A command that gives no token keeps the message here")
def _(world):
    with Provider(world.folder, world.sink.port, "dovecot") as provider:
        for number, (command, text) in enumerate((
                ("/bin/false", "exit"), ("/bin/true", "expected a token"),
                ("/bin/echo two words", "expected a token"),
                ("/nonexistent/token", "No such file"))):
            use(world, provider, token_command=command)
            wait_answer(world, f"{number}", text)
        assert world.sink.messages() == []


@story("A secret that others may read is not used, and the message says which")
def _(world):
    with Provider(world.folder, world.sink.port) as provider:
        password = give(world, "password", PASSWORD + "\n")
        use(world, provider, password_file=password)
        os.chmod(password, 0o640)
        item = wait_answer(world, "too open", f"{password}: found mode 0640")
        world.gate.relay.stop()
        try:
            world.gate.relay.start()
            raise AssertionError("it starts")
        except RuntimeError as refusal:
            assert f"{password}: found mode 0640, expected a file that only its owner may " \
                   "read" in str(refusal)
        os.chmod(password, 0o600)
        world.gate.relay.start()
        world.gate.clock(60)
        assert world.gate.wait_state(item, "sent") == "sent"


@story("A provider that wants a certificate gets ours")
def _(world):
    with Provider(world.folder, world.sink.port) as provider:
        with open(provider.client + ".key", encoding="ascii") as file:
            key = give(world, "key", file.read())
        use(world, provider, provider.certified, user=None)
        item = wait_answer(world, "without", " ")
        use(world, provider, provider.certified, user=None, key=key,
            certificate=provider.client + ".pem")
        world.gate.clock(60)
        assert world.gate.wait_state(item, "sent") == "sent"
        provider.wait_empty()
        assert len(world.sink.messages()) == 1


@story("An account may leave by a provider of its own")
def _(world):
    with Provider(world.folder, world.sink.port) as provider:
        password = give(world, "password", PASSWORD + "\n")
        world.gate.configure(POLICY, account={
            "next-hop": f"inet:localhost:{provider.wrapped}", "next-hop-gated": "no",
            "next-hop-tls": "implicit", "next-hop-ca": provider.ca, "next-hop-user": LOGIN,
            "next-hop-password-file": password})
        world.gate.restart_relay()
        send(world, "by its own")
        provider.wait_empty()
        [message] = world.sink.messages()
        assert "Exeat-Ticket" not in message.head.decode()
        until(lambda: "sasl_method=SCRAM-SHA-256" in provider.read_log())


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World(POLICY)))
