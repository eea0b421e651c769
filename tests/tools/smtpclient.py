"""A raw SMTP client for tests: sends exactly the bytes it is given and can stop anywhere.

smtplib tidies what it sends; an attacker does not. A reply is a Reply with the code and all
lines; nothing here raises for a 4xx or 5xx. A connection lost is ConnectionError.

As a command:
    smtpclient.py HOST:PORT|unix:PATH --from A --rcpt B [--login USER:PASSWORD] [FILE]
sends a message read from FILE or standard input and prints every reply."""

import argparse
import base64
import re
import socket
import struct
import sys

LINE_LIMIT = 65536
WAIT_SECONDS = 330  # longer than a mail server waits for its milter


class Reply:
    """One reply of the server; lines are without code and line end."""

    def __init__(self, code, lines):
        self.code = code
        self.lines = lines
        self.text = "\n".join(lines)

    @property
    def ok(self):
        return 200 <= self.code < 400

    def __repr__(self):
        return f"{self.code} {self.text}"


def address_bytes(text):
    """An envelope address as it goes over the wire; surrogates stand for raw bytes."""
    return text.encode("utf-8", "surrogateescape")


def to_crlf(data):
    """Turns LF line ends into CRLF."""
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def stuff(data):
    """The bytes of DATA for a message: dots doubled, closing dot added."""
    if not data.endswith(b"\r\n"):
        data += b"\r\n"
    if data.startswith(b"."):
        data = b"." + data
    return data.replace(b"\r\n.", b"\r\n..") + b".\r\n"


class Client:
    """One connection. address: (host, port), or the path of a unix socket."""

    def __init__(self, address, source=None, timeout=WAIT_SECONDS, hello="client.example.com"):
        if isinstance(address, str):
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.socket.settimeout(timeout)
            self.socket.connect(address)
        else:
            self.socket = socket.create_connection(
                address, timeout, (source, 0) if source else None)
        self.hello = hello
        self.buffer = b""
        self.greeting = self.reply()
        self.offers = []
        self.logged_in = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Goes away without QUIT, as a client that crashed does."""
        self.socket.close()

    def reset(self):
        """Goes away with a TCP reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def _line(self):
        while b"\n" not in self.buffer:
            piece = self.socket.recv(65536)
            if not piece or len(self.buffer) > LINE_LIMIT:
                raise ConnectionError(f"connection lost after {self.buffer!r}")
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.rstrip(b"\r").decode("utf-8", "replace")

    def reply(self):
        lines = []
        while True:
            line = self._line()
            if not re.match(r"[2-5][0-9][0-9]([ -]|$)", line):
                raise ConnectionError(f"not an SMTP reply: {line!r}")
            lines.append(line[4:])
            if line[3:4] != "-":
                return Reply(int(line[:3]), lines)

    def command(self, line):
        """Sends one line (text or bytes, without its end) and reads the reply."""
        if isinstance(line, str):
            line = address_bytes(line)
        self.send(line + b"\r\n")
        return self.reply()

    def ehlo(self):
        reply = self.command(f"EHLO {self.hello}")
        self.offers = [line.split(" ")[0].upper() for line in reply.lines[1:]]
        return reply

    def login(self, user, password):
        secret = base64.b64encode(f"\0{user}\0{password}".encode()).decode()
        self.logged_in = self.command(f"AUTH PLAIN {secret}")
        return self.logged_in

    def mail(self, sender, params=""):
        return self.command(f"MAIL FROM:<{sender}>" + (f" {params}" if params else ""))

    def rcpt(self, recipient, params=""):
        return self.command(f"RCPT TO:<{recipient}>" + (f" {params}" if params else ""))

    def data(self, message):
        """DATA, message, dot. The reply is the one that counts: to the dot, or to a refused
        DATA."""
        reply = self.command("DATA")
        if reply.code != 354:
            return reply
        self.send(stuff(message))
        return self.reply()

    def submit(self, sender, recipients, message, smtputf8=False, mail_params="",
               rcpt_params=None):
        """A whole transaction. Recipients that are refused end it, so that a message never
        goes to half of them. Returns the reply that decided."""
        params = [mail_params] if mail_params else []
        if max(message, default=0) > 127 and "BODY=" not in mail_params:
            params.append("BODY=8BITMIME")
        if smtputf8 or not all(text.isascii() for text in [sender, *recipients]):
            params.append("SMTPUTF8")
        reply = self.mail(sender, " ".join(params))
        if not reply.ok:
            return reply
        for recipient in recipients:
            reply = self.rcpt(recipient, (rcpt_params or {}).get(recipient, ""))
            if not reply.ok:
                self.command("RSET")
                return reply
        return self.data(message)

    def quit(self):
        reply = self.command("QUIT")
        self.close()
        return reply

    def play(self, script):
        """Plays a session of "C: " and "S: " lines (tests/cases/README.md). Returns the last
        reply and a complaint for every reply that does not match its pattern."""
        reply, complaints = None, []
        for line in script.splitlines():
            if line.startswith("C: "):
                self.send(unescape(line[3:]))
            elif line.startswith("S: "):
                reply = self.reply()
                if not re.match(line[3:].strip(), f"{reply.code}"):
                    complaints.append(f"session: expected {line[3:].strip()}, found {reply}")
            elif line.strip():
                raise ValueError(f"neither C: nor S: {line!r}")
        return reply, complaints


def unescape(text):
    """The bytes of a C: line: \\r, \\n, \\\\ and \\xHH stand for single bytes."""
    single = {b"r": b"\r", b"n": b"\n", b"\\": b"\\"}

    def byte(match):
        what = match.group(1)
        return single[what] if what in single else bytes([int(what[1:], 16)])

    return re.sub(rb"\\(r|n|\\|x[0-9A-Fa-f]{2})", byte, address_bytes(text))


def connect_to(text):
    """HOST:PORT or unix:PATH as Client takes it."""
    if text.startswith("unix:"):
        return text[5:]
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def main():
    parser = argparse.ArgumentParser(description="send one message by SMTP")
    parser.add_argument("server", help="HOST:PORT or unix:PATH")
    parser.add_argument("--from", dest="sender", default="")
    parser.add_argument("--rcpt", action="append", required=True)
    parser.add_argument("--login", help="USER:PASSWORD")
    parser.add_argument("file", nargs="?", help="the message; default: standard input")
    options = parser.parse_args()
    if options.file:
        with open(options.file, "rb") as file:
            message = file.read()
    else:
        message = sys.stdin.buffer.read()
    with Client(connect_to(options.server)) as client:
        print(client.greeting)
        print(client.ehlo())
        if options.login:
            reply = client.login(*options.login.split(":", 1))
            print(reply)
            if not reply.ok:
                return 1
        reply = client.submit(options.sender, options.rcpt, to_crlf(message))
        print(reply)
        client.quit()
        return 0 if reply.ok else 1


if __name__ == "__main__":
    sys.exit(main())
