"""Rules in the human's mailbox send nothing past the gate (XA10): Dovecot's own Sieve."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from letter import letter  # noqa: E402
from sievehost import SieveHost  # noqa: E402
from story import Skip, main, story, until  # noqa: E402
from world import World, end_on_signals  # noqa: E402

OWNER, NORA, MALLORY, DANA = ("owner@example.com", "nora@example.org", "mallory@example.net",
                              "dana@example.com")
POLICY = 'hold "outside" if external > 0\ndraft "inside"\n'
# As most mail servers are: whoever is on this machine may send anywhere.
OPEN = "smtpd_relay_restrictions = permit_mynetworks, reject_unauth_destination"
NO_LOGIN, NOT_PASSED = "mail with this sender needs a login", "mail from this mailbox is not"


def rules(world, script, setting="", program=None):
    """A Dovecot that sends what rules say through the world's Postfix: by SMTP, or by a
    program."""
    if SieveHost.missing():
        raise Skip(f"there is no {SieveHost.missing()}")
    way = (f"sendmail_path = {program}" if program
           else f"submission_host = 127.0.0.1:{world.host.plain}")
    host = SieveHost(world.folder, f"{way}\nplugin {{\n  {setting}\n}}\n")
    host.rule(script)
    return host


def come_in(world, host, refused):
    """Nora writes. The rule sends nothing, for that reason, and the message stays."""
    host.deliver(NORA, letter(OWNER, sender=NORA))
    world.host.wait_empty()
    assert host.inbox() == 1, host.read_log()
    assert world.sink.messages() == []
    until(lambda: refused in world.host.read_log() + host.read_log())
    until(lambda: "sieve" in host.read_log())


@story("A redirect that keeps the sender of what came in is refused, inside as well, and the message stays (XA10)")
def _(world):
    with rules(world, f'redirect "{MALLORY}";') as host:
        come_in(world, host, NOT_PASSED)
        until(lambda: f"failed to redirect message to <{MALLORY}>" in host.read_log())
        host.rule(f'require "copy"; redirect :copy "{DANA}";')
        host.deliver(NORA, letter(OWNER, "Another", sender=NORA))
        until(lambda: f"failed to redirect message to <{DANA}>" in host.read_log())
        assert host.inbox() == 2 and world.sink.messages() == []


@story("So is one that gives the owner as its sender (XA10)")
def _(world):
    with rules(world, f'redirect "{MALLORY}";',
               "sieve_redirect_envelope_from = recipient") as host:
        come_in(world, host, NO_LOGIN)


@story("Words of absence and notices that a rule sends are refused (XA10)")
def _(world):
    script = ('require ["vacation", "enotify"];\n'
              f'vacation :addresses "{OWNER}" "The limit is 40,000.";\n'
              f'notify :message "The limit is 40,000." "mailto:{MALLORY}";\n')
    with rules(world, script) as host:
        come_in(world, host, NO_LOGIN)
        until(lambda: "failed to send vacation response" in host.read_log())
        until(lambda: "failed to send mail notification" in host.read_log())


@story("A refusal with the agent's words, to whoever writes, is refused itself (XA10)")
def _(world):
    with rules(world, 'require "reject"; reject "The limit is 40,000.";') as host:
        host.deliver(NORA, letter(OWNER, sender=NORA))
        world.host.wait_empty()
        until(lambda: NOT_PASSED in world.host.read_log())
    assert world.sink.messages() == []


@story("What a rule hands to the sendmail program is refused as well (XA10)")
def _(world):
    with rules(world, f'redirect "{MALLORY}";', program="/usr/sbin/sendmail") as host:
        host.stop()
        # That program takes no other folder than the default one from who is not root.
        host.prefix = ["unshare", "-m", "sh", "-c",
                       'mount --bind "$1" /etc/postfix && shift && exec "$@"', "sh",
                       world.host.config]
        host.restart()
        host.deliver(NORA, letter(OWNER, sender=NORA))
        until(lambda: NOT_PASSED in world.host.read_log())
        world.host.wait_empty()
    # Nora is told that her message did not get that far.
    assert all(message.recipients == [NORA] for message in world.sink.messages())


@story("A rule that only sorts does its work")
def _(world):
    with rules(world, 'require "fileinto"; fileinto "Sent";') as host:
        host.deliver(NORA, letter(OWNER, sender=NORA))
        assert host.inbox() == 0 and len(host.look("Sent")) == 1


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World(POLICY, host={"more": OPEN})))
