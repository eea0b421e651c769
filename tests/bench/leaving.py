"""Rows about what leaves: held mail through the door, an approval, a due time among a million."""

import os
import re
import sqlite3
import subprocess
import time

import table
from gate import ADMIN
from stage import SOON, Bench, Folder, Load, agents, make_gate, rounds
from table import note, ratios

SESSIONS = 4  # relay/send-threads.c
ACCEPTED = "accepted at DOT"  # in the log
# Held items wait until they expire. What is delayed is judged again at each start, beside the
# others of its account: a million of one account stand for no place there is.
INSERTS = """
CREATE TEMP TABLE number AS WITH RECURSIVE n (n) AS
    (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {count}) SELECT n FROM n;
INSERT INTO item SELECT {item} FROM item, temp.number WHERE item.id = '{id}';
INSERT INTO item_extract SELECT seq + n, bytes FROM item_extract, temp.number
    WHERE seq = (SELECT seq FROM item WHERE id = '{id}');
INSERT INTO recipient SELECT {recipient} FROM recipient, temp.number WHERE item = '{id}';
UPDATE tally SET items = items + {count} WHERE state = 'held';
"""


class House:
    """Postfix, which throws away what it takes, and the gate, for a with block."""

    def __init__(self, build):
        self.build = build
        self.load = Load(build)

    def __enter__(self):
        self.made = Folder()
        self.folder = self.made.__enter__()
        self.host = Bench(self.folder, {})
        self.gate = make_gate(self.folder, self.host, self.build)
        self.host.start()
        self.gate.start()
        return self

    def __exit__(self, *_):
        self.gate.kill()
        self.host.stop()
        self.made.__exit__()

    def submit(self, kind, count, size=10_000, connections=4):
        """As the mail server would hand it to the milter."""
        self.load.milter(self.gate.milter_socket, size, min(connections, count), 60, agents(kind),
                         most=count)

    def command(self, *words, uid=ADMIN):
        done = self.gate.command(*words, uid=uid)
        assert done.returncode == 0, done.stderr

    def last_item(self, start):
        """The first item that the log names from there on."""
        with open(self.gate.relay.log, encoding="utf-8", errors="replace") as file:
            file.seek(start)
            return re.search(r": ([0-9a-z]{12}): account ", file.read()).group(1)

    def log_size(self):
        return os.path.getsize(self.gate.relay.log)

    def wait_log(self, start, words, count, seconds=60):
        """Waits for so many lines of the relay's log with the words; when that was."""
        deadline = time.monotonic() + seconds
        with open(self.gate.relay.log, encoding="utf-8", errors="replace") as file:
            file.seek(start)
            text = ""
            while True:
                text += file.read()
                if text.count(words) >= count:
                    return time.monotonic(), time.time()
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{count} times {words}:\n{text[-2000:]}")
                time.sleep(0.001)


def run_door(house, count):
    """So many delayed messages, all of them due when the relay is started."""
    house.submit("soon", count)
    house.gate.relay.stop()
    time.sleep(SOON + 1)
    start = house.log_size()
    house.gate.relay.start()
    begun = time.monotonic()
    ended, _ = house.wait_log(start, ACCEPTED, count)
    house.host.drain()
    return {"rate": count / (ended - begun)}


def run_bare(house, count):
    found = house.load.smtp(house.host.door, 10_000, SESSIONS, 60, "bench#@example.net",
                            login=False, most=count)
    house.host.drain()
    return found


def measure_door(build, plan):
    count = 400 if plan.full else 100
    with House(build) as house:
        note(f"{count} held messages of 10 KB through the door, and a bare client's")
        found = rounds(min(plan.rounds, 3), {"held": lambda: run_door(house, count),
                                     "bare": lambda: run_bare(house, count)})
        for key, runs in found.items():
            note(f"    {key:6} {table.spread([run['rate'] for run in runs])} messages a second")
        table.add("held mail through the door to a bare client", ratios(found, "held", "bare"),
                  least=0.9)


def measure_approve(build, plan):
    with House(build) as house:
        count = 20 if plan.full else 5
        house.submit("hold", count, connections=1)
        times = []
        for item in house.gate.items():
            digest = house.gate.show(item["id"])["digest"]
            start, begun = house.log_size(), time.monotonic()
            house.gate.answer("approve", item["id"], digest)
            ended, _ = house.wait_log(start, ACCEPTED, 1)
            times.append(1000 * (ended - begun))
        table.add("approve to accepted by the mail server, median", [sorted(times)[len(times) // 2]],
                  most=50, unit=" ms", about=f"of {len(times)}: {table.spread(times)} ms")


def multiply(database, count):
    """Copies of the one item that waits, with names, recipients and times of their own."""
    db = sqlite3.connect(database)
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    db.execute("PRAGMA cache_size = -400000")
    item, = db.execute("SELECT id FROM item WHERE state = 'held'").fetchone()

    def columns(name, changed):
        names = [row[1] for row in db.execute(f"PRAGMA table_info({name})")]
        return ", ".join(changed.get(column, f"{name}.{column}") for column in names)

    new_id = "printf('x%011d', n)"
    db.executescript(INSERTS.format(
        count=count, id=item,
        item=columns("item", {"id": new_id, "seq": "seq + n", "expires": "expires + n % 100000",
                              "submission_key": "submission_key || n",
                              "message_id": "n || message_id"}),
        recipient=columns("recipient", {"item": new_id, "address": "n || address"})))
    db.commit()
    db.close()


def measure_due(build, plan):
    count = 1_000_000 if plan.full else 50_000
    with House(build) as house:
        note(f"{count:,} waiting items: making them takes a minute")
        house.submit("hold", 1, size=300)  # its text is copied, too
        house.gate.relay.stop()
        database = os.path.join(house.gate.state, "exeat.db")
        multiply(database, count)
        os.sync()  # else the start would wait until the system has written what was just made
        subprocess.run(["chown", "-R", f"--reference={house.gate.state}", house.gate.state],
                       check=True)
        begun = time.monotonic()
        house.gate.relay.start()
        table.add(f"start-up with {count:,} waiting items", [time.monotonic() - begun], most=2,
                  unit=" s")
        late = []
        for _ in range(plan.rounds):
            start = house.log_size()
            house.submit("delay", 1)
            _, ended = house.wait_log(start, ACCEPTED, 1)
            late.append(ended - house.gate.show(house.last_item(start))["due"])
        table.add(f"due among {count:,}: late by", late, most=1, unit=" s")
