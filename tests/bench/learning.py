"""Rows about the past: facts from a long history, and reading it in."""

import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

import table
from gate import Gate, environment
from letters import OWNER, write_maildir, write_mboxes
from stage import Folder, Nowhere, rounds
from table import note, ratios

POLICY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "contrib", "policies",
                      "standard")
SIZES = 10_000, 1_000_000, 10_000_000
LARGE_BYTES = 12 << 30  # of disk, for the largest
MAILDIR = 50_000
MBOX = 1_000_000
SAMPLE_SECONDS = 0.05


def measure_facts(build, plan):
    with Folder() as folder:
        measure_facts_in(folder, build, plan)


def measure_facts_in(folder, build, plan):
    sizes = SIZES[:1 + plan.level]
    if shutil.disk_usage(folder).free < LARGE_BYTES:
        sizes = SIZES[:2]
    note(f"histories of {', '.join(f'{size:,}' for size in sizes)} correspondents: minutes")
    done = subprocess.run([os.path.join(build, "tests/bench/facts-bench"), POLICY,
                           *map(str, sizes)], env=environment(TMPDIR=folder), check=True,
                          stdout=subprocess.PIPE, text=True)
    rows = [dict(word.split("=") for word in line.split()) for line in done.stdout.splitlines()]
    for row in rows:
        note(f"  {row['kind']:9} {int(row['correspondents']):11,}: median {row['median']} µs, "
             f"99 % {row['p99']} µs; {row['ratio_min']} - {row['ratio']} - {row['ratio_max']} "
             f"times the first; {row['bytes_each']} bytes a correspondent; "
             f"made in {row['build_seconds']} s")
    for row in rows:
        if int(row["correspondents"]) + 10 > sizes[-1]:
            what = f"{row['kind']}, {sizes[-1]:,} correspondents"
            table.add(f"facts, {what}", [float(row["median"])], most=200, unit=" µs")
            table.add(f"facts, {what}, to {sizes[0]:,}",
                      [float(row[key]) for key in ("ratio_min", "ratio", "ratio_max")], most=1.5)


class Watch:
    """The most memory of a process, in megabytes, as it grows."""

    def __init__(self, pid):
        self.pid = pid
        self.peaks = []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()

    def _watch(self):
        while not self.ended.wait(SAMPLE_SECONDS):
            try:
                with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
                    self.peaks += [int(line.split()[1]) / 1024 for line in file
                                   if line.startswith("VmHWM")]
            except ProcessLookupError:
                return

    def end(self):
        """After a fifth of the time, and at the end."""
        self.ended.set()
        self.thread.join()
        return self.peaks[len(self.peaks) // 5], self.peaks[-1]


class Importer:
    """A relay with an empty history, and the command."""

    def __init__(self, folder, build):
        self.gate = Gate(folder, Nowhere(folder), build)
        with open(POLICY, encoding="utf-8") as file:
            self.gate.configure(file.read())
        self.gate.relay.environment = {}
        self.gate.relay.start()

    def run(self, path, count, watch=False):
        """Imports into an empty history: seconds, and what the watches of both saw."""
        self.gate.restart_relay(fresh=True)
        command = [os.path.join(self.gate.bin, "exeat"), "-c", self.gate.config, "import",
                   "--json", path]
        begun = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment()) as process:
            watches = [Watch(pid) for pid in (process.pid, self.gate.relay.process.pid) if watch]
            summary = json.load(process.stdout)
        seconds = time.monotonic() - begun
        assert summary["sent"] == count // 2 and summary["received"] == count // 2, summary
        self.summary = summary
        return seconds, [one.end() for one in watches]

    def bytes_each(self):
        """Of the database, for each correspondent of the last import."""
        self.gate.relay.stop()
        size = os.path.getsize(os.path.join(self.gate.state, "exeat.db"))
        self.gate.relay.start()
        return size / self.summary["correspondents"]

    def stop(self):
        self.gate.kill()


def timed(command, **more):
    begun = time.monotonic()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more)
    return time.monotonic() - begun, done.stdout


def run_mu(folder, maildir):
    """mu index with an empty index."""
    home = tempfile.mkdtemp(dir=folder)
    mu = ["mu", f"--muhome={home}"]
    quiet = {"env": environment(HOME=folder), "stderr": subprocess.DEVNULL}
    timed([mu[0], "init", mu[1], f"--maildir={maildir}", f"--my-address={OWNER}"], **quiet)
    seconds, _ = timed([mu[0], "index", mu[1], "--quiet"], **quiet)
    _, found = timed([mu[0], "find", mu[1], "--fields=l", ""], **quiet)
    assert len(found.splitlines()) == MAILDIR, len(found.splitlines())
    shutil.rmtree(home)
    return seconds


def run_heads(build, maildir):
    seconds, found = timed([os.path.join(build, "tests/bench/gmime-heads"),
                            *(os.path.join(maildir, name, "cur") for name in ("", ".Sent"))])
    assert int(found) == MAILDIR, found
    return seconds


def measure_import(build, plan):
    with Folder() as folder:
        measure_import_in(folder, build, plan)


def measure_import_in(folder, build, plan):
    if shutil.which("mu") is None:
        table.absent("import to mu index", "not installed")
        return
    maildir = os.path.join(folder, "Maildir")
    note(f"a Maildir of {MAILDIR:,} messages, read by three")
    write_maildir(maildir, MAILDIR, int(time.time()))
    importer = Importer(folder, build)
    readers = {"exeat import": lambda: {"seconds": importer.run(maildir, MAILDIR)[0]},
               "mu index": lambda: {"seconds": run_mu(folder, maildir)},
               "gmime heads": lambda: {"seconds": run_heads(build, maildir)}}
    run_heads(build, maildir)  # the files are in memory from here on
    found = rounds(min(plan.rounds, 3), readers)
    for name, runs in found.items():
        rates = [MAILDIR / run["seconds"] for run in runs]
        note(f"    {name:12} {table.spread(rates)} messages a second")
    note(f"    {importer.bytes_each():.0f} bytes on disk a correspondent, with conversations")
    importer.stop()
    for name, least in (("mu index", 15), ("gmime heads", 0.7)):
        table.add(f"import to {name}", ratios(found, name, "exeat import", "seconds"), least=least)


def measure_import_memory(build, plan):
    count = MBOX if plan.level > 1 else MBOX // 5
    with Folder() as folder:
        note(f"two mbox files of {count:,} messages together")
        mail = os.path.join(folder, "mail")
        os.makedirs(mail)
        write_mboxes(mail, count, int(time.time()))
        importer = Importer(folder, build)
        seconds, peaks = importer.run(mail, count, watch=True)
        note(f"    {count / seconds:,.0f} messages a second")
        importer.stop()
    for name, (early, late) in zip(("exeat", "exeat-relay"), peaks):
        table.add(f"memory of {name} at the end of an import, to that after a fifth",
                  [late / early], most=1.25, about=f"{late:.0f} MB")
