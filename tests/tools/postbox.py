"""A world with a real Dovecot that has the owner's mailbox, behind a line that can be cut.

    with Postbox(policy) as world:
        world.wait_draft(item)

world.imap is the server, world.line the way to it, world.keys what the account says of it."""

import os
import re

from gate import RELAY
from imaphost import LOGIN, PASSWORD, ImapHost, Line
from story import until
from world import World


class Postbox(World):
    """policy and more: as for World."""

    def __init__(self, policy, **more):
        self.imap = self.line = None
        super().__init__(policy, **more)

    def configure(self, policy, account, settings):
        self.imap = ImapHost(self.folder).start()
        self.line = Line(self.imap.imaps)
        self.gate.write("imap-password", PASSWORD + "\n", 0o600)
        os.chown(os.path.join(self.gate.etc, "imap-password"), RELAY, RELAY)
        self.keys = {"drafts": f"imaps://{LOGIN}@localhost:{self.line.port}/Drafts",
                     "drafts-ca": self.imap.ca, "drafts-password-file": "imap-password"}
        self.gate.configure(policy, {**self.keys, **(account or {})}, settings)

    def logs(self):
        return super().logs() + (self.imap.read_log() if self.imap else "")

    def stop(self):
        if self.gate is not None:
            self.gate.kill()
        if self.line is not None:
            self.line.stop()
        if self.imap is not None:
            self.imap.kill()
        super().stop()

    def drafts(self, folder="Drafts"):
        """The messages of a folder: {item: (UID, flags, bytes)}; without an item by UID."""
        found = {}
        client = self.imap.client()
        there, _ = client.select(f'"{folder}"', readonly=True)
        data = client.uid("fetch", "1:*", "(FLAGS BODY.PEEK[])")[1] if there == "OK" else []
        client.logout()
        for entry in data:
            if not isinstance(entry, tuple):
                continue
            uid = int(re.search(rb"UID (\d+)", entry[0])[1])
            item = field(entry[1], "X-Exeat-Item") or uid
            assert item not in found, f"{item} twice"
            found[item] = (uid, entry[0].decode(), entry[1])
        return found

    def wait_draft(self, item):
        until(lambda: item in self.drafts() and self.gate.show(item)["draft_since"] > 0)
        return self.drafts()[item]

    def wait_no_draft(self, item):
        until(lambda: item not in self.drafts())

    def change(self, item, *commands):
        """UID commands on an item's draft, then EXPUNGE; each is (name, arguments...)."""
        uid = self.wait_draft(item)[0]
        client = self.imap.client()
        client.select("Drafts")
        for name, *arguments in commands:
            done, data = client.uid(name, str(uid), *arguments)
            assert done == "OK", data
        client.expunge()
        client.logout()

    def delete(self, item):
        self.change(item, ("store", "+FLAGS", r"(\Deleted)"))

    def last(self):
        return self.gate.items(everything=True)[-1]["id"]


def field(message, name):
    """A field of a message, unfolded; None when it has none."""
    head = message.split(b"\r\n\r\n")[0].decode()
    found = re.findall(rf"(?im)^{name}:((?:.*\n[ \t])*.*)$", head.replace("\r\n", "\n"))
    assert len(found) < 2, found
    return " ".join(found[0].split()) if found else None
