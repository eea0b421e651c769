"""What agents were told and what people decided, and whether the world got exactly that.

A crash may cost an answer, never a message: whatever was answered with 250 is kept or has left,
nothing leaves twice, and nothing leaves that no rule released and nobody approved."""

import os
import re
import sqlite3
import threading

from letter import letter, message_id
from story import PATIENCE

# What the sender knows of a message.
KEPT, UNKNOWN, NEVER, REFUSED = "kept", "unknown", "never", "refused"
# hostile, refuse: an agent's, and never to leave. human, inbound: not the agent's, so no item.
PASSING = ("release", "human", "inbound")
WITHOUT_ITEM = ("human", "inbound")
NEVER_LEAVING = ("hostile", "refuse")
MAY_HAVE_LEFT = ("released", "sent", "uncertain")
UNDER_WAY = ("delayed", "approved", "sending", "committing")
PEOPLE = {"release": ["nora@example.com"], "delay": ["later@example.net"],
          "hold": ["mallory@example.net"], "draft": ["quiet@example.net", "rest@example.net"]}
OTHERS = {"refuse": ["nobody@example.net"], "hostile": ["mallory@example.net"],
          "human": ["nora@example.com"], "inbound": ["owner@example.com"]}
SENDERS = {"human": "owner@example.com", "inbound": "stranger@example.net"}
POLICY = """\
refuse "said to be refused" if subject contains "refuse"
hold "said to be held" if subject contains "hold"
release "inside" if external = 0
delay 1m-2m "by and by" if external = 1
draft "the rest"
"""


class Entry:
    """One message, mostly of an agent."""

    def __init__(self, kind, body="Hello.\r\n", **fields):
        self.kind = kind
        self.to = {**PEOPLE, **OTHERS}[kind]
        self.sender = SENDERS.get(kind, "agent@example.com")
        self.message = letter(", ".join(self.to), sender=self.sender, body=body,
                              **{"subject": f"A {kind}", **fields})
        self.id = message_id(self.message)
        self.outcome = NEVER


class Ledger:
    """Threads may write into it at once."""

    def __init__(self):
        self.entries = []
        self.decisions = {}  # by item: of (verb, whether it was answered with success)
        self.lock = threading.Lock()

    def write(self, kind, **more):
        with self.lock:
            entry = Entry(kind, **more)
            self.entries.append(entry)
            return entry

    def decide(self, item, verb, done):
        with self.lock:
            self.decisions.setdefault(item, []).append((verb, done))

    def was_tried(self, item, verb):
        return any(tried == verb for tried, _ in self.decisions.get(item, []))

    def was_done(self, item, verb):
        return (verb, True) in self.decisions.get(item, [])


class Item:
    """An item as the database has it."""

    def __init__(self, row, moves, data):
        self.id, self.message_id, self.state, self.tier, self.due, self.size = row
        self.moves = moves
        self.data = data

    def began(self):
        """When it was first handed on, or None."""
        return min((at for at, to in self.moves if to == "sending"), default=None)


def database(gate):
    """The relay's database, with its log; the relay may run, or be about to. Read-only: the last
    to close it would take the log away, and the next to read would make it anew, as root, so
    that a relay that starts in this moment cannot open it."""
    path = os.path.join(gate.state, "exeat.db")
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=PATIENCE)


def read_items(gate):
    handle = database(gate)
    found = []
    for row in handle.execute(
            "SELECT id, message_id, state, tier, due, size FROM item ORDER BY seq").fetchall():
        moves = handle.execute("SELECT at, to_state FROM move WHERE item = ?", row[:1]).fetchall()
        pieces = handle.execute("SELECT bytes FROM piece WHERE item = ? ORDER BY number", row[:1])
        found.append(Item(row, moves, b"".join(piece for piece, in pieces)))
    handle.close()
    return found


def passages(messages):
    """How often each Message-ID came, as the names of its passages: a mail server that is
    stopped between a delivery and its note of it delivers the same queue file again, which is
    one passage through the gate."""
    found = {}
    for number, message in enumerate(messages):
        [name] = message.field("Message-ID")
        via = re.search(r"\bid (\w+)", (message.field("Received") or [""])[0])
        found.setdefault(name, {}).setdefault(via.group(1) if via else number, message)
    return found


def balance(gate, ledger, messages):
    """The complaints, none when all is well. gate: its relay has nothing more to do. messages:
    everything that the world received."""
    arrived = passages(messages)
    by_message = {}
    for item in read_items(gate):
        by_message.setdefault(item.message_id, []).append(item)
    written = {entry.id for entry in ledger.entries}
    complaints = [f"{name}: nobody wrote it" for name in arrived if name not in written]
    for entry in ledger.entries:
        items = by_message.get(entry.id, [])
        copies = list(arrived.get(entry.id, {}).values())
        states = [item.state for item in items]
        complaints += [f"{entry.id}, a {entry.kind}, {entry.outcome}, {states}: {fault}"
                       for fault in [*count_faults(entry, states, copies),
                                     *byte_faults(entry, items, copies),
                                     *authority_faults(ledger, entry, items, copies)]]
    return complaints


def count_faults(entry, states, copies):
    if entry.outcome == KEPT and not states and entry.kind not in WITHOUT_ITEM:
        yield "accepted, and there is no item"
    if entry.outcome == REFUSED and entry.kind != "hostile" and set(states) != {"refused"}:
        yield "refused, and that is not recorded"
    if states and entry.kind in WITHOUT_ITEM:
        yield "it was no agent's"
    if len(copies) > 1:
        yield f"left {len(copies)} times"
    must = "sent" in states or (entry.kind in PASSING and entry.outcome == KEPT)
    if must and not copies:
        yield "did not arrive"
    may = entry.kind in WITHOUT_ITEM or set(states) & set(MAY_HAVE_LEFT)
    if copies and (not may or entry.kind in NEVER_LEAVING or entry.outcome == REFUSED):
        yield "arrived all the same"
    for state in set(states) & set(UNDER_WAY):
        yield f"is still {state}"


def byte_faults(entry, items, copies):
    expected = entry.message
    if entry.kind == "hostile":  # claims in its header are taken out
        expected = expected.partition(b"\r\n\r\n")[2]
    for item in items:
        if item.state in ("held", "draft", "uncertain") and len(item.data) != item.size:
            yield f"{len(item.data)} of {item.size} bytes are kept"
        if item.data and not item.data.endswith(expected):
            yield "other bytes are kept"
    for copy in copies:
        if not copy.data.endswith(expected):
            yield "other bytes arrived"


def authority_faults(ledger, entry, items, copies):
    for item in items:
        began = item.began()
        if item.tier not in ("release", "delay") and began and \
                not ledger.was_tried(item.id, "approve"):
            yield f"{item.id} was sent, and nobody approved it"
        if item.tier == "delay" and began and began < item.due:
            yield f"{item.id} was sent before it was due"
        if item.tier == "release" and entry.kind != "release":
            yield f"{item.id} was released"
        for verb in ("reject", "veto"):
            if ledger.was_done(item.id, verb) and (copies or item.state != verb + "ed"):
                yield f"{item.id}: the {verb} was accepted"
