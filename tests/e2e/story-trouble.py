"""Our trouble is a 451: nothing is lost, nothing leaves twice, nothing fails open."""

import contextlib
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import ADMIN, AGENT, APPROVER, MILTER  # noqa: E402
from letter import letter  # noqa: E402
from sink import Sink  # noqa: E402
from story import PATIENCE, main, pause, story, until  # noqa: E402
from world import World, end_on_signals  # noqa: E402

OWNER, ASSISTANT = "owner@example.com", "agent@example.com"
STRANGER, TOM = "stranger@example.net", "tom@example.com"
POLICY = 'hold "outside" if external > 0\ndraft "inside"\n'


def submit(world, to=STRANGER, **fields):
    return world.submit(ASSISTANT, [to], letter(to, **fields))


def accepted_is_kept(world, count):
    """Every message that got a 250 is an item with its bytes."""
    items = world.gate.items(everything=True)
    assert len(items) == count, items
    for item in items:
        assert world.gate.show(item["id"])["text"] != ""


@story("With the relay down the agent gets a 451, and nothing is lost (XF3)")
def _(world):
    assert submit(world).code == 250
    world.gate.relay.stop()
    assert submit(world).code == 451
    world.gate.relay.start()
    assert submit(world).code == 250
    accepted_is_kept(world, 2)
    assert world.sink.messages() == []


@story("Messages that end together are all decided at once, however long the relay takes")
def _(world):
    crowd = 16
    tasks = f"/proc/{world.gate.milter.process.pid}/task"
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(crowd) as pool:
        clients = [stack.enter_context(world.client(ASSISTANT)) for _ in range(crowd)]
        for client in clients:
            assert client.mail(ASSISTANT).ok and client.rcpt(STRANGER).ok
        world.gate.relay.signal(signal.SIGSTOP)
        replies = [pool.submit(client.data, letter(STRANGER)) for client in clients]
        try:
            until(lambda: len(os.listdir(tasks)) > crowd)  # a thread each; a few would do else
        finally:
            world.gate.relay.signal(signal.SIGCONT)
        assert {reply.result().code for reply in replies} == {250}
    accepted_is_kept(world, crowd)


@story("A place for large messages that cannot be used is told at the milter's start")
def _(world):
    world.gate.milter.stop(knock=world.gate.milter_socket)
    place = os.path.join(world.folder, "none")
    world.gate.configure(POLICY, settings={"spool": place})
    world.gate.milter.start()
    assert f"451: {place}: No such file or directory" in world.gate.milter.read_log()
    assert submit(world).code == 250


@story("With the milter killed the agent gets a 4xx (XF1)")
def _(world):
    with world.client(ASSISTANT) as client:
        assert client.mail(ASSISTANT).ok and client.rcpt(STRANGER).ok
        world.gate.milter.kill()
        assert 400 <= client.data(letter(STRANGER)).code < 500
    reply = submit(world)
    assert 400 <= reply.code < 500, reply
    world.gate.milter.start()
    assert submit(world).code == 250
    accepted_is_kept(world, 1)
    assert world.sink.messages() == []


@story("With the database locked the agent gets a 451 (XF5)")
def _(world):
    assert submit(world).code == 250
    lock = sqlite3.connect(os.path.join(world.gate.state, "exeat.db"), isolation_level=None,
                           timeout=PATIENCE)
    lock.execute("BEGIN IMMEDIATE")
    assert submit(world).code == 451
    lock.execute("ROLLBACK")
    lock.close()
    assert submit(world).code == 250
    accepted_is_kept(world, 2)


@story("What had to wait for the database bears the time at which it was kept")
def _(world):
    lock = sqlite3.connect(os.path.join(world.gate.state, "exeat.db"), isolation_level=None,
                           timeout=PATIENCE)
    lock.execute("BEGIN IMMEDIATE")
    message = letter(STRANGER)
    with ThreadPoolExecutor(1) as pool:
        reply = pool.submit(world.submit, ASSISTANT, [STRANGER], message)
        time.sleep(1.2)  # the relay waits for two seconds
        before = int(time.time())
        lock.execute("ROLLBACK")
    lock.close()
    assert reply.result().code in (250, 451), reply.result()
    assert world.submit(ASSISTANT, [STRANGER], message).code == 250
    [item] = world.gate.items()
    assert item["created"] >= before, (item, before)


@story("On a full disk the agent gets a 451, and what was accepted is whole (XE9, XF4)")
def _(world):
    world.gate.relay.stop()
    world.gate.on_small_disk("3m")
    world.gate.relay.start()
    ballast = world.gate.inside(world.gate.relay, world.gate.state + "/ballast")
    with open(ballast, "wb") as file:
        file.write(bytes(200_000))
    replies = [submit(world, body="x" * 70_000 + "\r\n").code for _ in range(60)]
    assert set(replies) == {250, 451}, replies
    assert replies[-1] == 451
    os.unlink(ballast)  # to look at an item, there must be room for saying so
    accepted = replies.count(250)
    items = world.gate.items(everything=True)
    assert len(items) == accepted, (len(items), accepted)
    assert all(world.gate.show(item["id"])["size"] > 70_000 for item in items)
    assert world.sink.messages() == []


@story("Rubbish on the relay's socket ends that connection and nothing else")
def _(world):
    dice = random.Random(7)
    for length in (1, 3, 4, 5, 64, 4096):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.connect(world.gate.socket)
            peer.settimeout(20)
            peer.sendall(dice.randbytes(length))
            try:
                peer.shutdown(socket.SHUT_WR)
                while peer.recv(4096):
                    pass
            except ConnectionError:
                pass  # closed with bytes unread, which the kernel tells as a reset
    assert submit(world).code == 250
    accepted_is_kept(world, 1)


def frame(verb):
    """A request without arguments, in hexadecimal: a length and a serialised GVariant of type
    (sa{sv})."""
    word = verb.encode() + b"\0"
    data = word + b"\0" * (-len(word) % 8) + bytes([len(word)])
    return (len(data).to_bytes(4, "big") + data).hex()


def ask(world, verb, uid):
    """Sends it to the relay, as a user, and returns the raw answer."""
    script = ("import socket,sys\n"
              "s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1]);s.settimeout(20)\n"
              "s.sendall(bytes.fromhex(sys.argv[2]));sys.stdout.buffer.write(s.recv(65536))\n")
    return subprocess.run(["/usr/bin/python3", "-c", script, world.gate.socket, frame(verb)],
                          user=uid, group=uid, extra_groups=[], capture_output=True,
                          check=False).stdout


@story("A damaged record keeps nobody else waiting")
def _(world):
    for number in range(3):
        assert submit(world, subject=f"{number}").code == 250
    first, second, _ = [item["id"] for item in world.gate.items()]
    with sqlite3.connect(os.path.join(world.gate.state, "exeat.db"),
                         timeout=PATIENCE) as database:
        database.execute("UPDATE item SET facts = 'rubbish', expires = 1 WHERE id = ?", (first,))
    database.close()
    states = {item["id"]: item["state"] for item in world.gate.items()}
    assert states[first] == "damaged" and states[second] == "held", states
    world.gate.approve(second)
    assert world.gate.wait_state(second, "sent") == "sent"
    until(lambda: "its record is damaged" in world.gate.relay.read_log())


@story("A damaged record keeps no account from being suspended, and the relay not from its start")
def _(world):
    for number in range(3):
        assert submit(world, subject=f"{number}").code == 250
    first, second, third = [item["id"] for item in world.gate.items()]
    with sqlite3.connect(os.path.join(world.gate.state, "exeat.db"),
                         timeout=PATIENCE) as database:
        database.execute("UPDATE item SET facts = 'rubbish' WHERE id = ?", (first,))
        database.execute("UPDATE item SET facts = 'rubbish', state = 'sending' WHERE id = ?",
                         (second,))
    database.close()
    done = world.gate.command("account", "suspend", "owner", "on leave", uid=ADMIN)
    assert done.returncode == 0, done
    world.gate.restart_relay()
    assert world.gate.command("account", "resume", "owner", uid=ADMIN).returncode == 0
    world.gate.approve(third)
    assert world.gate.wait_state(third, "sent") == "sent"
    assert [m.recipients for m in world.sink.wait(1)] == [[STRANGER]]


@story("A damaged record keeps nobody from calling a conversation off, or from trying a policy")
def _(world):
    root = "<root@example.com>"
    for fields in ({"Message_ID": root}, {"In_Reply_To": root}, {"In_Reply_To": root}):
        assert submit(world, **fields).code == 250
    first, second, third = [item["id"] for item in world.gate.items()]
    world.gate.command("reject", first, "no")
    assert submit(world, Agent_Supersedes=first).code == 250
    [better] = [item["id"] for item in world.gate.items() if item["id"] not in (second, third)]
    with sqlite3.connect(os.path.join(world.gate.state, "exeat.db"),
                         timeout=PATIENCE) as database:
        database.execute("UPDATE item SET facts = 'rubbish' WHERE id = ?", (first,))
    database.close()
    assert world.gate.show(better)["state"] == "held"
    told = world.gate.answer("policy", "replay")
    assert (told["items"], told["unjudged"]) == (3, 1), told
    report = world.gate.answer("cancel", second)["items"]
    assert {item["id"] for item in report} == {second, third}, report


@story("A damaged record keeps no human's mail out, and no refusal out of the record")
def _(world):
    assert submit(world).code == 250
    [line] = world.gate.items()
    item = world.gate.show(line["id"])
    with sqlite3.connect(os.path.join(world.gate.state, "exeat.db"),
                         timeout=PATIENCE) as database:
        database.execute("UPDATE item SET facts = 'rubbish'")
    database.close()
    done = world.gate.command("approve", item["id"], item["digest"], uid=AGENT)
    assert done.returncode == 77, done
    [denied] = world.gate.answer("audit", "--kind", "denied", uid=0)["entries"]
    assert denied["who"] == f"user {AGENT}", denied
    message = letter(STRANGER, sender=OWNER, Message_ID=item["message_id"])
    assert world.submit(OWNER, [STRANGER], message).code == 250
    assert len(world.sink.wait(1)) == 1


@story("What an agent makes us keep has a limit, and finished messages go first")
def _(world):
    world.gate.configure(POLICY, settings={"store-limit": "1M", "keep": "30d"})
    world.gate.restart_relay()
    body = "x" * 70 + "\r\n"
    replies = [submit(world, body=body * 2000, Message_ID="<one@example.com>",
                      subject=f"{number}").code for number in range(12)]
    assert replies[0] == 250 and replies[-1] == 451, replies
    world.gate.clock(3600)
    until(lambda: submit(world, body=body * 2000, subject="again").code == 250)
    old = [item for item in world.gate.items(everything=True)
           if item["state"] == "superseded"][0]
    shown = world.gate.show(old["id"])
    assert shown["text"] == "" and shown["digest"] != ""


@story("A damaged record keeps no finished message from going, its own bytes included")
def _(world):
    world.gate.configure(POLICY, settings={"store-limit": "1M", "keep": "30d"})
    world.gate.restart_relay()
    body = "x" * 70 + "\r\n"
    while submit(world, body=body * 2000, Message_ID="<one@example.com>").code == 250:
        body = body.swapcase()
    with sqlite3.connect(os.path.join(world.gate.state, "exeat.db"),
                         timeout=PATIENCE) as database:
        database.execute("UPDATE item SET facts = 'rubbish' WHERE state = 'superseded'")
    database.close()
    world.gate.clock(3600)
    until(lambda: submit(world, body=body * 2000, subject="again").code == 250)
    assert "its texts stay" in world.gate.relay.read_log()


@story("One user's connections keep nobody else out (XF6)")
def _(world):
    script = ("import socket,sys,time\n"
              "kept=[]\n"
              "while len(kept)<200:\n"
              "    s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1]);kept.append(s)\n"
              "print('open',flush=True);sys.stdin.read()\n")
    with subprocess.Popen(["/usr/bin/python3", "-c", script, world.gate.socket], user=AGENT,
                          group=AGENT, extra_groups=[], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as flood:
        assert flood.stdout.readline() == b"open\n"
        assert submit(world).code == 250
        [item] = world.gate.items()
        assert world.gate.command("reject", item["id"], "no").returncode == 0
        flood.communicate()
    assert world.gate.relay.read_log().count("turned away") == 1


@story("Ended while people ask and while a message is sent, the relay ends cleanly")
def _(world):
    with send_directly(world) as provider:
        usual = provider.failure

        def slowly(stage, subject):
            if stage == "DOT":
                world.gate.relay.signal(signal.SIGTERM)
                time.sleep(0.5)
            return usual(stage, subject)
        provider.failure = slowly
        item = approve_one(world)
        while world.gate.command("list").returncode == 0:
            pass
        assert world.gate.relay.process.wait(PATIENCE) == 0, world.gate.relay.read_log()
        world.gate.relay.process = None
        world.gate.relay.start()
        assert world.gate.show(item)["state"] == "sent"
        assert len(provider.messages()) == 1


CROWD = """import socket, sys, threading
def ask():
    with socket.socket(socket.AF_UNIX) as relay:
        relay.connect(sys.argv[1])
        relay.sendall(FRAME)
        while relay.recv(65536):
            relay.sendall(FRAME)
FRAME = bytes.fromhex(sys.argv[2])
threads = [threading.Thread(target=ask) for _ in range(int(sys.argv[3]))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@story("Ended while many ask without a pause, the relay ends")
def _(world):
    world.gate.configure(POLICY, settings={"refusal-limit": "1000000"})
    world.gate.restart_relay()
    words = ["/usr/bin/python3", "-c", CROWD, world.gate.socket, frame("list"), "32"]
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            # What the milter's user may not ask is recorded each time.
            stack.enter_context(subprocess.Popen(words, user=MILTER, group=MILTER,
                                                 extra_groups=[], stderr=subprocess.DEVNULL))
        until(lambda: world.gate.relay.read_log().count("may not ask for list") > 1000)
        assert world.gate.relay.stop() == 0
    world.gate.relay.start()


@story("Whoever is not the milter's user may not submit, redeem or teach (C2, XF11)")
def _(world):
    for verb in ("submit", "redeem", "observe"):
        for uid in (AGENT, APPROVER, 0):
            assert b"denied" in ask(world, verb, uid), (verb, uid)
    done = subprocess.run(["/usr/bin/python3", "-c", "import socket,sys\n"
                           "socket.socket(socket.AF_UNIX).connect(sys.argv[1])",
                           world.gate.milter_socket], user=AGENT, group=AGENT, extra_groups=[],
                          capture_output=True, check=False)
    assert b"PermissionError" in done.stderr, done


@story("Killed in every waiting state, the relay finds each item as it was (A14)")
def _(world):
    world.gate.configure(POLICY, settings={"next-hop": f"unix:{world.folder}/nowhere"})
    world.gate.restart_relay()
    for number in range(4):
        assert submit(world, subject=f"held {number}").code == 250
    assert submit(world, TOM, subject="draft").code == 250
    by_subject = {item["subject"]: item["id"] for item in world.gate.items()}
    world.gate.approve(by_subject["held 1"])
    until(lambda: world.gate.show(by_subject["held 1"])["answer"] != "")
    world.gate.command("reject", by_subject["held 2"], "no")
    before = {item["id"]: item["state"] for item in world.gate.items(everything=True)}
    assert sorted(before.values()) == ["approved", "draft", "held", "held", "rejected"], before
    for _ in range(3):
        world.gate.relay.kill()
        world.gate.relay.start()
        until(lambda: world.gate.show(by_subject["held 1"])["state"] == "approved")
        after = {item["id"]: item["state"] for item in world.gate.items(everything=True)}
        assert after == before, after
    assert world.sink.messages() == []


def send_directly(world, folder="provider"):
    """A next hop without the gate: a server that takes everything. Returns it."""
    provider = Sink(os.path.join(world.folder, folder))
    world.gate.configure(POLICY, settings={"next-hop": f"inet:127.0.0.1:{provider.port}",
                                           "next-hop-gated": "no"})
    world.gate.restart_relay()
    return provider


def approve_one(world):
    assert submit(world).code == 250
    item = world.gate.items(everything=True)[-1]["id"]
    world.gate.approve(item)
    return item


@story("Dropped after the dot at a next hop without the gate: uncertain, and never sent again (E40)")
def _(world):
    with send_directly(world) as provider:
        for failure in ("drop", "half", "reset"):
            provider.clear()
            provider.rules = [{"at": "DOT", "do": failure}]
            item = approve_one(world)
            assert world.gate.wait_state(item, "uncertain") == "uncertain", failure
            provider.rules = []
            world.gate.clock(3600)
            world.gate.restart_relay()
            world.gate.clock(0)
            assert world.gate.show(item)["state"] == "uncertain"
            assert len(provider.messages()) == 1, failure


@story("Killed while the next hop thinks about the dot: uncertain, never sent again (XC8)")
def _(world):
    with send_directly(world) as provider:
        provider.rules = [{"at": "DOT", "do": "hang"}]
        item = approve_one(world)
        assert world.gate.wait_state(item, "committing") == "committing"
        provider.wait(1)
        world.gate.relay.kill()
        provider.rules = []
        world.gate.relay.start()
        assert world.gate.show(item)["state"] == "uncertain"
        assert len(provider.messages()) == 1


@story("Killed before the dot: nothing left, the approval stands, the next try sends once (XC8)")
def _(world):
    with send_directly(world) as provider:
        provider.rules = [{"at": "RCPT", "do": "hang", "times": 1}]
        item = approve_one(world)
        until(lambda: provider.rules[0]["times"] == 0)
        assert world.gate.show(item)["state"] == "sending"
        world.gate.relay.kill()
        assert provider.messages() == []
        world.gate.relay.start()
        assert world.gate.wait_state(item, "sent") == "sent"
        assert len(provider.wait(1)) == 1


@story("A refusal after the dot is a failure, said with the server's words; a 4xx before is retried")
def _(world):
    with send_directly(world) as provider:
        provider.rules = [{"at": "DOT", "do": "554 5.7.1 not with us", "times": 1}]
        item = approve_one(world)
        assert world.gate.wait_state(item, "failed") == "failed"
        assert "not with us" in world.gate.show(item)["answer"]
        provider.rules = [{"at": "RCPT", "do": "451 4.2.0 later", "times": 1}]
        item = approve_one(world)
        until(lambda: "later" in world.gate.show(item)["answer"])
        assert world.gate.show(item)["state"] == "approved"
        world.gate.clock(60)
        assert world.gate.wait_state(item, "sent") == "sent"
        assert len(provider.wait(1)) == 1


@story("Mode draft set while a message is on its way to the final dot keeps it in (XC13)")
def _(world):
    with send_directly(world) as provider:
        usual = provider.failure

        def close_meanwhile(stage, subject):
            if stage == "DATA":
                world.gate.configure(POLICY, account={"mode": "draft"}, settings={
                    "next-hop": f"inet:127.0.0.1:{provider.port}", "next-hop-gated": "no"})
                world.gate.reload()
            return usual(stage, subject)
        provider.failure = close_meanwhile
        item = approve_one(world)
        assert world.gate.wait_state(item, "held") == "held"
        assert provider.messages() == []


@story("A bad configuration does not start, and a bad reload changes nothing (E11, XF10, XF16, XC1)")
def _(world):
    world.gate.write("policy", 'hold "x" if recipiants > 1\n')
    world.gate.reload()
    assert "recipients" in world.gate.relay.read_log()
    assert submit(world).code == 250
    accepted_is_kept(world, 1)
    world.gate.relay.stop()
    for account, settings, mode in (({"approvers": str(AGENT)}, {}, 0o644),
                                    ({"colour": "red"}, {}, 0o644),
                                    ({}, {"milter-user": None}, 0o644), ({}, {}, 0o666)):
        world.gate.configure(POLICY, account, settings)
        os.chmod(os.path.join(world.gate.etc, "exeat.conf"), mode)
        try:
            world.gate.relay.start()
        except RuntimeError as error:
            assert "exeat.conf" in str(error), error
        else:
            raise AssertionError(f"started with {account} {settings} {mode:o}")


def stop_at_clock(gate):
    """Waits until the relay looks at the clock, once it is more than a program that is loaded.
    It goes on when the clock is set and the descriptor that is returned is closed."""
    begin = time.monotonic()
    while time.monotonic() < begin + PATIENCE:
        with contextlib.suppress(OSError):  # nobody reads
            fifo = os.open(gate.clock_file, os.O_WRONLY | os.O_NONBLOCK)
            with open(f"/proc/{gate.relay.process.pid}/status", encoding="ascii") as file:
                status = file.read()
            if "NoNewPrivs:\t1" in status and "State:\tS" in status:
                return fifo
            os.close(fifo)
        pause(begin)
    raise TimeoutError("it does not look at the clock")


@story("Told to read its files again before it has read them once, the relay starts and does so")
def _(world):
    gate = world.gate
    gate.relay.stop()
    os.mkfifo(gate.clock_file, 0o644)
    with ThreadPoolExecutor() as pool:
        starting = pool.submit(gate.relay.start)
        fifo = stop_at_clock(gate)
        gate.relay.process.send_signal(signal.SIGHUP)
        gate.clock(0)
        os.close(fifo)
        starting.result()
    until(lambda: "exeat.conf again" in gate.relay.read_log())
    assert submit(world).code == 250
    accepted_is_kept(world, 1)


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World(POLICY)))
