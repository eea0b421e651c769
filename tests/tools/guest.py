"""What story-units.py does inside its container: an admin's steps with a real systemd.

    guest.py FOLDER

runs as a unit of the container, installs and tries, writes FOLDER/found.json and powers off.
Every answer is a list: exit status, what was said."""

import json
import os
import smtplib
import ssl
import subprocess
import sys
import time
import traceback

OWNER, ASSISTANT, STRANGER = "owner@example.com", "agent@example.com", "stranger@example.net"
PASSWORD = "secret"
DAEMONS = "exeat-relay", "exeat-milter"
MASTER = "/etc/postfix/master.cf"


def run(*words, user=None):
    if user is not None:
        words = ["setpriv", "--reuid", user, "--regid", user, "--init-groups", *words]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    return [done.returncode, done.stdout]


def must(*words):
    status, said = run(*words)
    if status != 0:
        raise RuntimeError(f"{' '.join(words)}: {status}: {said}")


def submit(recipient, subject, tries=1):
    """What the agent hears; a 4xx is tried again."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with smtplib.SMTP("127.0.0.1", 587, timeout=60) as server:
            server.starttls(context=context)
            server.login(ASSISTANT, PASSWORD)
            server.sendmail(ASSISTANT, [recipient],
                            f"From: {ASSISTANT}\r\nTo: {recipient}\r\nSubject: {subject}\r\n\r\n"
                            "As agreed.\r\n")
    except (smtplib.SMTPException, OSError) as error:
        if tries > 1:
            time.sleep(1)
            return submit(recipient, subject, tries - 1)
        return [1, repr(error)]
    return [0, "250"]


def state(unit):
    return run("systemctl", "show", "-p", "ActiveState,Result,NRestarts,ExecMainStatus", unit)


def pid(unit):
    return run("systemctl", "show", "-p", "MainPID", "--value", unit)[1].strip()


def process(unit):
    """What the kernel says of a daemon."""
    with open(f"/proc/{pid(unit)}/status", encoding="ascii") as file:
        return [0, file.read()]


def kill(unit):
    """Kills it and waits until another runs in its place."""
    old, deadline = pid(unit), time.monotonic() + 60
    must("kill", "-KILL", old)
    while pid(unit) in (old, "0") or run("systemctl", "is-active", unit)[0] != 0:
        if time.monotonic() > deadline:
            break
        time.sleep(0.1)
    return state(unit)


def items(*words):
    status, said = run("exeat", "list", "--json", *words, user="owner")
    if status != 0:
        raise RuntimeError(f"exeat list: {status}: {said}")
    return json.loads(said)["items"]


def prepare_postfix():
    """What is no matter of the gate: logins, a certificate, tables."""
    with open(MASTER, encoding="utf-8") as file:
        text = file.read()
    with open(MASTER, "w", encoding="utf-8") as file:  # the password file is outside its chroot
        file.write(text.replace("submission inet n       -       y", "submission inet n       -       n"))
    for login in (OWNER, ASSISTANT):
        name, domain = login.split("@")
        subprocess.run(["saslpasswd2", "-p", "-c", "-f", "/etc/postfix/sasl/db", "-u", domain,
                        name], input=PASSWORD, text=True, check=True)
    must("chgrp", "postfix", "/etc/postfix/sasl/db")
    must("chmod", "640", "/etc/postfix/sasl/db")
    must("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
         "-keyout", "/etc/postfix/key.pem", "-out", "/etc/postfix/certificate.pem")
    must("postmap", "/etc/postfix/sender_logins")
    must("newaliases")


def decide(found):
    """One that leaves, one that is approved."""
    found["inside"] = submit(OWNER, "For you")
    found["outside"] = submit(STRANGER, "Offer")
    [name] = [item["id"] for item in items() if item["state"] == "held"]
    shown = json.loads(run("exeat", "show", name, "--json", user="owner")[1])
    found["approve as agent"] = run("exeat", "approve", name, shown["digest"], user="agent")
    found["approve"] = run("exeat", "approve", name, shown["digest"], user="owner")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        [now] = [item["state"] for item in items("--all") if item["id"] == name]
        if now not in ("held", "approved", "sending", "committing"):
            break
        time.sleep(0.1)
    found["state"] = [0, now]


def disturb(found):
    """Daemons killed, a configuration read again, one that is wrong."""
    for unit in DAEMONS:
        found[f"{unit} killed"] = kill(unit)
        found[f"submitted after {unit}"] = submit(OWNER, f"After {unit}", tries=60)
    found["reload"] = run("systemctl", "reload", "exeat-relay")
    found["after reload"] = state("exeat-relay")
    must("systemctl", "kill", "-s", "HUP", "exeat-milter")
    found["submitted after HUP"] = submit(OWNER, "After HUP", tries=60)
    conf = "/etc/exeat/exeat.conf"
    must("sed", "-i", "s/^mode = hybrid/mode = hybird/", conf)
    found["reload, wrong"] = run("systemctl", "reload", "exeat-relay")
    found["after reload, wrong"] = state("exeat-relay")
    found["restart, wrong"] = run("systemctl", "restart", "exeat-relay")
    time.sleep(1)
    found["after wrong"] = state("exeat-relay")
    found["submitted, wrong"] = submit(OWNER, "Nobody judges")
    must("sed", "-i", "s/^mode = hybird/mode = hybrid/", conf)
    found["start, right"] = run("systemctl", "start", "exeat-relay")
    found["submitted, right"] = submit(OWNER, "Somebody judges", tries=60)


def starve(found):
    """A relay that cannot open its database for longer than systemd is patient by itself."""
    must("systemctl", "stop", "exeat-relay")
    must("chown", "root", "/var/lib/exeat/exeat.db")
    found["start without database"] = run("systemctl", "start", "exeat-relay")
    time.sleep(8)
    found["without database"] = state("exeat-relay")
    must("chown", "exeat-relay", "/var/lib/exeat/exeat.db")
    found["submitted with database"] = submit(OWNER, "With a database", tries=60)


def try_all(found, folder):
    must("sh", "-e", os.path.join(folder, "users"))
    for user in ("owner", "agent"):
        must("useradd", "--create-home", user)
    prepare_postfix()
    found["check"] = run("exeat-relay", "--check")
    found["start"] = run("systemctl", "start", *DAEMONS)
    must("systemctl", "restart", "postfix")
    for unit in DAEMONS:
        found[unit] = state(unit)
        found[f"{unit} process"] = process(unit)
    decide(found)
    disturb(found)
    starve(found)
    found["doctor"] = run("systemctl", "start", "exeat-doctor")
    found["doctor says"] = run("journalctl", "--no-pager", "-o", "cat", "-u", "exeat-doctor")
    found["journal"] = run("journalctl", "--no-pager", "-u", "exeat-relay", "-u", "exeat-milter")
    found["stop"] = run("systemctl", "stop", *DAEMONS)
    for unit in DAEMONS:
        found[f"{unit} stopped"] = state(unit)


def main(folder):
    found = {}
    with open(os.path.join(folder, "begun"), "w", encoding="utf-8"):
        pass  # from here on it is no matter of the container when nothing is found
    try:
        try_all(found, folder)
    except Exception:  # pylint: disable=broad-except
        found["trouble"] = [1, traceback.format_exc() +
                            run("journalctl", "--no-pager", "-n", "100")[1]]
    with open(os.path.join(folder, "found.new"), "w", encoding="utf-8") as file:
        json.dump(found, file)
    os.rename(os.path.join(folder, "found.new"), os.path.join(folder, "found.json"))
    run("systemctl", "poweroff")


if __name__ == "__main__":
    main(sys.argv[1])
