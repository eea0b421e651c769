"""Stands between the relay and the door, listens, and meddles on demand.

change: a pair of bytes, the first replaced by the second in what the client sends.
at_dot: called when the final dot comes by, before it is passed on; it answers "pass", "cut" (close
without passing it on) or "mute" (pass it on, then close instead of passing the reply back)."""

import os
import socket
import threading

from story import PATIENCE

DOT = b".\r\n"


class Proxy:
    def __init__(self, path, target):
        self.path = path
        self.target = target
        self.change = None
        self.at_dot = lambda: "pass"
        self.sessions = []  # what each client sent
        self.dots = 0  # how many final dots came by
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(path)
        os.chmod(path, 0o666)
        self.listener.listen(16)
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()
        os.unlink(self.path)

    def _listen(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            server.connect(self.target)
        except OSError:
            client.close()
            return
        session = bytearray()
        self.sessions.append(session)
        back = Back(server, client)
        try:
            self._forward(client, server, session, back)
        finally:
            for end in (client, server):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                end.close()

    def _forward(self, client, server, session, back):
        """From the client to the server."""
        while data := client.recv(1 << 20):
            session += data
            dot = session.endswith(b"\r\n" + DOT)
            if dot:
                data = data[:-len(DOT)]
            if self.change is not None:
                data = data.replace(*self.change)
            server.sendall(data)
            if dot and not self._pass_dot(server, back):
                return

    def _pass_dot(self, server, back):
        """FALSE: the session is to be cut."""
        answer = self.at_dot()
        self.dots += 1
        if answer == "cut":
            return False
        if answer == "mute":
            back.mute()
        server.sendall(DOT)
        if answer == "mute":
            back.heard.wait(PATIENCE)
        return answer == "pass"


class Back:
    """From the server to the client, until it is told to keep quiet."""

    def __init__(self, server, client):
        self.server, self.client = server, client
        self.quiet = False
        self.heard = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def mute(self):
        self.quiet = True

    def _run(self):
        try:
            while data := self.server.recv(1 << 16):
                if self.quiet:
                    self.heard.set()
                else:
                    self.client.sendall(data)
        except OSError:
            pass
        self.heard.set()
        try:
            self.client.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
