"""Rows through Postfix: every contender is a way in of the same Postfix, and has the same
clients; only what stands between differs."""

import os

import table
from gate import Gate
from peers import start_peers
from stage import (FREE_SENDERS, Bench, Folder, Load, agents, make_gate, nothing, rounds)
from table import note, ratios

SIZES = 1_000, 10_000, 100_000
CONNECTIONS = 1, 8, 32
FIRST_RECIPIENTS = 20


class Stage:
    """Postfix, the gate and the milters that do nothing, for a with block."""

    def __init__(self, build, peers=False, inet=False):
        self.build = build
        self.inet = inet
        self.wants_peers = peers
        self.load = Load(build)

    def __enter__(self):
        self.made = Folder()
        self.folder = self.made.__enter__()
        self.stops = []
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self):
        place = os.path.join(self.folder, "open")
        self.peers = start_peers(self.folder) if self.wants_peers else {}
        self.stops += [peer.stop for peer in self.peers.values()]
        self.idlers = {}
        ways = {"none": "", "gate": "unix:exeat/milter"}
        for name, words in (("nothing", []), ("quiet", ["quiet"]),
                            ("quarantine", ["quarantine"]), ("discard", ["discard"])):
            path = os.path.join(place, name)
            self.idlers[name] = nothing(self.build, path, *words)
            self.stops.append(self.idlers[name].stop)
            ways[name] = f"unix:{path}"
        if self.inet:
            ways |= self._start_inet()
        ways |= {name: peer.milter for name, peer in self.peers.items()}
        self.host = Bench(self.folder, ways)
        self.stops.append(self.host.stop)
        self.gate = make_gate(self.folder, self.host, self.build)
        self.stops.append(self.gate.kill)
        self.host.start()
        self.gate.start()

    def _start_inet(self):
        """A second gate and a second milter that does nothing, over TCP."""
        from mailhost import free_port  # pylint: disable=import-outside-toplevel
        ports = free_port(), free_port()
        folder = os.path.join(self.folder, "inet")
        os.makedirs(folder)
        self.idlers["nothing-inet"] = nothing(self.build, f"inet:{ports[0]}@127.0.0.1")
        self.stops.append(self.idlers["nothing-inet"].stop)
        self.inet_port, self.inet_folder = ports[1], folder
        return {"nothing-inet": f"inet:127.0.0.1:{ports[0]}",
                "gate-inet": f"inet:127.0.0.1:{ports[1]}"}

    def start_inet_gate(self):
        gate = make_gate(self.inet_folder, self.host, self.build,
                         **{"milter-socket": f"inet:{self.inet_port}@127.0.0.1"})
        self.stops.append(gate.kill)
        gate.start()

    def __exit__(self, *_):
        while self.stops:
            self.stops.pop()()
        self.made.__exit__()

    def gate_pids(self):
        return [self.gate.milter.process.pid, self.gate.relay.process.pid]

    def fresh(self):
        """An empty history, so that no round is slower for those before it."""
        Gate.restart_relay(self.gate, fresh=True)

    def press(self, way, senders, size, connections, seconds, **more):
        return lambda: self.load.smtp(self.host.address(way), size, connections, seconds, senders,
                                      **more)


def name(size, connections):
    return f"{size // 1000} KB, {connections} connection{'s' if connections > 1 else ''}"


def contenders(stage, size, connections, seconds, **more):
    """The gate's three paths, and what they are compared with."""
    def press(way, senders, pids=()):
        return stage.press(way, senders, size, connections, seconds, pids=pids, **more)

    gate = stage.gate_pids()
    return {"none": press("none", FREE_SENDERS),
            "nothing": press("nothing", FREE_SENDERS, [stage.idlers["nothing"].process.pid]),
            "quarantine": press("quarantine", FREE_SENDERS),
            "ungated": press("gate", FREE_SENDERS, gate),
            "release": press("gate", agents("release"), gate),
            "hold": press("gate", agents("hold"), gate)}


def show(found):
    for key, runs in found.items():
        rates = [run["rate"] for run in runs]
        waits = [run["p50_us"] / 1000 for run in runs]
        note(f"    {key:14} {table.spread(rates)} messages a second, "
             f"{table.spread(waits)} ms after the dot, "
             f"{table.spread([run['cpu_us'] for run in runs])} µs of processor")


def latency(found, ours, member):
    """What it adds over no milter, as a multiple of what the do-nothing milter adds; of that, a
    twentieth of the whole at least, since it may drown in the noise."""
    return [max(a[member] - none[member], 0) / max(b[member] - none[member], none[member] / 20)
            for a, b, none in zip(found[ours], found["nothing"], found["none"])]


def judge_paths(found, size, connections):
    about = name(size, connections)
    table.add(f"ungated, {about}", ratios(found, "ungated", "nothing"), least=1.15)
    table.add(f"release, {about}", ratios(found, "release", "nothing"), least=1.0)
    table.add(f"release, {about}: processor time of the gate",
              ratios(found, "release", "nothing", "cpu_us"), most=1.0)
    table.add(f"hold to quarantine, {about}", ratios(found, "hold", "quarantine"), least=1.0)
    if size == 10_000 and connections in (1, 8):
        for member, most in (("p50_us", 1.0), ("p99_us", 1.5)):
            table.add(f"release, {about}: added after the dot, {member[1:3]} %",
                      latency(found, "release", member), most=most)


def measure_paths(build, plan):
    with Stage(build) as stage:
        for size in plan.pick(SIZES):
            for connections in plan.pick(CONNECTIONS):
                note(name(size, connections))
                stage.fresh()
                found = rounds(plan.rounds, contenders(stage, size, connections, plan.seconds),
                               stage.host.drain)
                show(found)
                judge_paths(found, size, connections)


def measure_recipients(build, plan):
    with Stage(build) as stage:
        note(f"{FIRST_RECIPIENTS} recipients, 10 KB, 8 connections")
        found = rounds(plan.rounds, contenders(stage, 10_000, 8, plan.seconds,
                                               recipients=FIRST_RECIPIENTS), stage.host.drain)
        show(found)
        for path in ("ungated", "release"):
            table.add(f"{path}, {FIRST_RECIPIENTS} recipients", ratios(found, path, "nothing"),
                      least=1.0)


def measure_peers(build, plan):
    """Against other milters, and what else is known, for orientation."""
    with Stage(build, peers=True) as stage:
        for missing in {"opendkim", "rspamd", "MIMEDefang", "python3-milter"} - set(stage.peers):
            table.absent(f"release to {missing}", "not installed")
        for size in plan.pick((10_000,)):
            note(f"peers, {name(size, 8)}")
            stage.fresh()
            ways = {key: stage.press(key, FREE_SENDERS, size, 8, plan.seconds)
                    for key in ("none", "nothing", "quiet", "discard", *stage.peers)}
            ways["release"] = stage.press("gate", agents("release"), size, 8, plan.seconds)
            found = rounds(plan.rounds, ways, stage.host.drain)
            show(found | {})
            for key in stage.peers:
                table.add(f"release to {key}", ratios(found, "release", key),
                          least=1.3 if key in ("opendkim", "rspamd") else 1.0)
            for key in ("none", "quiet", "discard", *stage.peers):
                table.tell(f"{key} to the do-nothing milter", ratios(found, key, "nothing"))


def measure_inet(build, plan):
    with Stage(build, inet=True) as stage:
        stage.start_inet_gate()
        note("over TCP, 10 KB")
        for connections in plan.pick((1, 8)):
            found = rounds(plan.rounds, {
                "nothing": stage.press("nothing-inet", FREE_SENDERS, 10_000, connections,
                                       plan.seconds),
                "ungated": stage.press("gate-inet", FREE_SENDERS, 10_000, connections,
                                       plan.seconds),
                "release": stage.press("gate-inet", agents("release"), 10_000, connections,
                                       plan.seconds)}, stage.host.drain)
            show(found)
            for path in ("ungated", "release"):
                table.add(f"over TCP: {path}, {name(10_000, connections)}",
                          ratios(found, path, "nothing"), least=0.9)
