"""A private Postfix for tests: own folders, loopback, free ports, real SASL logins.

It has three ways in, all with the gate's milter:
    submission   logins only (PLAIN, Cyrus SASL with a database of its own)
    plain        the port 25 of the place: takes mail for the inside domains from anybody
    door         a unix socket in the queue's public folder, for the relay
and one way out: everything goes to the given port, the sink. The system's own Postfix and its
files are not touched. Needs root, and the user and group that the Debian package creates.

    with MailHost(folder, sink.port) as host: ...

The folder's name has to be short (unix socket paths end at 107 bytes), and other users must be
able to enter it."""

import functools
import grp
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from group import end_group
from story import PATIENCE

DOOR = "exeat"
PASSWORD = "secret"
# Login, and the envelope senders it may use. The same login in other case is its own entry for
# Cyrus, which compares letters as they are.
LOGINS = {
    "owner@example.com": ["owner@example.com"],
    "agent@example.com": ["agent@example.com", "owner@example.com"],
    "Agent@EXAMPLE.com": [],
    "other@example.com": ["other@example.com"],
}
CONNECT_SECONDS = 5
PORTS = range(10000, 32768)  # below those that the kernel gives whoever wants any
RESERVED = []  # until the test ends

MAIN_CF = """\
compatibility_level = 3.6
queue_directory = {queue}
data_directory = {folder}/data
maillog_file = {log}
maillog_file_prefixes = {folder}
myhostname = mx.example.com
myorigin = example.com
mydestination =
relay_domains = {inside}
local_transport = error:no mailboxes here
local_recipient_maps =
alias_maps =
alias_database =
relayhost = [127.0.0.1]:{sink}
mynetworks = 127.0.0.1/32
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
disable_dns_lookups = yes
smtp_host_lookup = native
smtputf8_enable = yes
biff = no
append_dot_mydomain = no

smtpd_milters = {milter}
non_smtpd_milters = $smtpd_milters
milter_default_action = tempfail
milter_protocol = 6
milter_connect_timeout = 60s
milter_command_timeout = 60s
milter_content_timeout = 300s

smtpd_relay_restrictions = permit_sasl_authenticated, reject_unauth_destination
smtpd_sender_login_maps = inline:{{ {senders} }}
smtpd_authorized_xclient_hosts =
smtpd_authorized_xforward_hosts =
smtpd_forbid_bare_newline = yes
smtpd_forbid_bare_newline_exclusions =
message_reject_characters = \\0
smtpd_recipient_limit = 1000
local_header_rewrite_clients =
authorized_submit_users = {submitters}
message_size_limit = 100000000
cyrus_sasl_config_path = {folder}/postfix/sasl

smtpd_error_sleep_time = 0
smtpd_hard_error_limit = 1000
smtpd_client_connection_count_limit = 0
in_flow_delay = 0
queue_run_delay = 1s
minimal_backoff_time = 1s
maximal_backoff_time = 2s
{more}
"""

MASTER_CF = """\
127.0.0.1:{plain} inet n - {chroot} - - smtpd
127.0.0.1:{submission} inet n - {chroot} - - smtpd
  -o smtpd_sasl_auth_enable=yes
  -o smtpd_relay_restrictions=permit_sasl_authenticated,reject
  -o smtpd_sender_restrictions=reject_sender_login_mismatch
  -o milter_macro_daemon_name=SUBMISSION
{door} unix n - n - - smtpd
  -o smtpd_relay_restrictions=permit_mynetworks,reject
  -o smtpd_sender_restrictions=
  -o receive_override_options=no_header_body_checks
  -o milter_macro_daemon_name=DOOR
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
scache unix - - n - 1 scache
anvil unix - - n - 1 anvil
tlsmgr unix - - n 1000? 1 tlsmgr
postlog unix-dgram n - n - 1 postlogd
"""

# Queue folders as "postfix check" makes them: name, owner, group, mode.
QUEUE = [(name, "postfix", "root", 0o700)
         for name in ("active", "bounce", "corrupt", "defer", "deferred", "flush", "hold",
                      "incoming", "private", "saved", "trace")]
QUEUE += [("maildrop", "postfix", "postdrop", 0o1730),
          ("public", "postfix", "postdrop", 0o2710), ("pid", "root", "root", 0o755)]


@functools.cache
def login_database(logins):
    """What a sasldb2 with these logins holds."""
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "sasldb2")
        for login in logins:
            user, _, realm = login.partition("@")
            subprocess.run(["saslpasswd2", "-p", "-c", "-f", database, "-u", realm, user],
                           input=PASSWORD.encode(), check=True, capture_output=True)
        with open(database, "rb") as file:
            return file.read()


@functools.cache
def daemon_directory():
    """Where Postfix keeps its daemons; no main.cf of ours says so."""
    return subprocess.run(["postconf", "-d", "-h", "daemon_directory"], check=True,
                          capture_output=True, text=True).stdout.strip()


def free_port():
    """A loopback port that nobody listens on now, and that no other test is given before this
    one has ended: a name in the network's abstract namespace stands for it (unix(7))."""
    while True:
        port = random.choice(PORTS)
        name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            name.bind(f"\0exeat-test-port-{port}")
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            name.close()
            continue
        RESERVED.append(name)
        return port


class MailHost:
    """See the head of this file. milter: where Postfix finds the gate; a relative unix path
    lies below the queue folder, so it is the same with and without chroot. no_submit: users
    whom local sendmail is closed to. more: further main.cf lines."""

    def __init__(self, folder, sink_port, milter="unix:exeat/milter", logins=None,
                 inside=("example.com",), chroot=False, no_submit=(), more=""):
        self.folder = folder
        self.queue = os.path.join(folder, "queue")
        self.config = os.path.join(folder, "postfix")
        self.log = os.path.join(folder, "maillog")
        self.door = os.path.join(self.queue, "public", DOOR)
        self.milter = milter
        self.sink_port = sink_port
        self.logins = LOGINS if logins is None else logins
        self.inside = inside
        self.chroot = chroot
        self.no_submit = no_submit
        self.more = more
        self.master = None
        self.plain = self.submission = None
        self.logged = 0

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def start(self):
        if os.geteuid() != 0:
            raise PermissionError("a private Postfix can only be started by root")
        self._make_folders()
        self._make_logins()
        for _ in range(3):
            self.plain, self.submission = free_port(), free_port()
            self.configure()
            self._start_master()
            if self._answers():
                return self
            # Somebody else may have taken a port between our look and Postfix's.
            self.stop()
        raise RuntimeError(f"Postfix does not start:\n{self.read_log()}")

    def _make_folders(self):
        os.makedirs(self.config, exist_ok=True)
        os.makedirs(self.queue, exist_ok=True)
        data = os.path.join(self.folder, "data")
        os.makedirs(data, mode=0o700, exist_ok=True)
        shutil.chown(data, "postfix", "root")
        for name, user, group, mode in QUEUE:
            path = os.path.join(self.queue, name)
            os.makedirs(path, exist_ok=True)
            os.chown(path, pwd.getpwnam(user).pw_uid, grp.getgrnam(group).gr_gid)
            os.chmod(path, mode)

    def _make_logins(self):
        # Debian's Postfix looks below its configuration folder, others where they are told to.
        folder = os.path.join(self.config, "sasl")
        database = os.path.join(folder, "sasldb2")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "smtpd.conf"), "w", encoding="utf-8") as file:
            file.write("pwcheck_method: auxprop\nauxprop_plugin: sasldb\n"
                       f"mech_list: PLAIN LOGIN\nsasldb_path: {database}\n")
        if self.logins:
            with open(database, "wb") as file:
                file.write(login_database(tuple(self.logins)))
            shutil.chown(database, "root", "postfix")
            os.chmod(database, 0o640)
        if self.chroot:
            # smtpd opens the database after it has locked itself into the queue folder.
            inner = self.queue + folder
            os.makedirs(inner, exist_ok=True)
            shutil.copy2(database, inner)
            shutil.chown(os.path.join(inner, "sasldb2"), "root", "postfix")

    def configure(self):
        """Writes main.cf and master.cf; after a change of the attributes, reload follows."""
        owners = {}
        for login, senders in self.logins.items():
            for sender in senders:
                owners.setdefault(sender, []).append(login)
        senders = ", ".join(f"{{ {sender} = {' '.join(logins)} }}"
                            for sender, logins in owners.items())
        submitters = ", ".join([f"!{user}" for user in self.no_submit] + ["static:all"])
        values = {"folder": self.folder, "queue": self.queue, "log": self.log,
                  "sink": self.sink_port, "milter": self.milter, "senders": senders,
                  "inside": ", ".join(self.inside), "submitters": submitters,
                  "more": self.more}
        self._write("main.cf", MAIN_CF.format(**values))
        self._write("master.cf", MASTER_CF.format(
            plain=self.plain, submission=self.submission, door=DOOR,
            chroot="y" if self.chroot else "n"))

    def _write(self, name, text):
        path = os.path.join(self.config, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        # Postfix programs wait until main.cf is two seconds old, lest they read half of it.
        os.utime(path + ".new", (0, 0))
        os.rename(path + ".new", path)

    def _log_size(self):
        return os.path.getsize(self.log) if os.path.exists(self.log) else 0

    def _start_master(self):
        # master itself, not "postfix start": that script checks and repairs much first.
        # -d keeps it in the foreground, the new session makes it a process group of its own.
        program = os.path.join(daemon_directory(), "master")
        self.logged = self._log_size()
        with open(os.path.join(self.folder, "master.err"), "ab") as errors:
            self.master = subprocess.Popen([program, "-c", self.config, "-d"],
                                           stdin=subprocess.DEVNULL, stdout=errors,
                                           stderr=errors, start_new_session=True)

    def _answers(self):
        """Waits until it writes its log, then until every door is open. FALSE when master has
        ended instead. Not at once: postlogd writes its first words to its own socket, and waits
        for ever when those of many others are there already."""
        deadline = time.monotonic() + PATIENCE
        for address in (None, ("127.0.0.1", self.plain), ("127.0.0.1", self.submission),
                        self.door):
            while not (can_connect(address) if address else self._log_size() > self.logged):
                if self.master.poll() is not None:
                    return False
                if time.monotonic() > deadline:
                    raise TimeoutError(f"Postfix does not open {address or 'its log'}:\n"
                                       f"{self.read_log()}")
                time.sleep(0.02)
        return True

    def stop(self):
        """Ends Postfix and everything it started."""
        if self.master is None:
            return
        end_group(self.master)
        self.master = None

    def restart(self):
        """Starts it again on the same ports, after stop."""
        self._start_master()
        if not self._answers():
            raise RuntimeError(f"Postfix does not start:\n{self.read_log()}")

    def reload(self):
        """Makes Postfix read its files again, after a change of main.cf or master.cf."""
        self.master.send_signal(signal.SIGHUP)

    def read_log(self):
        text = ""
        for path in (self.log, os.path.join(self.folder, "master.err")):
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    text += file.read()
        return text

    def flush(self):
        """Tries everything in the queue now."""
        subprocess.run(["postqueue", "-c", self.config, "-f"], check=True)

    def wait_empty(self, seconds=PATIENCE):
        """Waits until nothing waits for delivery."""
        deadline = time.monotonic() + seconds
        while self.queued():
            if time.monotonic() > deadline:
                raise TimeoutError(f"still in the queue: {self.queued()}")
            time.sleep(0.02)

    def queued(self):
        """Queue files that wait for delivery, the held and the deferred included. What was
        killed before it was whole, and so before it was answered, stays without its x bit."""
        found = []
        # In the order in which mail goes on, so that none is overlooked that moves meanwhile.
        for name in ("maildrop", "deferred", "incoming", "active", "deferred", "hold"):
            for folder, _, files in os.walk(os.path.join(self.queue, name)):
                found += [file for file in files
                          if os.access(os.path.join(folder, file), os.X_OK)]
        return found

    def sendmail(self, uid, arguments, message):
        """Runs the local sendmail command as a user, seeing this Postfix as the system's: the
        set-group-id postdrop accepts no other configuration folder than the default one."""
        script = ('mount --bind "$1" /etc/postfix && uid=$2 && shift 2 && '
                  'exec setpriv --reuid "$uid" --regid "$uid" --clear-groups sendmail "$@"')
        return subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", self.config,
                               str(uid), *arguments],
                              input=message, capture_output=True, check=False)


def can_connect(address):
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.settimeout(CONNECT_SECONDS)  # whoever listens may never look who calls
        try:
            probe.connect(address)
        except OSError:
            return False
    return True
