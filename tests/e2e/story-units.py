"""The units for systemd, run by systemd: it starts as the first process of a container that
sees a copy of this machine's files, and an admin's steps are done in there (guest.py)."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import find_build  # noqa: E402
from shipped import read, readme_conf  # noqa: E402
from story import Skip, main, story  # noqa: E402
from world import end_on_signals  # noqa: E402

TESTS = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
SECONDS = 900  # only a guest that hangs takes so long
SOCKET = "/run/exeat/other.sock"  # found by everybody in exeat.conf
DAEMONS = "exeat-relay", "exeat-milter"
# Calls that the container lets through, beside those it does by itself: what the milter shuts
# itself in with.
CALLS = "landlock_create_ruleset landlock_add_rule landlock_restrict_self seccomp"
BASE = """
compatibility_level = 3.6
myhostname = mail.example.com
mydestination = example.com, localhost
inet_interfaces = loopback-only
default_transport = discard:
smtpd_sasl_path = smtpd
cyrus_sasl_config_path = /etc/postfix/sasl
smtpd_tls_cert_file = /etc/postfix/certificate.pem
smtpd_tls_key_file = /etc/postfix/key.pem
"""
SASL = "pwcheck_method: auxprop\nauxprop_plugin: sasldb\nmech_list: PLAIN\n" \
    "sasldb_path: /etc/postfix/sasl/db\n"
GUEST = """[Unit]
After=multi-user.target
[Service]
ExecStart=/usr/bin/python3 /try/guest.py /try
"""
# The machine's files below, ours above them, and what is written in memory.
BOOT = """
set -e
mount -t tmpfs tmpfs "$1/top"
cd "$1/top"
mkdir up work root
mount -t overlay -o lowerdir=/,upperdir=up,workdir=work overlay root
rm -rf root/usr/local/etc root/usr/local/var root/etc/systemd/system/*.wants/*.service
cp -R "$1/ours/." root
exec systemd-nspawn --quiet --directory=root --bind="$1/try:/try" --machine="$2" \
    --register=no --keep-unit --private-network --link-journal=no --console=pipe \
    --system-call-filter="$3" --boot systemd.unit=guest.target
"""
TARGET = "[Unit]\nRequires=multi-user.target\nWants=guest.service\n"


def master():
    with open("/usr/share/postfix/master.cf.dist", encoding="utf-8") as file:
        return file.read() + read("contrib", "postfix", "master.cf")


def users():
    """The commands of contrib/postfix/README.md that make users and folders."""
    return re.search(r"```\n(useradd(?:.*\n)*?)```", read("contrib", "postfix", "README.md")).group(1)


def lay_out(ours, build):
    """What an installed machine has beside its packages. ours: the folder that stands for /."""
    def put(path, text):
        os.makedirs(os.path.dirname(ours + path), exist_ok=True)
        with open(ours + path, "w", encoding="utf-8") as file:
            file.write(text)

    for folder, names in (("bin", ["exeat"]), ("sbin", DAEMONS)):
        os.makedirs(f"{ours}/usr/local/{folder}")
        for name in names:
            shutil.copy(os.path.join(build, name), f"{ours}/usr/local/{folder}")
    for unit in ("exeat-relay", "exeat-milter", "exeat-doctor"):
        with open(f"{build}/contrib/systemd/{unit}.service", encoding="utf-8") as file:
            put(f"/etc/systemd/system/{unit}.service",
                re.sub(r"(=\+?)/\S+/(s?bin/exeat)", r"\1/usr/local/\2", file.read()))
    put("/etc/systemd/system/guest.service", GUEST)
    put("/etc/systemd/system/guest.target", TARGET)
    put("/etc/exeat/exeat.conf", readme_conf().replace(
        "[exeat]\n", f"[exeat]\nrelay-socket = {SOCKET}\n"))
    put("/etc/exeat/standard", read("contrib", "policies", "standard"))
    # A build that was not configured for /etc, /var and /run finds them all the same.
    os.makedirs(ours + "/usr/local/var")
    for link, path in (("etc", "/etc"), ("var/lib", "/var/lib"), ("var/run", "/run")):
        os.symlink(path, f"{ours}/usr/local/{link}")
    put("/etc/postfix/main.cf", BASE + read("contrib", "postfix", "main.cf"))
    put("/etc/postfix/master.cf", master())
    put("/etc/postfix/sasl/smtpd.conf", SASL)
    put("/etc/postfix/sender_logins", "owner@example.com owner@example.com, agent@example.com\n"
                                      "agent@example.com agent@example.com\n")


@functools.cache
def tried():
    """What was found inside; one container for all stories."""
    if shutil.which("systemd-nspawn") is None:
        raise Skip("systemd-container is not installed")
    with tempfile.TemporaryDirectory(prefix="exeat-test-") as folder:
        os.chmod(folder, 0o755)
        for name in ("ours", "try", "top"):
            os.mkdir(os.path.join(folder, name))
        lay_out(os.path.join(folder, "ours"), find_build())
        shutil.copy(os.path.join(TESTS, "tools", "guest.py"), os.path.join(folder, "try"))
        with open(os.path.join(folder, "try", "users"), "w", encoding="utf-8") as file:
            file.write(users())
        said = boot(folder)
        path = os.path.join(folder, "try", "found.json")
        began = os.path.exists(os.path.join(folder, "try", "begun"))
        assert os.path.exists(path) or not began, f"the guest did not end: {said}"
        if not began:
            raise Skip(f"no container with systemd comes up here: {said.strip()[-300:]!r}")
        with open(path, encoding="utf-8") as file:
            return json.load(file)


def boot(folder):
    """What the container wrote to its console."""
    with subprocess.Popen(
            ["unshare", "-m", "sh", "-c", BOOT, "sh", folder, f"exeat-{os.getpid()}", CALLS],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace") as process:
        try:
            return process.communicate(timeout=SECONDS)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            return "it did not end: " + (process.communicate()[0] or "")
        except BaseException:
            process.kill()
            raise


class Nothing:
    """These stories need no world beside what was tried."""

    def __enter__(self):
        found = tried()
        assert "trouble" not in found, found["trouble"][1]
        return found

    def __exit__(self, *_):
        pass


@story("Both daemons start as units, get ready, and have no capability and a filter of their calls")
def _(found):
    assert found["check"][0] == 0, found["check"]
    assert found["start"][0] == 0, (found["start"], found["journal"])
    for unit in DAEMONS:
        assert "ActiveState=active" in found[unit][1], found[unit]
        status = found[f"{unit} process"][1]
        assert all(re.search(rf"(?m)^{name}:\s0+$", status)
                   for name in ("CapEff", "CapPrm", "CapBnd")), status
        assert re.search(r"(?m)^NoNewPrivs:\s1$", status) and \
            re.search(r"(?m)^Seccomp:\s2$", status), status


@story("The milter's unit lets it shut itself in")
def _(found):
    assert "seccomp: " not in found["journal"][1], found["journal"]
    assert "Landlock: Operation not permitted" not in found["journal"][1], found["journal"]
    assert "listening on unix:" in found["journal"][1], found["journal"]


@story("With the units mail is judged, approved by the owner alone, and sent (C4)")
def _(found):
    assert found["inside"] == [0, "250"], found["inside"]
    assert found["outside"] == [0, "250"], found["outside"]
    assert found["approve as agent"][0] == 77, found["approve as agent"]
    assert found["approve"][0] == 0, found["approve"]
    assert found["state"] == [0, "sent"], found["state"]


@story("A daemon that was killed is started again, and mail goes on (XF1, XF3)")
def _(found):
    for unit in DAEMONS:
        killed = found[f"{unit} killed"][1]
        assert "ActiveState=active" in killed and "NRestarts=1" in killed, killed
        assert found[f"submitted after {unit}"] == [0, "250"], found[f"submitted after {unit}"]


@story("A wrong configuration stops the relay once, and until it is mended the agent gets a 4xx")
def _(found):
    assert found["reload"][0] == 0, found["reload"]
    assert "ActiveState=active" in found["after reload"][1], found["after reload"]
    assert found["reload, wrong"][0] != 0, found["reload, wrong"]
    assert "ActiveState=active" in found["after reload, wrong"][1], found["after reload, wrong"]
    assert found["restart, wrong"][0] != 0, found["restart, wrong"]
    after = found["after wrong"][1]
    assert "ActiveState=failed" in after and "ExecMainStatus=78" in after, after
    assert re.search(r"SMTP\w+\(4\d\d, |\(45\d, ", found["submitted, wrong"][1]), \
        found["submitted, wrong"]
    assert found["start, right"][0] == 0, found["start, right"]
    assert found["submitted, right"] == [0, "250"], found["submitted, right"]


@story("What passes is waited for: a database that cannot be opened, a milter ended by SIGHUP (XF3)")
def _(found):
    assert found["submitted after HUP"] == [0, "250"], found["submitted after HUP"]
    assert found["start without database"][0] != 0, found["start without database"]
    assert "ActiveState=activating" in found["without database"][1], found["without database"]
    assert found["submitted with database"] == [0, "250"], found["submitted with database"]


@story("The doctor's unit sees what the doctor sees (XF17)")
def _(found):
    said = found["doctor says"][1]
    assert found["doctor"][0] == 0 and "FAULT" not in said, said
    assert re.search(r"(?m)^ok +listener exeat/unix ", said), said
    assert re.search(r"(?m)^ok +agent's user \d+ +it is kept", said), said


@story("Stopped by systemd, both end in peace")
def _(found):
    assert found["stop"][0] == 0, found["stop"]
    for unit in DAEMONS:
        stopped = found[f"{unit} stopped"][1]
        assert "ActiveState=inactive" in stopped and "Result=success" in stopped, stopped


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(Nothing))
