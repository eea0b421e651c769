"""A private Dovecot that delivers by LMTP and obeys the owner's Sieve rules (Pigeonhole).

    with SieveHost(folder, f"submission_host = 127.0.0.1:{port}") as host:
        host.rule('redirect "mallory@example.net";')
        host.deliver("nora@example.org", message)

What the rules send goes where the lines given say. Needs what ImapHost needs, and Debian's
dovecot-lmtpd and dovecot-sieve."""

import os
import smtplib

from imaphost import LOGIN, MAIL, ImapHost
from mailhost import free_port

MODULES = ("/usr/lib/dovecot/lmtp", "/usr/lib/dovecot/modules/lib90_sieve_plugin.so")

CONFIG = """
protocols = imap lmtp
hostname = mx.example.com
postmaster_address = postmaster@example.com
service lmtp {{
  inet_listener lmtp {{
    address = 127.0.0.1
    port = {port}
  }}
}}
protocol lmtp {{
  mail_plugins = sieve
}}
plugin {{
  sieve = file:{folder}/imap/rules/active.sieve
  sieve_vacation_send_from_recipient = {from_recipient}
}}
{more}
"""


class SieveHost(ImapHost):
    """See the head of this file. more: lines of configuration that say how mail is sent."""

    def __init__(self, folder, more, from_recipient="no"):
        self.lmtp = free_port()
        super().__init__(folder, CONFIG.format(folder=folder, port=self.lmtp, more=more,
                                               from_recipient=from_recipient))

    @staticmethod
    def missing():
        """The first of the files it needs that is not installed; None when all are."""
        return next((path for path in MODULES if not os.path.exists(path)), None)

    def rule(self, script):
        """From now on the owner's mail is delivered by this script."""
        folder = os.path.join(self.folder, "rules")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "active.sieve"), "w", encoding="utf-8") as file:
            file.write(script)
        os.chown(folder, MAIL, MAIL)

    def deliver(self, sender, message):
        """Hands a message for the owner to Dovecot, as a mail server does. Returns when its
        rules have been obeyed."""
        with smtplib.LMTP("127.0.0.1", self.lmtp) as client:
            refused = client.sendmail(sender, [LOGIN], message)
        assert not refused, refused

    def inbox(self):
        """How many messages the inbox has."""
        client = self.client()
        _, data = client.select("INBOX", readonly=True)
        client.logout()
        return int(data[0])
