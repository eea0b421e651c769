"""The programs under test: configuration, the two daemons as users of their own, the command.

The programs are taken from $EXEAT_BUILD, the current folder or its _build. They are copied,
since their users may not be able to enter the folder they were built in. All users are bare
numbers that no user database knows; several tests may use them at once, in folders of their
own."""

import grp
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

from mailhost import can_connect
from story import PATIENCE, Skip, pause, until

RELAY, MILTER, APPROVER, SECOND_APPROVER, AGENT, STRANGER, ADMIN = range(61001, 61008)
PROGRAMS = ("exeat", "exeat-milter", "exeat-relay")
CLOCK = "clock.so"  # built from clock.c
SHIMS = (CLOCK, "killer.so", "fault.so", "burglar.so", "threads.so")
CLOCK_JITTER = 65  # seconds that the relay lets its clock go back, and a few for the test

ACCOUNT = {
    "addresses": "owner@example.com",
    "human-logins": "owner@example.com",
    "agent-logins": "agent@example.com",
    "agent-users": str(AGENT),
    "senders": "agent@example.com, owner@example.com",
    "internal-domains": "example.com",
    "approvers": f"{APPROVER}, {SECOND_APPROVER}",
    "mode": "hybrid",
    "policy": "policy",
}


class MissingPrograms(Exception):
    """The programs are not built."""


def find_build():
    """The folder with the built programs."""
    places = [os.environ.get("EXEAT_BUILD"), os.getcwd(), os.path.join(os.getcwd(), "_build")]
    for place in places:
        if place and all(os.access(os.path.join(place, name), os.X_OK) for name in PROGRAMS):
            return place
    raise MissingPrograms(f"{', '.join(PROGRAMS)}: not built here; build them first, or set "
                          "EXEAT_BUILD to the folder that has them")


def need_mount():
    """A Skip where nobody may mount."""
    tried = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
                           capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        raise Skip(f"a file system cannot be mounted here: {tried.stderr.strip()}")


class Daemon:
    """One running daemon. Its messages are appended to NAME.log in the folder."""

    def __init__(self, folder, name, arguments, uid, gid, groups):
        self.name = name
        self.log = os.path.join(folder, name + ".log")
        self.arguments = arguments
        self.identity = {"user": uid, "group": gid, "extra_groups": groups}
        self.environment = {}
        self.notify = os.path.join(folder, name + ".notify")
        self.process = None
        self.starting = threading.Lock()

    def start(self):
        """Starts it and waits until it says that it is ready (sd_notify(3))."""
        with self.starting, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
            if os.path.exists(self.notify):
                os.unlink(self.notify)
            listener.bind(self.notify)
            os.chmod(self.notify, 0o666)
            with open(self.log, "ab") as log:
                self.process = subprocess.Popen(
                    self.arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                    env=environment(NOTIFY_SOCKET=self.notify, **self.environment), **self.identity)
            self._wait_ready(listener)

    def _wait_ready(self, listener):
        deadline = time.monotonic() + PATIENCE
        listener.settimeout(0.05)
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                if b"READY=1" in listener.recv(4096):
                    return
            except TimeoutError:
                pass
        self.kill()
        raise RuntimeError(f"{self.name} does not get ready:\n{self.read_log()}")

    def stop(self, knock=None):
        """Ends it as a service manager would. Returns the exit status. knock: a socket that is
        called until it has ended."""
        if self.process is None:
            return None
        self.process.terminate()
        try:
            if knock:
                self._knock(knock)
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise RuntimeError(f"{self.name} ignores SIGTERM:\n{self.read_log()}") from None
        self.process = None
        return status

    def _knock(self, path):
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            can_connect(path)
            time.sleep(0.05)

    def kill(self):
        """Ends it as a power failure would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def signal(self, number):
        """One that is starting gets it when it is ready: before its first line, any ends it."""
        with self.starting:
            self.process.send_signal(number)

    def read_log(self):
        if not os.path.exists(self.log):
            return ""
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()


def environment(**more):
    """What the programs find in their environment: of ours, only the sanitizers' options, and
    with them that GLib hides no leak in slices of its own."""
    kept = {name: os.environ[name] for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS",
                                                "UBSAN_OPTIONS", "G_SLICE") if name in os.environ}
    return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", **kept, **more}


class Gate:
    """Both daemons beside a MailHost. Nothing runs before start."""

    def __init__(self, folder, host, build=None):
        self.folder = folder
        self.host = host
        self.environment = {}  # for commands
        self.bin = os.path.join(folder, "bin")
        self.etc = os.path.join(folder, "etc")
        self.state = os.path.join(folder, "state")
        self.config = os.path.join(self.etc, "exeat.conf")
        self.socket = os.path.join(folder, "run", "relay.sock")
        self.milter_socket = os.path.join(host.queue, "exeat", "milter")
        self._copy_programs(build or find_build())
        self._make_folders()
        postfix = grp.getgrnam("postfix").gr_gid
        postdrop = grp.getgrnam("postdrop").gr_gid
        self.relay = Daemon(folder, "exeat-relay",
                            [os.path.join(self.bin, "exeat-relay"), "-c", self.config],
                            RELAY, RELAY, [postdrop])
        self.milter = Daemon(folder, "exeat-milter",
                             [os.path.join(self.bin, "exeat-milter"), "-c", self.config],
                             MILTER, postfix, [])
        self.clock_file = os.path.join(folder, "clock")
        self.moved = self.wrong = 0
        if os.path.exists(os.path.join(self.bin, CLOCK)):
            self.load(self.relay, CLOCK, EXEAT_TEST_CLOCK=self.clock_file)

    def load(self, daemon, shim, **environ):
        """From its next start on, a daemon runs with one of the SHIMS."""
        path = os.path.join(self.bin, shim)
        if not os.path.exists(path):
            raise MissingPrograms(f"{shim}: not built; make check builds it")
        loaded = daemon.environment.get("LD_PRELOAD", "").split()
        daemon.environment = {**daemon.environment, **environ,
                              "LD_PRELOAD": " ".join([*loaded, path])}

    def clock(self, seconds, wrong=0):
        """Moves the relay's clock to so many seconds from the real time, as if they had passed.
        wrong: seconds by which somebody has set it wrong beside that."""
        if not self.relay.environment:
            raise MissingPrograms(f"{CLOCK}: not built; make check builds it")
        with open(self.clock_file + ".new", "w", encoding="ascii") as file:
            file.write(f"{seconds} {wrong}")
        os.chmod(self.clock_file + ".new", 0o644)
        os.rename(self.clock_file + ".new", self.clock_file)
        back = seconds + wrong < self.moved + self.wrong
        self.moved, self.wrong = seconds, wrong
        if back and self.relay.process is not None:
            self._wait_clock()

    def seen(self):
        """The latest time that the relay has noted."""
        with open(os.path.join(self.state, "audit.head"), encoding="ascii") as file:
            return int(file.read().split()[2])

    def _wait_clock(self):
        """Waits until the relay has noticed that its clock went back: until then it sends
        nothing, and what is approved meanwhile is void."""
        deadline = time.monotonic() + PATIENCE
        while self.seen() > time.time() + self.moved + self.wrong + CLOCK_JITTER:
            if time.monotonic() > deadline:
                raise RuntimeError(f"the clock is not noticed:\n{self.relay.read_log()}")
            time.sleep(0.02)

    def on_small_disk(self, size, daemon=None, folder=None, inodes=0):
        """From its next start on, a folder is for a daemon a file system of that size of its
        own, which ends with the daemon; by default the relay's state folder. inodes: how many
        it has, 0 for any number."""
        need_mount()
        daemon, folder = daemon or self.relay, folder or self.state
        uid, gid = daemon.identity["user"], daemon.identity["group"]
        script = ('mount -t tmpfs -o "$1" tmpfs "$2" && id=$3 && shift 3 && '
                  'exec setpriv $id "$@"')
        groups = ",".join(str(group) for group in daemon.identity["extra_groups"])
        daemon.arguments = [
            "unshare", "-m", "sh", "-c", script, "sh",
            f"size={size},mode=700,uid={uid},gid={gid},nr_inodes={inodes}", folder,
            f"--reuid {uid} --regid {gid} " + (f"--groups {groups}" if groups else "--clear-groups"),
            *daemon.arguments]
        daemon.identity = {}

    def cut_off(self):
        """From their next start on, the daemons have no network, not even the loopback."""
        for daemon in (self.relay, self.milter):
            user, group = daemon.identity["user"], daemon.identity["group"]
            groups = ",".join(str(more) for more in daemon.identity["extra_groups"] or [group])
            daemon.arguments = ["unshare", "-n", "setpriv", "--reuid", str(user), "--regid",
                                str(group), "--groups", groups, *daemon.arguments]
            daemon.identity = {}

    def inside(self, daemon, path):
        """A path as a daemon with a file system of its own sees it."""
        return f"/proc/{daemon.process.pid}/root{path}"

    def _copy_programs(self, build):
        os.makedirs(self.bin, exist_ok=True)
        for name in PROGRAMS:
            shutil.copy(os.path.join(build, name), self.bin)
            os.chmod(os.path.join(self.bin, name), 0o755)
        # Only "make check" builds them; cases and quickstart do without.
        for name in SHIMS:
            shim = os.path.join(build, "tests", "tools", name)
            if os.path.exists(shim):
                shutil.copy(shim, self.bin)

    def _make_folders(self):
        os.makedirs(self.etc, exist_ok=True)
        postfix = grp.getgrnam("postfix").gr_gid
        for path, uid, gid, mode in (
                (self.state, RELAY, RELAY, 0o700),
                (os.path.dirname(self.socket), RELAY, RELAY, 0o755),
                (os.path.join(self.folder, "spool"), MILTER, postfix, 0o700),
                (os.path.dirname(self.milter_socket), MILTER, postfix, 0o2750)):
            os.makedirs(path, exist_ok=True)
            os.chown(path, uid, gid)
            os.chmod(path, mode)

    def configure(self, policy, account=None, settings=None, more=""):
        """Writes exeat.conf and the policy. account and settings: keys that differ from the
        usual ones, None to leave a key out. more: further groups as text."""
        general = {"state": self.state, "relay-socket": self.socket,
                   "milter-socket": f"unix:{self.milter_socket}", "milter-user": str(MILTER),
                   "spool": os.path.join(self.folder, "spool"),
                   "next-hop": f"unix:{self.host.door}", "inside": "127.0.0.1/32, ::1/128",
                   "hour-limit": "1000000", "day-limit": "1000000",
                   "record-limit": "100G",
                   "admins": str(ADMIN), **(settings or {})}
        lines = ["[exeat]", *setting_lines(general),
                 "[account owner]", *setting_lines({**ACCOUNT, **(account or {})}), more]
        self.write("policy", policy)
        self.write("exeat.conf", "\n".join(lines) + "\n")

    def write(self, name, text, mode=0o644):
        """Puts a file beside exeat.conf, in one step."""
        path = os.path.join(self.etc, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path + ".new", mode)
        os.rename(path + ".new", path)

    def start(self):
        self.relay.start()
        self.milter.start()

    def stop(self):
        # Every five seconds libmilter looks whether it shall end, and whenever somebody calls.
        self.milter.stop(knock=self.milter_socket)
        self.relay.stop()

    def kill(self):
        self.milter.kill()
        self.relay.kill()

    def restart_relay(self, fresh=False):
        """Stops and starts the relay. fresh: it finds an empty state folder."""
        self.relay.stop()
        if fresh:
            self.empty_state()
        self.relay.start()

    def empty_state(self):
        """Makes the relay's state folder as it is before its first start."""
        shutil.rmtree(self.state)
        self._make_folders()

    def reload(self):
        """Makes the relay read its files again, and waits until it has said what came of it."""
        before = self._reloads()
        self.relay.signal(signal.SIGHUP)
        until(lambda: self._reloads() > before)

    def _reloads(self):
        log = self.relay.read_log()
        return log.count("exeat.conf again") + log.count("stays in force")

    def command(self, *arguments, uid=APPROVER, gid=None, groups=()):
        """Runs exeat as a user: the finished process, with text in stdout and stderr. gid: its
        primary group, else the number of the user."""
        return subprocess.run([os.path.join(self.bin, "exeat"), "-c", self.config, *arguments],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="surrogateescape", cwd="/",
                              env=environment(**self.environment),
                              check=False, user=uid, group=uid if gid is None else gid,
                              extra_groups=list(groups))

    def answer(self, *arguments, uid=APPROVER):
        """Runs exeat with --json and returns what it says. A refusal is a RuntimeError."""
        done = self.command(*arguments, "--json", uid=uid)
        if done.returncode != 0:
            raise RuntimeError(f"exeat {' '.join(arguments)}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def turns_away(self, uid):
        """Whether the relay has read that a user has no right any more. It says so before it
        wants the database, which somebody may have locked."""
        threading.Thread(target=self.command, args=("list",), kwargs={"uid": uid}).start()
        return f"uid {uid} may not ask for list" in self.relay.read_log()

    def items(self, everything=False):
        """What waits; or every item there is."""
        return self.answer("list", *(["--all"] if everything else []))["items"]

    def show(self, item):
        return self.answer("show", item)

    def approve(self, item):
        """Approves what show shows."""
        return self.answer("approve", item, self.show(item)["digest"])

    def wait_state(self, item, *states, seconds=PATIENCE):
        """Waits until an item is in one of the states and returns the state it is in then."""
        begin = time.monotonic()
        while True:
            state = self.show(item)["state"]
            if state in states or time.monotonic() > begin + seconds:
                return state
            pause(begin)


def setting_lines(settings):
    return [f"{key} = {value}" for key, value in settings.items() if value is not None]
