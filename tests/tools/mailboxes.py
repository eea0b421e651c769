"""Mailboxes for tests, written by the programs that write them in real life."""

import os
import subprocess

DOVECOT_USER = 61020
DOVECOT_CONF = """\
base_dir = {folder}/run
state_dir = {folder}/state
log_path = /dev/stderr
mail_location = maildir:{folder}/Maildir
mail_uid = {uid}
mail_gid = {uid}
ssl = no
namespace inbox {{
  inbox = yes
}}
"""
MUTTRC = """\
set from="{sender}" use_from hostname=example.com
set sendmail=/bin/true copy=yes record="{path}" mbox_type=mbox write_bcc
"""


class Dovecot:
    """A Maildir++ of Dovecot's in a folder of its own; nothing of it keeps running."""

    def __init__(self, folder):
        self.folder = folder
        self.path = os.path.join(folder, "Maildir")
        self.config = os.path.join(folder, "dovecot.conf")
        os.makedirs(self.path)
        for path in (folder, self.path):
            os.chown(path, DOVECOT_USER, DOVECOT_USER)
        with open(self.config, "w", encoding="ascii") as file:
            file.write(DOVECOT_CONF.format(folder=folder, uid=DOVECOT_USER))

    def run(self, *arguments, data=b""):
        subprocess.run(["doveadm", "-c", self.config, *arguments], input=data, check=True,
                       capture_output=True,
                       env={"PATH": os.environ["PATH"], "HOME": self.folder, "USER": "root"})

    def create(self, *mailboxes):
        self.run("mailbox", "create", *mailboxes)

    def save(self, mailbox, message):
        self.run("save", "-m", mailbox, data=message)


def mutt(folder, sent, sender, recipients, body, bcc=()):
    """Lets mutt send a message nowhere and keep it in the mbox sent."""
    path = os.path.join(folder, "muttrc")
    with open(path, "w", encoding="utf-8") as file:
        file.write(MUTTRC.format(sender=sender, path=sent))
    blind = [word for address in bcc for word in ("-b", address)]
    subprocess.run(["mutt", "-F", path, "-s", "A word", *blind, "--", *recipients], check=True,
                   input=body.encode(), capture_output=True,
                   env={"PATH": os.environ["PATH"], "HOME": folder, "TERM": "dumb"})


class Mh:
    """The folders of nmh in a folder of its own."""

    PATH = "/usr/bin/mh:/usr/lib/mh"

    def __init__(self, folder):
        self.folder = folder
        self.path = os.path.join(folder, "Mail")
        os.makedirs(self.path)
        with open(os.path.join(folder, "profile"), "w", encoding="ascii") as file:
            file.write(f"Path: {self.path}\n")

    @staticmethod
    def missing():
        """TRUE when nmh is not installed."""
        return not os.path.exists("/usr/bin/mh/refile")

    def run(self, *command, data=b""):
        subprocess.run(command, input=data, check=True, capture_output=True,
                       env={"PATH": f"{self.PATH}:{os.environ['PATH']}", "HOME": self.folder,
                            "MH": os.path.join(self.folder, "profile")})

    def store(self, folder, message):
        self.run("rcvstore", f"+{folder}", "-create", data=message)

    def incorporate(self, folder, *messages):
        """What came in, from a spool file."""
        spool = os.path.join(self.folder, "spool")
        with open(spool, "wb") as file:
            for message in messages:
                file.write(b"From x Mon Nov  2 10:00:00 2026\n" + message + b"\n")
        os.makedirs(os.path.join(self.path, folder), exist_ok=True)
        self.run("inc", "-file", spool, "-silent", f"+{folder}")
