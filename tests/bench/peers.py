"""Other milters from Debian, each with a configuration of its own: None where not installed."""

import os
import pwd
import shutil
import socket
import subprocess
import sys
import threading

from gate import environment
from stage import Program

HERE = os.path.dirname(os.path.abspath(__file__))


def has_user(name):
    try:
        pwd.getpwnam(name)
        return True
    except KeyError:
        return False


def make_folder(folder, name, user):
    path = os.path.join(folder, name)
    os.makedirs(path)
    shutil.chown(path, user, pwd.getpwnam(user).pw_gid)
    return path


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class NoNames:
    """A name server that knows no name, so that nobody waits for one."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._answer, daemon=True).start()

    def _answer(self):
        while True:
            query, client = self.socket.recvfrom(4096)
            self.socket.sendto(query[:2] + b"\x81\x83" + query[4:6] + bytes(6) + query[12:], client)


class Peer:
    """milter: where Postfix finds it."""

    def __init__(self, path, programs):
        self.milter = f"unix:{path}"
        self.programs = programs
        os.chmod(path, 0o777)

    def stop(self):
        for program in self.programs:
            program.stop()


def start_opendkim(folder):
    """Signs every message with a key of 2048 bits, as most do."""
    if not (shutil.which("opendkim", path="/usr/sbin") and has_user("opendkim")):
        return None
    place = make_folder(folder, "opendkim", "opendkim")
    key, path = os.path.join(place, "key"), os.path.join(place, "sock")
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
    shutil.chown(key, "opendkim")
    os.chmod(key, 0o600)
    write(os.path.join(place, "conf"),
          f"Mode s\nSelector bench\nKeyFile {key}\nSocket local:{path}\nUMask 0\n"
          "Canonicalization relaxed/simple\nInternalHosts 127.0.0.1\nSyslog no\n"
          "RequireSafeKeys no\n"
          "UserID opendkim\nDomain example.com,example.net\n")
    return Peer(path, [Program(["/usr/sbin/opendkim", "-f", "-x", os.path.join(place, "conf")],
                               [path])])


def start_rspamd(folder):
    """With what Debian configures, scanning in the proxy itself, and no name found."""
    if not (shutil.which("rspamd") and has_user("_rspamd")):
        return None
    place = make_folder(folder, "rspamd", "_rspamd")
    path = os.path.join(place, "sock")
    local = os.path.join(place, "local.d")
    os.makedirs(local)
    write(os.path.join(local, "options.inc"),
          f'dns {{ nameserver = ["127.0.0.1:{NoNames().port}"]; timeout = 1s; }}\n')
    write(os.path.join(local, "worker-proxy.inc"),
          f'bind_socket = "{path} mode=0666";\nmilter = yes;\ncount = 2;\n'
          'upstream "local" { default = yes; self_scan = yes; }\n')
    for worker in ("normal", "controller", "fuzzy"):
        write(os.path.join(local, f"worker-{worker}.inc"), "enabled = false;\n")
    variables = {"LOCAL_CONFDIR": place, "DBDIR": place, "RUNDIR": place, "LOGDIR": place}
    return Peer(path, [Program(
        ["/usr/bin/rspamd", "-f", "-u", "_rspamd", "-g", "_rspamd",
         *(word for name, value in variables.items() for word in ("--var", f"{name}={value}"))],
        [path], seconds=120, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)])


def start_mimedefang(folder):
    """With a filter that accepts every part, and two workers kept."""
    if not (shutil.which("mimedefang") and has_user("defang")):
        return None
    place = make_folder(folder, "mimedefang", "defang")
    path, inner = os.path.join(place, "sock"), os.path.join(place, "multiplexor")
    filter_path = os.path.join(place, "filter")
    write(filter_path, "sub filter { return action_accept(); }\n1;\n")
    workers = Program(["/usr/bin/mimedefang-multiplexor", "-D", "-U", "defang", "-m", "2",
                       "-x", "4", "-q", "64", "-s", inner, "-z", place, "-F", filter_path,
                       "-f", "/usr/bin/mimedefang.pl"], [inner], stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL)
    try:
        milter = Program(["/usr/bin/mimedefang", "-D", "-U", "defang", "-q", "-X", "-m", inner,
                          "-z", place, "-p", path], [path], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    except RuntimeError:
        workers.stop()
        raise
    return Peer(path, [milter, workers])


def start_python(folder):
    """python3-milter, doing nothing."""
    if subprocess.run(["/usr/bin/python3", "-c", "import Milter"], check=False,
                      capture_output=True).returncode != 0:
        return None
    path = os.path.join(folder, "open", "python")
    return Peer(path, [Program(["/usr/bin/python3", os.path.join(HERE, "nothing-milter.py"),
                                path], [path], env=environment())])


STARTERS = {"opendkim": start_opendkim, "rspamd": start_rspamd,
            "MIMEDefang": start_mimedefang, "python3-milter": start_python}


def start_peers(folder):
    """A table of name and Peer, without those that are not installed or do not start."""
    peers = {}
    for name, start in STARTERS.items():
        try:
            peer = start(folder)
        except (RuntimeError, OSError, subprocess.CalledProcessError) as trouble:
            print(f"  {name}: {trouble}", file=sys.stderr)
            continue
        if peer is not None:
            peers[name] = peer
    return peers
