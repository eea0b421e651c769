"""A provider's submission server for tests: a Postfix without the gate that wants TLS and a login.

    with Provider(folder, sink.port, sasl="dovecot") as provider:
        provider.starttls, provider.wrapped     ports on 127.0.0.1
        provider.ca                             who vouches for localhost

sasl: cyrus (PLAIN LOGIN SCRAM-SHA-1 SCRAM-SHA-256) or dovecot, whose tokens are for OAUTHBEARER
and XOAUTH2, too. Mail goes on to the given port. The listener "certified" takes mail from whoever
shows a certificate of our CA, without a login. Needs root, and Debian's users."""

import base64
import hashlib
import hmac
import json
import os
import subprocess
import time

from group import end_group
from imaphost import make_authority, openssl
from mailhost import PASSWORD, MailHost, can_connect, free_port
from story import PATIENCE

LOGIN = "me@example.net"
TOKEN_KEY = b"a key that signs the tokens of this test"

MORE = """\
smtpd_milters =
non_smtpd_milters =
smtpd_tls_cert_file = {folder}/server.pem
smtpd_tls_key_file = {folder}/server.key
smtpd_tls_CAfile = {folder}/ca.pem
smtpd_tls_session_cache_database =
smtpd_tls_auth_only = yes
smtpd_sasl_type = {sasl}
smtpd_sasl_path = {path}
broken_sasl_auth_clients = no
relay_clientcerts = static:all
smtpd_tls_fingerprint_digest = sha256
"""

MASTER = """\
127.0.0.1:{starttls} inet n - n - - smtpd
  -o smtpd_tls_security_level=encrypt
  -o smtpd_sasl_auth_enable=yes
  -o smtpd_relay_restrictions=permit_sasl_authenticated,reject
127.0.0.1:{wrapped} inet n - n - - smtpd
  -o smtpd_tls_wrappermode=yes
  -o smtpd_sasl_auth_enable=yes
  -o smtpd_relay_restrictions=permit_sasl_authenticated,reject
127.0.0.1:{certified} inet n - n - - smtpd
  -o smtpd_tls_security_level=encrypt
  -o smtpd_tls_req_ccert=yes
  -o smtpd_tls_CAfile={folder}/ca.pem
  -o smtpd_relay_restrictions=permit_tls_all_clientcerts,reject
"""

AUTH = """\
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/dovecot.log
protocols =
default_login_user = dovenull
default_internal_user = dovecot
auth_mechanisms = plain login scram-sha-1 scram-sha-256 oauthbearer xoauth2
auth_failure_delay = 0
ssl = no
passdb {{
  driver = oauth2
  mechanisms = oauthbearer xoauth2
  args = {folder}/oauth2
}}
passdb {{
  driver = passwd-file
  mechanisms = plain login scram-sha-1 scram-sha-256
  args = scheme=PLAIN {folder}/passwd
}}
userdb {{
  driver = static
  args = uid=65534 gid=65534 home=/nonexistent
}}
service auth {{
  unix_listener {socket} {{
    mode = 0660
    user = postfix
    group = postfix
  }}
}}
"""

TOKENS = """\
introspection_mode = local
local_validation_key_dict = fs:posix:prefix={folder}/keys/
username_attribute = sub
"""


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def make_token(login=LOGIN, life=3600):
    """A token as the provider's login page would give (RFC 7519), good for so many seconds."""
    head = encode(json.dumps({"alg": "HS256", "typ": "JWT"}).encode())
    now = int(time.time())
    body = encode(json.dumps({"sub": login, "iat": now - 10_000, "exp": now + life}).encode())
    signature = hmac.new(TOKEN_KEY, head + b"." + body, hashlib.sha256).digest()
    return b".".join([head, body, encode(signature)]).decode()


def make_certificate(folder, name, host, days=30):
    """NAME.pem and NAME.key, vouched for by the CA of the folder."""
    path = os.path.join(folder, name)
    with open(path + ".ext", "w", encoding="ascii") as file:
        file.write(f"subjectAltName={host}\n")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-subj", f"/CN={name}", "-keyout", path + ".key", "-out", path + ".csr")
    openssl("x509", "-req", "-in", path + ".csr", "-CA", os.path.join(folder, "ca.pem"),
            "-CAkey", os.path.join(folder, "ca.key"), "-CAcreateserial", "-days", str(days),
            "-extfile", path + ".ext", "-out", path + ".pem")
    return path


class Provider(MailHost):
    """See the head of this file."""

    def __init__(self, folder, sink_port, sasl="cyrus"):
        self.sasl = sasl
        self.dovecot = None
        self.starttls = self.wrapped = self.certified = None
        folder = os.path.join(folder, "provider")
        os.mkdir(folder)
        super().__init__(folder, sink_port, logins={LOGIN: [LOGIN]}, inside=(),
                         more=MORE.format(folder=folder, sasl=sasl,
                                          path="smtpd" if sasl == "cyrus" else "private/auth"))
        self.ca = make_authority(folder, "ca")
        make_certificate(folder, "server", "DNS:localhost")
        self.client = make_certificate(folder, "client", "DNS:gate.example")

    def start(self):
        super().start()  # then master listens everywhere
        if self.sasl == "dovecot":
            self._start_dovecot()
        return self

    def configure(self):
        self.starttls, self.wrapped, self.certified = free_port(), free_port(), free_port()
        super().configure()
        with open(os.path.join(self.config, "master.cf"), "a", encoding="utf-8") as file:
            file.write(MASTER.format(folder=self.folder, starttls=self.starttls,
                                     wrapped=self.wrapped, certified=self.certified))

    def _make_logins(self):
        super()._make_logins()
        path = os.path.join(self.config, "sasl", "smtpd.conf")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("PLAIN LOGIN", "PLAIN LOGIN SCRAM-SHA-1 SCRAM-SHA-256"))

    def _write_dovecot(self):
        keys = os.path.join(self.folder, "keys", "default", "HS256")
        os.makedirs(keys)
        for path, text in (
                (os.path.join(keys, "default"), base64.b64encode(TOKEN_KEY).decode()),
                (os.path.join(self.folder, "passwd"), f"{LOGIN}:{{PLAIN}}{PASSWORD}\n"),
                (os.path.join(self.folder, "oauth2"), TOKENS.format(folder=self.folder)),
                (os.path.join(self.folder, "dovecot"), AUTH.format(
                    folder=self.folder,
                    socket=os.path.join(self.queue, "private", "auth")))):
            with open(path, "w", encoding="ascii") as file:
                file.write(text)

    def _start_dovecot(self):
        self._write_dovecot()
        with open(os.path.join(self.folder, "dovecot.err"), "ab") as errors:
            self.dovecot = subprocess.Popen(
                ["dovecot", "-F", "-c", os.path.join(self.folder, "dovecot")],
                stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, cwd="/",
                start_new_session=True)
        self._wait(lambda: can_connect(os.path.join(self.queue, "private", "auth")))

    def _wait(self, condition, seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"the provider does not start:\n{self.read_log()}")
            time.sleep(0.02)

    def read_log(self):
        text = super().read_log()
        for name in ("dovecot.log", "dovecot.err"):
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    text += file.read()
        return text

    def stop(self):
        super().stop()
        if self.dovecot is not None:
            end_group(self.dovecot)
            self.dovecot = None
