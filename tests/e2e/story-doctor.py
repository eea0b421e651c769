"""exeat doctor finds every way past the gate that is made here, and none where there is none."""

import grp
import json
import os
import pwd
import re
import shutil
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import AGENT, MILTER  # noqa: E402
from mailhost import free_port  # noqa: E402
from story import Skip, main, story  # noqa: E402
from world import World  # noqa: E402

HOLD = 'hold "everything"\n'
# A network of its own, in which one user reaches nothing.
FIREWALL = """ip link set lo up
ip rule add pref 10 uidrange "$1-$1" prohibit
ip rule add pref 20 lookup local
ip rule del pref 0
shift
exec "$@"
"""
LISTEN = """import socket, subprocess, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))):
    sys.exit(subprocess.run(sys.argv[2:], check=False).returncode)
"""
OUTSIDE_PORT = 2525


def ask(world, *arguments, uid=0):
    """The finished process, and the findings as (state, place, text)."""
    words = ["doctor", "--json", "--postfix-config", world.host.config, *arguments]
    done = world.gate.command(*words, uid=uid)
    assert done.returncode in (0, 65), done
    answer = json.loads(done.stdout)
    findings = [(one["state"], one["place"], one["text"]) for one in answer["findings"]]
    assert answer["faults"] == len([one for one in findings if one[0] == "FAULT"]), answer
    assert done.returncode == (65 if answer["faults"] else 0), answer
    return findings


def faults(world, *arguments):
    return [(place, text) for state, place, text in ask(world, *arguments) if state == "FAULT"]


def change(world, name, old, new=""):
    """Replaces text in a file of Postfix, or appends to it; old returns by itself with the world."""
    path = os.path.join(world.host.config, name)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert old in text, text
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new) if old else text + new)


@story("There is no fault where all is well, and every listener is named")
def _(world):
    findings = ask(world)
    assert [one for one in findings if one[0] == "FAULT"] == [], findings
    good = {place for state, place, _ in findings if state == "ok"}
    for place in (f"listener 127.0.0.1:{world.host.plain}/inet", "listener exeat/unix",
                  f"listener 127.0.0.1:{world.host.submission}/inet", "local mail cleanup/unix",
                  f"door unix:{world.host.door}", f"agent's user {AGENT}",
                  "exeat-milter", "exeat-relay"):
        assert place in good, (place, findings)
    assert world.gate.command("doctor", "--postfix-config", world.host.config,
                              uid=0).stdout.startswith("ok ")


@story("A sender of notices that a server elsewhere may refuse is told, where there are notices (A19)")
def _(world):
    def senders():
        return [(state, text.split(":")[0]) for state, place, text in ask(world)
                if place == "notices-from"]
    assert senders() == []
    for key in ("notify", "notices-to", "digest-to"):
        for sender, state in (("gate@mx", "unknown"), ("gate@mx.example.com", "ok")):
            world.gate.configure(HOLD, account={key: "me@example.net"},
                                 settings={"notices-from": sender})
            assert senders() == [(state, sender)], (key, senders())


@story("Whoever has a group of the agent's as the own group is tried like its other members (XA1)")
def _(world):
    nobody = pwd.getpwnam("nobody")
    assert "nobody" not in grp.getgrgid(nobody.pw_gid).gr_mem
    world.gate.configure(HOLD, {"agent-users": f"@{nobody.pw_gid}"})
    places = [place for _, place, _ in ask(world)]
    assert f"agent's user {nobody.pw_uid}" in places, places
    assert f"agent's user {AGENT}" not in places, places


@story("A second smtpd without the milter is a fault, unless the admin vouches for it (XA5)")
def _(world):
    port = free_port()
    change(world, "master.cf", "", f"127.0.0.1:{port} inet n - n - - smtpd\n"
           "  -o smtpd_milters=\n")
    [(place, text)] = faults(world)
    assert place == f"listener 127.0.0.1:{port}/inet" and "XA5" in text, (place, text)
    assert faults(world, "--except", f"127.0.0.1:{port}") == []
    change(world, "master.cf", "smtpd_milters=", "receive_override_options=no_milters")
    [(place, text)] = faults(world)
    assert "no_milters" in text, text


@story("milter_default_action=accept is a fault, in main.cf and at a single milter (XF1)")
def _(world):
    change(world, "main.cf", "milter_default_action = tempfail", "milter_default_action = accept")
    found = faults(world)
    assert len(found) == 4 and all("XF1" in text for _, text in found), found
    change(world, "main.cf", "smtpd_milters = unix:exeat/milter\n",
           "smtpd_milters = { unix:exeat/milter, default_action = tempfail }\n")
    assert faults(world) == []


@story("Hosts that may say they are others are a fault (XA18)")
def _(world):
    change(world, "main.cf", "smtpd_authorized_xclient_hosts =",
           "smtpd_authorized_xclient_hosts = 127.0.0.1")
    found = faults(world)
    assert len(found) == 3 and all("XA18" in text for _, text in found), found


@story("smtpd_milters that are gone are a fault at every listener and for local mail (XF17)")
def _(world):
    change(world, "main.cf", "smtpd_milters = unix:exeat/milter\n", "smtpd_milters =\n")
    found = faults(world)
    assert len(found) == 4 and all("XF17" in text for _, text in found), found


@story("A milter behind the gate is told (XB33)")
def _(world):
    change(world, "main.cf", "smtpd_milters = unix:exeat/milter\n",
           "smtpd_milters = inet:127.0.0.1:1 unix:exeat/milter inet:127.0.0.1:2\n")
    told = [text for state, _, text in ask(world) if state == "unknown" and "XB33" in text]
    assert told and all("inet:127.0.0.1:2" in text for text in told), told


@story("As the agent's user a mail server outside that answers is a fault (XA1)")
def _(world):
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        [(place, text)] = faults(world, "--outside", f"127.0.0.1:{port}")
    assert place == f"agent's user {AGENT}" and f"127.0.0.1 port {port}" in text, (place, text)
    found = ask(world, "--outside", f"127.0.0.1:{port}")
    assert [one for one in found if one[0] == "FAULT"] == [], found
    assert ("unknown", place) in [one[:2] for one in found], found
    done = world.gate.command("doctor", "--outside", "no such host", uid=0)
    assert done.returncode == 64, done


@story("A mail server that root reaches and the agent's user does not is told as closed (XA1)")
def _(world):
    if shutil.which("ip") is None:
        raise Skip("ip is not installed")
    words = [os.path.join(world.gate.bin, "exeat"), "-c", world.gate.config, "doctor",
             "--postfix-config", world.host.config, "--outside", f"127.0.0.1:{OUTSIDE_PORT}"]
    done = subprocess.run(["unshare", "-n", "sh", "-ec", FIREWALL, "sh", str(AGENT),
                           sys.executable, "-c", LISTEN, str(OUTSIDE_PORT), *words],
                          capture_output=True, text=True, check=False)
    if "unshare" in done.stderr:
        raise Skip(f"no network of its own: {done.stderr.strip()}")
    assert done.returncode == 0, done
    assert re.search(rf"(?m)^ok +agent's user {AGENT} .* port {OUTSIDE_PORT}, root does$",
                     done.stdout), done


@story("What the agent's user may read, write or enter and must not is a fault (XE13)")
def _(world):
    os.chmod(world.gate.state, 0o755)
    found = faults(world)
    assert len(found) == 2 and all("XE13" in text for _, text in found), found
    os.chmod(world.gate.state, 0o700)
    os.chown(world.gate.etc, AGENT, AGENT)
    found = faults(world)
    assert found and all(world.gate.etc in text for _, text in found), found
    os.chown(world.gate.etc, 0, 0)
    os.chmod(os.path.dirname(world.gate.milter_socket), 0o755)
    os.chmod(world.gate.milter_socket, 0o777)
    [(place, text)] = faults(world)
    assert world.gate.milter_socket in text and place == f"agent's user {AGENT}", text


@story("A milter that runs as another user than milter-user is a fault")
def _(world):
    world.gate.configure(HOLD, settings={"milter-user": str(AGENT + 1)})
    [(place, text)] = faults(world)
    assert place == "exeat-milter" and f"runs as user {MILTER}" in text, (place, text)


@story("Rules and programs that the agent's user may write are faults, wherever they lie (XE13, XF16)")
def _(world):
    gate = world.gate
    more = os.path.join(gate.etc, "more")
    os.mkdir(more)
    for name, text in (("more/policy", 'include included\n' + HOLD),
                       ("more/included", 'hold "some" if any recipient in list\n'),
                       ("more/list", "nora@example.org\n"), ("aliases", "")):
        gate.write(name, text)
    gate.write("notify", "#!/bin/sh\n", mode=0o755)
    gate.configure(HOLD, settings={"aliases": f"aliases:{gate.etc}/aliases"},
                   account={"policy": "more/policy", "notify-command": f"{gate.etc}/notify"})
    assert faults(world) == []
    for path in ("more/policy", "more/included", "more/list", "aliases", "notify"):
        path = os.path.join(gate.etc, path)
        os.chown(path, AGENT, AGENT)
        found = faults(world)
        os.chown(path, 0, 0)
        assert [place for place, _ in found] == [f"agent's user {AGENT}"], (path, found)
        assert path in found[0][1], (path, found)
    os.chown(more, AGENT, AGENT)
    assert any(f"write {more}:" in text for _, text in faults(world)), faults(world)


@story("Without root the agent's user is only looked at by itself, and that is said")
def _(world):
    assert ("unknown", "agent's user") in [one[:2] for one in ask(world, uid=MILTER)]
    places = [one[1] for one in ask(world, uid=AGENT)]
    assert f"agent's user {AGENT}" in places and "agent's user" in places, places


@story("Daemons that are down and a Postfix that cannot be looked at are faults")
def _(world):
    world.gate.stop()
    assert {place for place, _ in faults(world)} == {"exeat-milter", "exeat-relay"}
    os.rename(world.host.config, world.host.config + ".away")
    found = faults(world)
    os.rename(world.host.config + ".away", world.host.config)
    assert "postconf" in [place for place, _ in found], found


if __name__ == "__main__":
    sys.exit(main(lambda: World(HOLD)))
