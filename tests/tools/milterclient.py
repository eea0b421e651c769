"""The mail server's end of the milter protocol (version 6), for what no mail server would pass
on: what comes from here has met no limit but the milter's own.

    with MilterClient(path) as mta:
        mta.begin("agent@example.com", "agent@example.com", ["nora@example.org"])
        mta.header("Subject", " x")
        mta.body(b"Hello.\\r\\n")
        verdict, text = mta.end()  # "pass", "keep", "refuse" or "later"
"""

import socket
import struct

ACTIONS, STEPS = 0x1ff, 0x1fffff
NO_REPLY = {b"C": 0x1000, b"H": 0x2000, b"M": 0x4000, b"R": 0x8000, b"T": 0x10000,
            b"L": 0x80, b"N": 0x40000, b"B": 0x80000}
LEFT_OUT = {b"H": 0x2, b"T": 0x200, b"N": 0x40}
CHUNK = 65000  # libmilter closes on a packet of more than 64 KiB
WAIT_SECONDS = 120
VERDICTS = {b"c": "pass", b"a": "pass", b"d": "keep", b"t": "later", b"r": "refuse"}


class MilterClient:
    """client: the address of the SMTP client; login: None for none."""

    def __init__(self, path, client="127.0.0.1"):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(WAIT_SECONDS)
        self.socket.connect(path)
        self.steps = 0
        self.pending = []
        self._send(b"O", struct.pack("!III", 6, ACTIONS, STEPS))
        code, data = self._receive()
        assert code == b"O", (code, data)
        self.steps = struct.unpack("!I", data[8:12])[0]
        self._send(b"D", b"C" + words("{daemon_name}", "smtpd", "{client_addr}", client,
                                      "j", "mx.example.com"))
        self._step(b"C", words("client") + b"4" + struct.pack("!H", 1025) + words(client))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def begin(self, login, sender, recipients, resolved=()):
        """MAIL and every RCPT. resolved: what the mail server tells of each, names and values."""
        if login is not None:
            self._send(b"D", b"M" + words("i", "QUEUE1", "{auth_type}", "PLAIN",
                                          "{auth_authen}", login))
        self._step(b"M", words(f"<{sender}>"))
        for recipient in recipients:
            if resolved:
                self._send(b"D", b"R" + words(*resolved))
            self._step(b"R", words(f"<{recipient}>"))
        self._step(b"T", b"")

    def header(self, name, value):
        self._step(b"L", words(name, value))

    def body(self, chunks):
        """The end of the header, then these bytes, or those of an iterable."""
        self._step(b"N", b"")
        for chunk in [chunks] if isinstance(chunks, bytes) else chunks:
            for start in range(0, len(chunk), CHUNK):
                self._step(b"B", chunk[start:start + CHUNK])

    def end(self):
        """The verdict at the end of the message, and the text of the reply, if any."""
        self._send(b"E", b"")
        while True:
            code, data = self._receive()
            if code == b"y":
                text = data.rstrip(b"\0").decode()
                return ("later" if text[0] == "4" else "refuse"), text
            if code in VERDICTS:
                return VERDICTS[code], ""

    def _step(self, code, data):
        """A step, and its answer where one was agreed on, which must let us go on."""
        if self.steps & LEFT_OUT.get(code, 0):
            return
        self._send(code, data)
        if not self.steps & NO_REPLY[code]:
            answer, text = self._receive()
            assert answer == b"c", (code, answer, text)

    def _send(self, code, data):
        self.pending.append(struct.pack("!I", len(data) + 1) + code + data)
        if len(self.pending) >= 512 or code in (b"E", b"O", b"B"):
            self._flush()

    def _flush(self):
        self.socket.sendall(b"".join(self.pending))
        self.pending = []

    def _receive(self):
        self._flush()
        length = struct.unpack("!I", self._read(4))[0]
        packet = self._read(length)
        return packet[:1], packet[1:]

    def _read(self, length):
        data = b""
        while len(data) < length:
            got = self.socket.recv(length - len(data))
            if not got:
                raise ConnectionError("the milter closed the connection")
            data += got
        return data


def words(*texts):
    return b"".join(text.encode("utf-8", "surrogateescape") + b"\0" for text in texts)
