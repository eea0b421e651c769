"""What is compared, side by side: one Postfix with a way in for each milter, the gate with an
account for each connection, and the clients that press."""

import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time

from gate import MILTER, Gate, environment
from mailhost import MailHost, free_port

ACCOUNTS = 32  # a connection has one of its own: load.h, LOAD_ACCOUNTS
TICKS = os.sysconf("SC_CLK_TCK")
PASSWORD = "secret"
# Of each kind: how many accounts, and their policy.
KINDS = {"release": (ACCOUNTS, 'release "all" if recipients > 0\n'),
         "hold": (ACCOUNTS, 'hold "all" if recipients > 0\n'),
         "delay": (1, 'delay 1s-1s "all" if recipients > 0\n'),
         "soon": (4, 'delay 12s-12s "all" if recipients > 0\n')}
SOON = 12  # seconds
LIMITS = {"waiting-limit": "1000000", "store-limit": "1000G"}
FREE_SENDERS = "free#@example.net"
TO = "reader#@example.org"

DISCARD = """
default_transport = discard:
relay_transport = discard:
relayhost =
smtpd_client_connection_rate_limit = 0
smtpd_client_message_rate_limit = 0
default_process_limit = 200
smtpd_timeout = 600s
"""


def agents(kind):
    return f"{kind}#@example.com"


def accounts():
    """Groups of exeat.conf: an account for each connection and kind."""
    groups = []
    for kind, (count, _) in KINDS.items():
        for number in range(count):
            name = f"{kind}{number}"
            groups.append(f"""
[account {name}]
addresses = human-{name}@example.com
human-logins = human-{name}@example.com
agent-logins = {name}@example.com
senders = {name}@example.com
internal-domains = example.com
approvers = 61003
mode = hybrid
policy = policy-{kind}
""")
    return "".join(groups)


def logins():
    return {**{f"{kind}{number}@example.com": [f"{kind}{number}@example.com"]
               for kind, (count, _) in KINDS.items() for number in range(count)},
            **{f"free{number}@example.net": [f"free{number}@example.net"]
               for number in range(ACCOUNTS)}}


class Nowhere:
    """Stands for a mail server that nobody talks to."""

    def __init__(self, folder):
        self.queue = os.path.join(folder, "queue")
        self.door = os.path.join(folder, "door")


class Folder:
    """A temporary folder that other users may enter."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="exeat-bench-")
        os.chmod(self.path, 0o755)
        place = os.path.join(self.path, "open")  # for the sockets of anybody
        os.mkdir(place)
        os.chmod(place, 0o777)
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def make_gate(folder, host, build, **settings):
    """The gate with its accounts, not yet started, on the wall's clock."""
    gate = Gate(folder, host, build)
    gate.relay.environment = {}
    gate.configure('hold "all" if recipients > 0\n', settings={**LIMITS, **settings}, more=accounts())
    for kind, (_, policy) in KINDS.items():
        gate.write(f"policy-{kind}", policy)
    return gate


class Bench(MailHost):
    """Postfix with one more submission service for each milter: ways is a table of name and
    milter, "" for none. What it takes, it throws away: delivery costs all the same."""

    def __init__(self, folder, ways, sink_port=9, more=DISCARD):
        super().__init__(folder, sink_port, logins=logins(), more=more)
        self.ways = ways
        self.ports = {name: free_port() for name in ways}

    def configure(self):
        super().configure()
        with open(os.path.join(self.config, "master.cf"), "a", encoding="utf-8") as file:
            for name, milter in self.ways.items():
                file.write(f"127.0.0.1:{self.ports[name]} inet n - n - - smtpd\n"
                           f"  -o smtpd_milters={milter}\n"
                           "  -o smtpd_sasl_auth_enable=yes\n"
                           "  -o smtpd_relay_restrictions=permit_sasl_authenticated,reject\n")
        os.utime(os.path.join(self.config, "master.cf"), (0, 0))

    def address(self, way):
        return f"127.0.0.1:{self.ports[way]}"

    def drain(self):
        """Waits until nothing is under way, and throws away what is held."""
        hold = os.path.join(self.queue, "hold")
        for folder, _, files in os.walk(hold):
            for name in files:
                os.unlink(os.path.join(folder, name))
        self.wait_empty(60)


class Program:
    """A helper that is started, watched for its sockets and ended."""

    def __init__(self, command, sockets, seconds=20, **more):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                        start_new_session=True, **more)
        deadline = time.monotonic() + seconds
        while not all(os.path.exists(path) for path in sockets):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"{command[0]} does not start")
            time.sleep(0.05)
        time.sleep(0.2)

    def stop(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                pass
            if number == signal.SIGTERM:
                try:
                    self.process.wait(3)
                except subprocess.TimeoutExpired:
                    pass
        self.process.wait()


def processor_seconds(pids):
    """Used so far by processes, their ended children left out."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            words = file.read().rpartition(")")[2].split()
        total += int(words[11]) + int(words[12])
    return total / TICKS


class Load:
    """The clients that press. Results are dictionaries: messages, seconds, rate, p50_us, p99_us;
    with pids also cpu_us, their processor time for each message."""

    def __init__(self, build):
        self.folder = os.path.join(build, "tests", "bench")

    def _run(self, program, options, pids):
        before = processor_seconds(pids)
        done = subprocess.run([os.path.join(self.folder, program), *options], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{program} {' '.join(options)}: {done.stderr.strip()}")
        used = processor_seconds(pids) - before
        found = {key: float(value) for key, value in re.findall(r"(\w+)=([\d.]+)", done.stdout)}
        found["rate"] = found["messages"] / found["seconds"] if found["seconds"] else 0
        found["cpu_us"] = 1e6 * used / found["messages"] if found["messages"] else 0
        return found

    def smtp(self, address, size, connections, seconds, senders, recipients=1, login=True,
             pids=(), most=0):
        options = [f"--to={address}", f"--size={size}", f"--connections={connections}",
                   f"--seconds={seconds}", f"--sender={senders}", f"--recipient={TO}",
                   f"--recipients={recipients}", f"--most={most}"]
        if login:
            options += [f"--login={senders}", f"--password={PASSWORD}"]
        return self._run("smtp-load", options, pids)

    def milter(self, address, size, connections, seconds, senders, pids=(), most=0,
               trouble=False):
        """trouble: a message that is to come again later is an answer, too."""
        return self._run("milter-load", (["--trouble"] if trouble else []) + [
            f"--to={address}", f"--size={size}", f"--connections={connections}",
            f"--seconds={seconds}", f"--sender={senders}", f"--login={senders}",
            f"--recipient={TO}", f"--most={most}"], pids)

    def commit(self, folder, size, batch, seconds, shim=None):
        """Bare SQLite group commit, in a folder of its own."""
        with tempfile.TemporaryDirectory(dir=folder) as place:
            more = {"LD_PRELOAD": shim} if shim else {}
            done = subprocess.run([os.path.join(self.folder, "group-commit"), place,
                                   str(seconds), str(size), str(batch)], check=True,
                                  stdout=subprocess.PIPE, text=True, env=environment(**more))
        found = {key: float(value) for key, value in re.findall(r"(\w+)=([\d.]+)", done.stdout)}
        return {"rate": found["messages"] / found["seconds"]}


def rounds(count, contenders, after=lambda: None):
    """Runs each contender once a round, in an order drawn anew. contenders: a table of name and
    function. Returns lists of what they gave, by name."""
    found = {name: [] for name in contenders}
    for _ in range(count):
        for name in random.sample(list(contenders), len(contenders)):
            found[name].append(contenders[name]())
            after()
    return found


def nothing(build, path, *words):
    return Program([os.path.join(build, "tests", "bench", "nothing-milter"), f"unix:{path}"
                    if path.startswith("/") else path, *words],
                   [path] if path.startswith("/") else [], user=MILTER,
                   cwd="/", env=environment())
