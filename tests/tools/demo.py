"""The story behind contrib/quickstart: a human, an agent, and mail that leaves or does not.

    demo.py            play it and go on running in the background
    demo.py --once     play it, compare what the sink holds with what it should, stop
    demo.py stop       end the one in the background

The one in the background holds a lock on LOCK, which also names its process."""

import fcntl
import os
import signal
import stat
import sys
import time

from gate import APPROVER
from mailhost import PASSWORD
from world import World, end_on_signals

LOCK = "/run/exeat-quickstart.lock"
STOP_SECONDS = 60
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
POLICY = os.path.join(SOURCE, "contrib", "policies", "standard")

OWNER, AGENT = "owner@example.com", "agent@example.com"
DANA, NORA, STRANGER = "dana@example.com", "nora@example.org", "sales@example.net"
# What the world has to have received at the end: recipient, subject, sender of the envelope.
EXPECTED = [
    (DANA, "Delivery on Thursday", OWNER),
    (NORA, "Delivery on Thursday", OWNER),
    (DANA, "Lunch at one", AGENT),
    (STRANGER, "Your price list", AGENT),
]


def message(recipients, subject, text, more=()):
    """A small message in the owner's name."""
    head = [f"From: Olivia Park <{OWNER}>", f"To: {', '.join(recipients)}",
            f"Subject: {subject}", *more, "MIME-Version: 1.0",
            "Content-Type: text/plain; charset=utf-8"]
    return "\r\n".join([*head, "", text, ""]).encode()


def say(text):
    print(text, flush=True)


class Story:
    """One run, step by step, in a World. failed: a step did not come out as it should."""

    def __init__(self, world):
        self.world = world
        self.failed = False

    def check(self, good, complaint):
        if not good:
            self.failed = True
            say(f"    NOT AS IT SHOULD BE: {complaint}")

    def send(self, title, login, recipients, subject, text, more=()):
        """Sends one message and tells what became of it."""
        say(f"\n* {title}")
        gate = self.world.gate
        known = {item["id"] for item in gate.items(everything=True)}
        reply = self.world.submit(login, recipients, message(recipients, subject, text, more))
        self.check(reply.ok, f"the server answers {reply}")
        new = [item for item in gate.items(everything=True) if item["id"] not in known]
        for item in new:
            say(f"  {item['tier']}: {item['reason']}")
        return new[0] if new else None

    def submit_all(self):
        """The human's mail, then four of the agent's; the items of the four."""
        self.send("The human writes to a colleague and to a customer.", OWNER, [DANA, NORA],
                  "Delivery on Thursday", "Does Thursday suit you?",
                  ["Message-ID: <thursday@example.com>"])
        answer = self.send("The agent answers the customer in that conversation.", AGENT,
                           [NORA], "Re: Delivery on Thursday", "We come at nine.",
                           ["In-Reply-To: <thursday@example.com>",
                            "References: <thursday@example.com>"])
        lunch = self.send("The agent writes to the colleague.", AGENT, [DANA], "Lunch at one",
                          "Olivia will be at the Italian place at one.")
        prices = self.send("The agent writes to somebody the human has never written to.",
                           AGENT, [STRANGER], "Your price list", "Please send your prices.")
        forged = self.send("The agent does it again, and claims that it was approved.", AGENT,
                           [STRANGER], "Your price list, again",
                           "The owner has approved this.", ["X-Approved: yes"])
        found = [item and item["tier"] for item in (answer, lunch, prices, forged)]
        self.check(found == ["delay", "release", "hold", "hold"],
                   f"expected delay, release, hold, hold; found {found}")
        return prices

    def run(self, *arguments):
        """Runs exeat as the approver, in full view."""
        say(f"\n$ exeat {' '.join(arguments)}")
        done = self.world.gate.command(*arguments)
        say((done.stdout + done.stderr).rstrip())
        self.check(done.returncode == 0, f"exeat ends with status {done.returncode}")

    def show_sink(self, title):
        self.world.host.wait_empty()
        say(f"\n{title}")
        for recipient, subject, sender in self.received():
            say(f"  to {recipient:20} from {sender:20} {subject}")

    def received(self):
        return [(recipient, got.field("Subject")[0], got.sender)
                for got in self.world.sink.messages() for recipient in got.recipients]

    def play(self):
        """The whole story. TRUE when all came out as it should."""
        prices = self.submit_all()
        if prices is None:
            return False
        self.show_sink("The world has received:")
        self.run("list")
        self.run("show", prices["id"])
        self.run("approve", prices["id"], self.world.gate.show(prices["id"])["digest"][:12])
        state = self.world.gate.wait_state(prices["id"], "sent", "failed", "uncertain")
        self.check(state == "sent", f"the approved message is {state}")
        self.show_sink("Now the world has received:")
        self.run("list")
        self.check(sorted(self.received()) == sorted(EXPECTED),
                   f"the sink should hold {sorted(EXPECTED)}")
        self.check(not any(b"X-Exeat" in got.head for got in self.world.sink.messages()),
                   "a header of the gate's own has left the house")
        return not self.failed


def write_command(world):
    """A command that runs exeat as the approver."""
    path = os.path.join(world.folder, "exeat")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n"
                   f"exec setpriv --reuid {APPROVER} --regid {APPROVER} --clear-groups "
                   f"{world.gate.bin}/exeat -c {world.gate.config} \"$@\"\n")
    os.chmod(path, stat.S_IRWXU)
    return path


def tell_what_next(world):
    say(f"""
It goes on running, all of it in {world.folder}. Try next:

  {write_command(world)} list
      as the approver; show, approve ID DIGEST, reject ID REASON, veto ID, history ADDRESS
  printf 'From: {OWNER}\\nSubject: Hello\\n\\nHello!\\n' | \\
    python3 {HERE}/smtpclient.py 127.0.0.1:{world.host.submission} \\
      --login {AGENT}:{PASSWORD} --from {AGENT} --rcpt you@example.net
      as the agent
  ls {world.folder}/sink
      what the world has received
  less {world.gate.config} {world.gate.etc}/policy
      the rules; kill -HUP {world.gate.relay.process.pid} makes the relay read them again

  {SOURCE}/contrib/quickstart stop
      ends it and removes everything""")


def read_policy():
    with open(POLICY, encoding="utf-8") as file:
        return file.read()


def play_once():
    with World(read_policy()) as world:
        good = Story(world).play()
        if not good:
            say(world.logs())
    say("\nAll came out as it should." if good else "\nSomething did not, see above.")
    return 0 if good else 1


def open_lock():
    return os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)


def take(lock):
    """TRUE when the lock is ours now."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def keep_running():
    """Plays the story in a child that stays, and comes back when the story is told."""
    told, tell = os.pipe()
    if os.fork() != 0:
        os.close(tell)
        return 0 if os.read(told, 1) == b"1" else 1
    os.setsid()
    lock = open_lock()
    if not take(lock):
        sys.exit("quickstart: one runs already; contrib/quickstart stop ends it")
    os.ftruncate(lock, 0)
    os.write(lock, str(os.getpid()).encode())
    with World(read_policy()) as world:
        good = Story(world).play()
        tell_what_next(world)
        os.write(tell, b"1" if good else b"0")
        os.close(tell)
        silence()
        signal.pause()
    return 0


def silence():
    """Leaves the terminal to the user."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)


def stop():
    lock = open_lock()
    if take(lock):
        os.unlink(LOCK)
        say("No quickstart is running.")
        return 1
    os.kill(int(os.read(lock, 20)), signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while not take(lock):
        if time.monotonic() > deadline:
            sys.exit("quickstart: it does not end")
        time.sleep(0.1)
    os.unlink(LOCK)
    say("Stopped, and everything removed.")
    return 0


def main():
    end_on_signals()
    return {"--once": play_once, "stop": stop, "": keep_running}[" ".join(sys.argv[1:])]()


if __name__ == "__main__":
    sys.exit(main())
