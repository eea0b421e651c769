"""An SMTP server that plays the world: accepts everything, keeps every byte, fails on demand.

Each message becomes two files in the sink's folder: NNNNNN.eml, the bytes after removing the
dot-stuffing, and NNNNNN.json, the envelope: sender, mail_params, recipients, rcpt_params (by
recipient), answer (what the dot was answered with, or the failure played instead).

Failures are rules, the first that fits is played:
    {"at": "RCPT", "match": "bad@", "do": "550 5.1.1 no such user", "times": 1}
at: CONNECT EHLO STARTTLS MAIL RCPT DATA BODY DOT RSET QUIT. match: a text in the command line, for BODY
and DOT in the message. do: a reply, or one of
    drop    close the connection        reset   close it with a TCP reset
    hang    never answer                half    begin a good reply and close
    drip    the usual reply, a byte at a time
    rubbish at STARTTLS: bytes that are no TLS
times: how often; left out: always. They are set from Python (sink.rules) or from outside in
control.json in the folder, which is read anew at each command. At DOT, a refusal (4xx, 5xx)
stores nothing; the others store the message, since the sender cannot know that nobody kept it.
With a context (ssl.SSLContext) it offers STARTTLS. sessions counts the connections.

As a command: sink.py FOLDER [PORT] prints its address and runs until SIGTERM."""

import json
import os
import re
import signal
import socket
import ssl
import struct
import sys
import threading
import time

from mailhost import free_port
from story import PATIENCE

LINE_LIMIT = 100_000
MESSAGE_LIMIT = 200_000_000
OFFERS = ["8BITMIME", "SMTPUTF8", "DSN", f"SIZE {MESSAGE_LIMIT}", "ENHANCEDSTATUSCODES"]
PATH = re.compile(r'(?i)(?:MAIL FROM|RCPT TO): ?<((?:"(?:\\.|[^"])*"|[^>])*)> ?(.*)$')
PLAYED = ("drop", "reset", "hang", "half", "drip")


class Message:
    """One message the sink was handed."""

    def __init__(self, envelope, data):
        self.sender = envelope["sender"]
        self.mail_params = envelope["mail_params"]
        self.recipients = envelope["recipients"]
        self.rcpt_params = envelope["rcpt_params"]
        self.answer = envelope["answer"]
        self.data = data

    @property
    def head(self):
        return self.data.partition(b"\r\n\r\n")[0] + b"\r\n"

    @property
    def body(self):
        return self.data.partition(b"\r\n\r\n")[2]

    def field(self, name):
        """The unfolded values of a header field, in order."""
        pattern = rb"(?im)^" + re.escape(name.encode()) + rb"[ \t]*:((?:.|\r\n[ \t])*)\r\n"
        found = re.findall(pattern, self.head)
        return [re.sub(rb"\r\n(?=[ \t])", b"", value).strip().decode("utf-8", "replace")
                for value in found]


class Sink:
    """Listens on a free loopback port, a thread for each connection."""

    def __init__(self, folder, port=0, context=None):
        self.folder = folder
        self.rules = []
        self.stopped = threading.Event()
        self.changed = threading.Condition()
        self.count = self.sessions = 0
        self.context = context
        self.connections = set()
        os.makedirs(folder, exist_ok=True)
        self.listener = socket.create_server(("127.0.0.1", port or free_port()), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.stopped.set()
        # shutdown wakes the thread that waits in accept; close alone does not.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()
        with self.changed:
            open_now = list(self.connections)
        for connection in open_now:
            connection.abort()

    def messages(self):
        """All messages so far, in order of arrival."""
        return read_folder(self.folder)

    def wait(self, count, seconds=PATIENCE):
        """Waits until at least count messages have come, and returns all."""
        with self.changed:
            self.changed.wait_for(lambda: self.count >= count, seconds)
        return self.messages()

    def clear(self):
        """Forgets every message and every rule."""
        with self.changed:
            for name in os.listdir(self.folder):
                os.unlink(os.path.join(self.folder, name))
            self.count = 0
            self.rules = []

    def store(self, envelope, data):
        with self.changed:
            self.count += 1
            stem = os.path.join(self.folder, f"{self.count:06d}")
            with open(stem + ".eml", "wb") as file:
                file.write(data)
            # The envelope is written last and in one step: who reads the folder while the sink
            # runs sees a whole message or none.
            with open(stem + ".tmp", "w", encoding="utf-8") as file:
                json.dump(envelope, file)
            os.rename(stem + ".tmp", stem + ".json")
            self.changed.notify_all()

    def failure(self, stage, subject):
        """What to play at this stage, or None."""
        with self.changed:
            for rule in self.rules + self._control():
                if rule["at"] == stage and rule.get("match", "") in subject:
                    if rule.get("times", 1) <= 0:
                        continue
                    if "times" in rule:
                        rule["times"] -= 1
                    return rule["do"]
        return None

    def watches(self, stage):
        """Whether any rule looks at the stage: asked once, not for every line of a message."""
        with self.changed:
            return any(rule["at"] == stage for rule in self.rules + self._control())

    def _control(self):
        try:
            with open(os.path.join(self.folder, "control.json"), encoding="utf-8") as file:
                rules = json.load(file)
        except FileNotFoundError:
            return []
        if any("times" in rule for rule in rules):
            raise ValueError("control.json: times is for rules set from Python")
        return rules

    def _listen(self):
        while not self.stopped.is_set():
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            connection = Connection(self, peer)
            with self.changed:
                self.sessions += 1
                self.connections.add(connection)
            threading.Thread(target=connection.run, daemon=True).start()


class Connection:
    """One SMTP session."""

    def __init__(self, sink, peer):
        self.sink = sink
        self.socket = peer
        self.file = peer.makefile("rb")
        self._forget()

    def _forget(self):
        self.sender = None
        self.mail_params = ""
        self.recipients = []
        self.rcpt_params = {}

    def abort(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def run(self):
        try:
            if self._answer("CONNECT", "", "220 sink.example ESMTP"):
                while self._one_command():
                    pass
        except OSError:  # TLS that fails, too
            pass
        finally:
            self.file.close()
            self.socket.close()
            with self.sink.changed:
                self.sink.connections.discard(self)

    def _send(self, reply):
        self.socket.sendall(reply.encode() + b"\r\n")

    def _say(self, reply):
        self._send(reply)
        return True

    def _drip(self, reply):
        for byte in reply.encode() + b"\r\n":
            self.socket.sendall(bytes([byte]))
            time.sleep(0.001)
        return True

    def _play(self, failure):
        """Acts out a failure. FALSE: the connection is over."""
        if failure == "hang":
            self.sink.stopped.wait()
        elif failure == "half":
            self.socket.sendall(b"250-2.0.0 acc")
        elif failure == "reset":
            linger = struct.pack("ii", 1, 0)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        elif failure == "rubbish":
            self.socket.sendall(b"220 2.0.0 go on\r\n\x16\x03\x01 this is no TLS\r\n")
        elif failure != "drop":
            self._send(failure)
            return not failure.startswith("421")
        return False

    def _answer(self, stage, subject, reply):
        """Sends the usual reply or plays what a rule wants. FALSE: the connection is over."""
        failure = self.sink.failure(stage, subject)
        if failure == "drip":
            return self._drip(reply)
        if failure is not None:
            return self._play(failure)
        self._send(reply)
        return True

    def _one_command(self):
        line = self.file.readline(LINE_LIMIT)
        if not line.endswith(b"\n"):
            return False
        text = line.decode("utf-8", "surrogateescape").rstrip("\r\n")
        verb = text.split(" ")[0].split(":")[0].upper()
        action = {"EHLO": self._ehlo, "HELO": self._ehlo, "MAIL": self._mail,
                  "RCPT": self._rcpt, "DATA": self._data, "RSET": self._rset,
                  "QUIT": self._quit, "STARTTLS": self._starttls}.get(verb)
        if action is None:
            self._send("502 5.5.2 what?")
            return True
        return action(text)

    def _ehlo(self, text):
        plain = self.sink.context is None or isinstance(self.socket, ssl.SSLSocket)
        offered = OFFERS if plain else ["STARTTLS", *OFFERS]
        offers = "\r\n".join(f"250{' ' if offer == OFFERS[-1] else '-'}{offer}"
                             for offer in offered)
        return self._answer("EHLO", text, "250-sink.example\r\n" + offers)

    def _starttls(self, text):
        if self.sink.context is None:
            self._send("502 5.5.2 what?")
            return True
        if not self._answer("STARTTLS", text, "220 2.0.0 go on"):
            return False
        self.socket = self.sink.context.wrap_socket(self.socket, server_side=True)
        self.file = self.socket.makefile("rb")
        self._forget()
        return True

    def _path(self, text):
        found = PATH.match(text)
        return found.groups() if found else None

    def _mail(self, text):
        path = self._path(text)
        failure = self.sink.failure("MAIL", text)
        if failure not in (None, "drip"):
            return self._play(failure)
        if path is None or self.sender is not None:
            self._send("503 5.5.1 not now, or not like this")
            return True
        self.sender, self.mail_params = path
        return self._drip("250 2.1.0 Ok") if failure else self._say("250 2.1.0 Ok")

    def _rcpt(self, text):
        path = self._path(text)
        failure = self.sink.failure("RCPT", text)
        if failure not in (None, "drip"):
            return self._play(failure)
        if path is None or self.sender is None:
            self._send("503 5.5.1 not now, or not like this")
            return True
        self.recipients.append(path[0])
        self.rcpt_params[path[0]] = path[1]
        return self._drip("250 2.1.5 Ok") if failure else self._say("250 2.1.5 Ok")

    def _rset(self, text):
        self._forget()
        return self._answer("RSET", text, "250 2.0.0 Ok")

    def _quit(self, text):
        self._answer("QUIT", text, "221 2.0.0 Bye")
        return False

    def _data(self, text):
        failure = self.sink.failure("DATA", text)
        if failure not in (None, "drip"):
            return self._play(failure)
        if not self.recipients:
            self._send("503 5.5.1 no recipient")
            return True
        self._send("354 go on")
        message = self._read_message()
        if message is None:
            return False
        return self._dot(message)

    def _read_message(self):
        """The message without dot-stuffing; None when the connection is over."""
        lines, size = [], 0
        watched = self.sink.watches("BODY")
        while True:
            line = self.file.readline(LINE_LIMIT)
            if not line or size > MESSAGE_LIMIT:
                return None
            # Only CRLF.CRLF ends a message, and only after a line that ended in CRLF.
            fresh = not lines or lines[-1].endswith(b"\r\n")
            if fresh and line == b".\r\n":
                return b"".join(lines)
            if fresh and line.startswith(b"."):
                line = line[1:]
            lines.append(line)
            size += len(line)
            if watched:
                failure = self.sink.failure("BODY", line.decode("utf-8", "replace"))
                if failure is not None:
                    self._play(failure)
                    return None

    def _dot(self, message):
        failure = self.sink.failure("DOT", message.decode("utf-8", "replace"))
        answer = "250 2.0.0 Ok: kept" if failure in (None, "drip") else failure
        if failure is None or failure in PLAYED or failure.startswith("2"):
            self.sink.store({"sender": self.sender, "mail_params": self.mail_params,
                             "recipients": self.recipients, "rcpt_params": self.rcpt_params,
                             "answer": answer}, message)
        self._forget()
        if failure == "drip":
            return self._drip(answer)
        if failure is not None:
            return self._play(failure)
        self._send(answer)
        return True


def read_folder(folder):
    """The messages a sink has kept in a folder, in order of arrival."""
    found = []
    for name in sorted(os.listdir(folder)):
        if re.fullmatch(r"[0-9]{6}\.json", name):
            stem = os.path.join(folder, name[:-5])
            with open(stem + ".json", encoding="utf-8") as envelope, \
                    open(stem + ".eml", "rb") as data:
                found.append(Message(json.load(envelope), data.read()))
    return found


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: sink.py FOLDER [PORT]")
    done = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: done.set())
    with Sink(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 0) as sink:
        print(f"127.0.0.1:{sink.port}", flush=True)
        done.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
