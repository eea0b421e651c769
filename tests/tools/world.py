"""Everything an end-to-end test needs, in one temporary folder: sink, Postfix, gate.

    with World(policy) as world:
        world.submit("agent@example.com", ["nora@example.org"], message)
        world.sink.wait(1)

Leaving the block ends all of it by process id and removes the folder. When the block ends with
an exception, the logs go to standard error first."""

import os
import shutil
import signal
import sys
import tempfile

from gate import Gate
from mailhost import PASSWORD, MailHost
from reports import Reports
from sink import Sink
from smtpclient import Client
from story import until

# A client address that is neither inside for the gate nor local for Postfix.
OUTSIDE = "127.0.0.2"


class World:
    """policy: the account's; account and settings: see Gate.configure. host: keyword arguments
    of MailHost. build: where the programs are."""

    def __init__(self, policy, account=None, settings=None, host=None, build=None):
        self.folder = tempfile.mkdtemp(prefix="exeat-")
        os.chmod(self.folder, 0o755)
        self.sink = self.host = self.gate = None
        try:
            self.sink = Sink(os.path.join(self.folder, "sink"))
            self.host = self.make_host(**(host or {}))
            self.gate = Gate(self.folder, self.host, build)
            self.reports = Reports(self.folder, os.path.join(self.gate.bin, "exeat-relay"))
            if self.reports.threads:
                for daemon in (self.gate.relay, self.gate.milter):
                    self.gate.load(daemon, "threads.so")
            self.configure(policy, account, settings)
            self.host.start()
            self.gate.start()
        except BaseException:
            self.stop()
            raise

    def make_host(self, **more):
        return MailHost(self.folder, self.sink.port, **more)

    def configure(self, policy, account, settings):
        self.gate.configure(policy, account, settings)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is not None and issubclass(kind, Exception):
                print(self.logs() + self.reports.read(), file=sys.stderr)
            elif kind is None:
                self.check_reports()
        finally:
            self.stop()

    def check_reports(self):
        """With sanitizers: ends the daemons in peace, and fails if anything was reported."""
        if self.reports.wanted:
            self.gate.stop()
        found = self.reports.read()
        assert found == "", found

    def logs(self):
        """The logs of Postfix and of both daemons."""
        return "\n".join([self.host.read_log(), self.gate.relay.read_log(),
                          self.gate.milter.read_log()])

    def stop(self):
        """Ends everything, whatever state it is in."""
        if self.host is not None:
            self.host.stop()
        if self.gate is not None:
            self.gate.kill()
        if self.sink is not None:
            self.sink.stop()
        until(self._is_removed)

    def _is_removed(self):
        """What was ended by force may be writing still."""
        shutil.rmtree(self.folder, ignore_errors=True)
        return not os.path.exists(self.folder)

    def client(self, login=None):
        """A greeted session: with a login at the submission service (logged_in is the reply),
        without at the plain listener, as a stranger from outside."""
        if login is None:
            client = Client(("127.0.0.1", self.host.plain), source=OUTSIDE)
            client.ehlo()
            return client
        client = Client(("127.0.0.1", self.host.submission))
        client.ehlo()
        client.login(login, PASSWORD)
        return client

    def submit(self, login, recipients, message, sender=None, **more):
        """One message in a session of its own; the sender is the login unless said otherwise.
        Returns the reply that decided."""
        with self.client(login) as client:
            if not client.logged_in.ok:
                return client.logged_in
            sender = login if sender is None else sender
            return client.submit(sender, recipients, message, **more)

    def receive(self, sender, recipients, message, **more):
        """One message from the outside."""
        with self.client() as client:
            return client.submit(sender, recipients, message, **more)


def end_on_signals():
    """Makes SIGTERM and SIGHUP end the program like an exception, so that nothing is left."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _: sys.exit(128 + got))
