"""A private Dovecot for tests: own folders, loopback, free ports, one login, a CA of its own.

    with ImapHost(folder) as host:
        host.fill("Sent", messages)

imaps is on host.imaps; host.imap demands STARTTLS. host.ca is the certificate to trust. Its server
certificate is for localhost, not for 127.0.0.1. Nothing of the system's own Dovecot is touched. Needs
root, and the users that the Debian package creates.

The folder's name has to be short (unix socket paths end at 107 bytes), and other users must be
able to enter it."""

import base64
import hashlib
import hmac
import imaplib
import json
import os
import socket
import ssl
import subprocess
import threading
import time

from group import PEACE, end_group
from mailhost import can_connect, free_port
from story import PATIENCE

LOGIN = "owner@example.com"
PASSWORD = "correct horse"
MAIL = 61011  # a number that no user database knows owns the mail
# For sent mail by its special use alone; as people write it, and in modified UTF-7.
COPIES, COPIES_WIRE = "Büro & Kopien", "B&APw-ro &- Kopien"

CONFIG = """\
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/dovecot.log
protocols = imap
listen = 127.0.0.1
default_login_user = dovenull
default_internal_user = dovecot
disable_plaintext_auth = yes
auth_mechanisms = plain login oauthbearer xoauth2
ssl = required
ssl_cert = <{folder}/server.pem
ssl_key = <{folder}/server.key
ssl_dh =
mail_location = maildir:{folder}/mail/%u
first_valid_uid = 1
auth_failure_delay = 0
passdb {{
  driver = passwd-file
  args = scheme=PLAIN {folder}/passwd
}}
passdb {{
  driver = oauth2
  mechanisms = oauthbearer xoauth2
  args = {folder}/oauth2
}}
userdb {{
  driver = static
  args = uid={mail} gid={mail} home={folder}/mail/%u
}}
namespace inbox {{
  inbox = yes
  separator = /
  mailbox Sent {{
    special_use = \\Sent
    auto = create
  }}
  mailbox Drafts {{
    special_use = \\Drafts
    auto = create
  }}
  mailbox "{copies}" {{
    special_use = \\Sent
  }}
}}
service imap-login {{
  service_count = 0
  inet_listener imap {{
    port = {imap}
  }}
  inet_listener imaps {{
    port = {imaps}
    ssl = yes
  }}
}}
"""


# Tokens are checked with a key, by no other server.
OAUTH2 = """\
introspection_mode = local
local_validation_key_dict = fs:posix:prefix={folder}/keys/
username_attribute = sub
"""
TOKEN_KEY = b"0123456789abcdef0123456789abcdef"


def make_token(seconds):
    """An OAuth 2.0 token for the login, good for so many seconds from now (RFC 7519)."""
    now = int(time.time())
    claims = {"sub": LOGIN, "iat": now - 3600, "nbf": now - 3600, "exp": now + seconds}
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=")
             for part in ({"alg": "HS256", "typ": "JWT"}, claims)]
    signature = hmac.new(TOKEN_KEY, b".".join(parts), hashlib.sha256).digest()
    return b".".join([*parts, base64.urlsafe_b64encode(signature).rstrip(b"=")]).decode()


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def make_authority(folder, name):
    """A certification authority: NAME.pem and NAME.key. Returns the certificate's path."""
    path = os.path.join(folder, name)
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-subj", f"/CN={name}", "-days", "30", "-keyout", path + ".key",
            "-out", path + ".pem")
    return path + ".pem"


class ImapHost:
    """See the head of this file."""

    def __init__(self, folder, more=""):
        """more: further lines of the configuration, which may override those above."""
        self.folder = os.path.join(folder, "imap")
        self.more = more
        self.prefix = []  # a command that Dovecot is started by
        self.ca = os.path.join(self.folder, "ca.pem")
        self.process = None
        self.imap = self.imaps = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def start(self):
        os.makedirs(os.path.join(self.folder, "mail"))
        os.chown(os.path.join(self.folder, "mail"), MAIL, MAIL)
        make_authority(self.folder, "ca")
        self._make_certificate()
        with open(os.path.join(self.folder, "passwd"), "w", encoding="ascii") as file:
            file.write(f"{LOGIN}:{{PLAIN}}{PASSWORD}\n")
        keys = os.path.join(self.folder, "keys", "default", "HS256")
        os.makedirs(keys)
        with open(os.path.join(keys, "default"), "wb") as file:
            file.write(base64.b64encode(TOKEN_KEY))
        with open(os.path.join(self.folder, "oauth2"), "w", encoding="ascii") as file:
            file.write(OAUTH2.format(folder=self.folder))
        for _ in range(3):
            self.imap, self.imaps = free_port(), free_port()
            with open(os.path.join(self.folder, "conf"), "w", encoding="utf-8") as file:
                file.write(CONFIG.format(folder=self.folder, mail=MAIL, imap=self.imap,
                                         imaps=self.imaps, copies=COPIES) + self.more)
            self._start_master()
            if self._answers():
                return self
            # Somebody else may have taken a port between our look and Dovecot's.
            self.stop()
        raise RuntimeError(f"Dovecot does not start:\n{self.read_log()}")

    def restart(self):
        """Starts it again on the same ports, after stop."""
        self._start_master()
        if not self._answers():
            raise RuntimeError(f"Dovecot does not start:\n{self.read_log()}")

    def _make_certificate(self):
        path = os.path.join(self.folder, "server")
        with open(path + ".ext", "w", encoding="ascii") as file:
            file.write("subjectAltName=DNS:localhost\n")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-subj", "/CN=server", "-keyout", path + ".key", "-out", path + ".csr")
        openssl("x509", "-req", "-in", path + ".csr", "-CA", self.ca, "-CAkey",
                self.ca[:-len("pem")] + "key", "-CAcreateserial", "-days", "30",
                "-extfile", path + ".ext", "-out", path + ".pem")

    def _start_master(self):
        with open(os.path.join(self.folder, "master.err"), "ab") as errors:
            self.process = subprocess.Popen(
                [*self.prefix, "dovecot", "-F", "-c", os.path.join(self.folder, "conf")],
                stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, cwd="/",
                start_new_session=True)

    def _answers(self):
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            if can_connect(("127.0.0.1", self.imaps)) and can_connect(("127.0.0.1", self.imap)):
                return True
            time.sleep(0.02)
        return False

    def stop(self):
        """Ends Dovecot and everything it started."""
        self._end(PEACE)

    def kill(self):
        """The same at once. In peace it takes two seconds, for nothing where its folder goes."""
        self._end(0)

    def _end(self, seconds):
        if self.process is not None:
            end_group(self.process, seconds)
            self.process = None

    def read_log(self):
        text = ""
        for name in ("dovecot.log", "master.err"):
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    text += file.read()
        return text

    def fill(self, folder, messages, flags=None):
        """Makes the folder, named as on the wire, where it is missing, and appends."""
        client = self.client()
        client.create(f'"{folder}"')
        for message in messages:
            done, data = client.append(f'"{folder}"', flags, None, message)
            assert done == "OK", data
        client.logout()

    def look(self, folder):
        """What the server tells of the messages, without being changed by that: UIDs, flags, dates."""
        client = self.client()
        client.select(f'"{folder}"', readonly=True)
        _, data = client.fetch("1:*", "(UID FLAGS INTERNALDATE)")
        client.logout()
        return data

    def client(self):
        """A logged in session of Python's own client."""
        context = ssl.create_default_context(cafile=self.ca)
        client = imaplib.IMAP4_SSL("localhost", self.imaps, ssl_context=context,
                                    timeout=PATIENCE)
        client.login(LOGIN, PASSWORD)
        return client


class Cut:
    """Stands before a port and ends each connection instead of passing on what the client says
    for the given time. A client that waits for each answer has read all answers before that
    then, however slow it is. port is where it listens."""

    def __init__(self, target, at):
        self.target = target
        self.at = at
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()

    def _listen(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.target))
            threading.Thread(target=self._pass, args=(client, server, self.at),
                             daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client), daemon=True).start()

    @staticmethod
    def _pass(source, goal, at=None):
        """One direction, until its end or the cut; then both directions end."""
        times = 0
        try:
            while data := source.recv(65536):
                times += 1
                if times == at:
                    break
                goal.sendall(data)
        except OSError:
            pass
        for end in (source, goal):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Line:
    """A line to a port that can be down: then whoever calls is hung up on, and so is everybody
    who was connected. deaf_after: from so many bytes of the client on, it hears nothing of what
    the server says. port is where it listens."""

    def __init__(self, target):
        self.target = target
        self.deaf_after = None
        self.calls = 0
        self.ends = []
        self.down = False
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def stop(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()
        self.cut()

    def cut(self):
        """Ends all connections there are."""
        with self.lock:
            ends, self.ends = self.ends, []
        for end in ends:
            hang_up(end)

    def set_down(self, down):
        self.down = down
        if down:
            self.cut()

    def _listen(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.calls += 1
            if self.down:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self.target))
            with self.lock:
                self.ends += [client, server]
            said = [0]
            for pair in ((client, server, True), (server, client, False)):
                threading.Thread(target=self._pass, args=(*pair, said), daemon=True).start()

    def _pass(self, source, goal, from_client, said):
        try:
            while data := source.recv(65536):
                if from_client:
                    said[0] += len(data)
                elif self.deaf_after is not None and said[0] >= self.deaf_after:
                    continue
                goal.sendall(data)
        except OSError:
            pass
        hang_up(source)
        hang_up(goal)


def hang_up(end):
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
