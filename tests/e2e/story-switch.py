"""What is switched off sends nothing, and nobody but an admin switches it on."""

import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import ADMIN, AGENT, APPROVER, RELAY, STRANGER as NOBODY, environment  # noqa: E402
from letter import letter, message_id  # noqa: E402
from proxy import Proxy  # noqa: E402
from story import PATIENCE, main, story, until  # noqa: E402
from world import World, end_on_signals  # noqa: E402

OWNER, ASSISTANT = "owner@example.com", "agent@example.com"
NORA, STRANGER, DANA = "nora@example.org", "stranger@example.net", "dana@example.com"
POLICY = """\
refuse  "never this"          if recipients > 5
hold    "first contact"       if novel > 0
release "colleagues"          if external = 0
delay 2h-6h "people I know"
"""
PANIC = "panic@example.com"
ACCOUNT = {"stop-address": PANIC}
MINUTES, HOURS = 60, 3600


def write(world, *recipients):
    """The human writes to people, who are known from then on."""
    message = letter(", ".join(recipients), sender=OWNER)
    assert world.submit(OWNER, list(recipients), message).code == 250
    world.sink.wait(1)


def submit(world, to, subject="A word", **fields):
    """The agent submits a message that is kept. Returns its item."""
    known = {item["id"] for item in world.gate.items(everything=True)}
    assert world.submit(ASSISTANT, [to], letter(to, subject, **fields)).code == 250
    [item] = [item for item in world.gate.items(everything=True) if item["id"] not in known]
    return item["id"]


def pass_time(world, seconds):
    """Moves the clock and waits until the relay has done all that is due by then: a message that
    expired tells that it has looked, and a relay that stops finishes what it sends."""
    world.gate.configure(POLICY, ACCOUNT, {"expire": "1m"})
    world.gate.restart_relay()
    marker = submit(world, STRANGER, "marker")
    world.gate.configure(POLICY, ACCOUNT)
    world.gate.clock(seconds)
    assert world.gate.wait_state(marker, "expired") == "expired"
    world.gate.restart_relay()


def states(world, items):
    return {world.gate.show(item)["state"] for item in items}


def admin(world, *words, uid=ADMIN):
    return world.gate.command(*words, uid=uid)


def nothing_of_the_agent_left(world):
    world.host.wait_empty()
    return all(message.field("From") == [OWNER] for message in world.sink.messages())


@story("Ten delayed and ten approved stay in while stopped, and need a new word after (XF8, A2)")
def _(world):
    write(world, NORA)
    delayed = [submit(world, NORA) for _ in range(10)]
    approved = [submit(world, STRANGER) for _ in range(10)]
    assert states(world, delayed) == {"delayed"}
    world.host.stop()
    for item in approved:
        world.gate.approve(item)
    for item in approved:
        until(lambda: world.gate.show(item)["state"] == "approved"
              and world.gate.show(item)["answer"] != "")
    done = admin(world, "stop", "It runs wild.")
    assert done.returncode == 0 and "Everything is stopped" in done.stdout, done
    world.host.start()
    world.gate.restart_relay()
    pass_time(world, 11 * MINUTES)
    assert states(world, approved) == {"approved"} and states(world, delayed) == {"delayed"}
    pass_time(world, 7 * HOURS)
    assert states(world, delayed) == {"delayed"}
    assert nothing_of_the_agent_left(world)
    done = admin(world, "start")
    assert done.returncode == 0 and "20 items" in done.stdout, done
    assert states(world, approved + delayed) == {"held"}
    assert world.gate.show(delayed[0])["why"] == "it was stopped meanwhile"
    world.gate.restart_relay()
    assert nothing_of_the_agent_left(world)
    world.gate.approve(delayed[0])
    assert world.gate.wait_state(delayed[0], "sent") == "sent"
    assert world.sink.wait(2)[-1].recipients == [NORA]


@story("A valid approval from before a stop is void after it; what is not due goes on (XF8, XC13)")
def _(world):
    write(world, NORA)
    delayed = submit(world, NORA)
    approved = submit(world, STRANGER)
    world.host.stop()
    world.gate.approve(approved)
    until(lambda: world.gate.show(approved)["answer"] != "")
    admin(world, "stop", "wait")
    digest = world.gate.show(approved)["digest"]
    assert world.gate.command("approve", approved, digest).returncode == 65
    admin(world, "start")
    world.host.start()
    assert world.gate.show(approved)["state"] == "held"
    assert world.gate.show(delayed)["state"] == "delayed"
    world.gate.clock(7 * HOURS)
    assert world.gate.wait_state(delayed, "sent") == "sent"
    world.gate.restart_relay()
    assert [message.recipients for message in world.sink.wait(2)] == [[NORA], [NORA]]


@story("New submissions are kept as held while stopped, whatever the rules say")
def _(world):
    write(world, NORA, DANA)
    admin(world, "stop", "It runs wild.")
    for to in (DANA, NORA, STRANGER):
        item = world.gate.show(submit(world, to))
        assert item["state"] == "held" and item["reason"] == "stopped: It runs wild.", item
    crowd = [f"s{number}@example.net" for number in range(6)]
    assert world.submit(ASSISTANT, crowd, letter(STRANGER)).code == 250
    assert world.submit(ASSISTANT, [DANA], letter(DANA), sender="").code == 550
    assert nothing_of_the_agent_left(world)
    admin(world, "start")
    released = letter(DANA)
    assert world.submit(ASSISTANT, [DANA], released).code == 250
    until(lambda: any(message.data.endswith(released) for message in world.sink.messages()))


@story("A stop between the bytes and the final dot keeps the message in")
def _(world):
    proxy = Proxy(os.path.join(world.folder, "proxy"), world.host.door)
    with proxy:
        world.gate.configure(POLICY, ACCOUNT, {"next-hop": f"unix:{proxy.path}"})
        world.gate.restart_relay()
        item = submit(world, STRANGER)
        answers = []

        def at_dot():
            answers.append(admin(world, "stop", "now"))
            return "pass"
        proxy.at_dot = at_dot
        world.gate.approve(item)
        assert world.gate.wait_state(item, "held") == "held"
    assert [answer.returncode for answer in answers] == [0]
    assert world.gate.show(item)["why"] == "stopped: now"
    world.host.wait_empty()
    assert world.sink.messages() == []


@story("Only admins stop and start; it is told first, and is on record (XF9)")
def _(world):
    for uid in (AGENT, APPROVER, NOBODY):
        assert admin(world, "stop", "mine", uid=uid).returncode == 77
    assert admin(world, "stop", "owner", "It runs wild.").returncode == 0
    assert admin(world, "stop", "owner", "again").returncode == 65
    for words in (("start", "owner"), ("account", "resume", "owner")):
        for uid in (AGENT, APPROVER, NOBODY):
            assert admin(world, *words, uid=uid).returncode == 77
    world.gate.restart_relay()
    told = world.gate.command("status").stdout.splitlines()
    assert told[0].startswith("owner is stopped since "), told
    assert f"user {ADMIN}" in told[0] + told[1] and "It runs wild." in told[0] + told[1], told
    assert admin(world, "start").returncode == 65
    assert admin(world, "start", "owner").returncode == 0
    assert world.gate.answer("status")["halts"] == []
    assert f"owner stopped: It runs wild. by user {ADMIN}" in world.gate.relay.read_log()


@story("Wrong words stop nothing, and say so")
def _(world):
    for words, status in (
            (("stop",), 64), (("stop", " "), 64), (("stop", "nobody", "why"), 66),
            (("start", "nobody"), 66), (("account", "suspend", "owner"), 64),
            (("account", "close", "owner", "why"), 64), (("account", "resume", "owner", "x"), 64),
            (("account", "suspend", "nobody", "why"), 66), (("account", "resume", "owner"), 65),
            (("account", "suspend", "", "why"), 64), (("stop", "x" * 1001), 64),
            (("stop", "two\nlines"), 64)):
        done = admin(world, *words)
        assert done.returncode == status and done.stderr.startswith("exeat: "), (words, done)
    assert world.gate.answer("status")["halts"] == []


@story("A human stops the account by mail, and nobody else does (A2)")
def _(world):
    for login, to, subject in (
            (ASSISTANT, PANIC, "stop"), ("other@example.com", PANIC, "stop"),
            (OWNER, PANIC, "stopwatch"), (OWNER, PANIC, "Re: stop"), (OWNER, PANIC, "start"),
            (OWNER, DANA, "stop")):
        assert world.submit(login, [to], letter(to, subject, sender=login)).code == 250
    assert world.receive("mallory@example.net", [PANIC],
                         letter(PANIC, "stop", sender=OWNER)).code == 250
    assert world.gate.answer("status")["halts"] == []
    order = letter(PANIC, "STOP: it answers mallory", sender=ASSISTANT)
    assert world.submit(OWNER, [PANIC], order).code == 250
    [halt] = world.gate.answer("status")["halts"]
    assert halt["why"] == "it answers mallory" and halt["account"] == "owner", halt
    assert halt["who"] == f"human login {OWNER}", halt
    until(lambda: any(message.data.endswith(order) for message in world.sink.messages()))
    assert world.gate.answer("history", PANIC)["entries"][0]["times"] == 3
    start = letter(PANIC, "start", sender=OWNER)
    assert world.submit(OWNER, [PANIC], start).code == 250
    assert world.submit(OWNER, [PANIC], letter(PANIC, "stop", sender=OWNER)).code == 250
    assert len(world.gate.answer("status")["halts"]) == 1
    assert world.gate.show(submit(world, DANA))["reason"] == "stopped: it answers mallory"


@story("A mailed stop that the relay does not hear is answered 451 (A2)")
def _(world):
    world.gate.relay.stop()
    assert world.submit(OWNER, [PANIC], letter(PANIC, "stop", sender=OWNER)).code == 451
    assert world.submit(OWNER, [DANA], letter(DANA, sender=OWNER)).code == 250
    world.gate.relay.start()
    assert world.submit(OWNER, [PANIC], letter(PANIC, "stop", sender=OWNER)).code == 250
    assert len(world.gate.answer("status")["halts"]) == 1


@story("Suspending voids what is pending; revoking also refuses the agent (E38, E47, XC13)")
def _(world):
    write(world, NORA)
    delayed = submit(world, NORA)
    approved = submit(world, STRANGER)
    world.host.stop()
    world.gate.approve(approved)
    until(lambda: world.gate.show(approved)["answer"] != "")
    done = admin(world, "account", "suspend", "owner", "on leave")
    assert done.returncode == 0 and "owner is suspended" in done.stdout, done
    assert "2 items" in done.stdout, done
    world.host.start()
    assert states(world, [delayed, approved]) == {"held"}
    assert world.gate.show(submit(world, NORA))["reason"] == "suspended: on leave"
    digest = world.gate.show(approved)["digest"]
    assert world.gate.command("approve", approved, digest).returncode == 65
    assert admin(world, "account", "revoke", "owner", "stolen").returncode == 0
    reply = world.submit(ASSISTANT, [DANA], letter(DANA))
    assert reply.code == 550 and "may not send any more" in str(reply), reply
    assert admin(world, "account", "resume", "owner").returncode == 0
    world.gate.restart_relay()
    assert states(world, [delayed, approved]) == {"held"}
    assert nothing_of_the_agent_left(world)
    world.gate.approve(approved)
    world.gate.clock(MINUTES)
    assert world.gate.wait_state(approved, "sent") == "sent"

SECOND = """\
[account second]
addresses = tom@example.com
human-logins = other@example.com
agent-logins = second@example.com
agent-users = 61042
internal-domains = example.com
approvers = 61041
mode = hybrid
policy = policy
"""
SECOND_APPROVER, SECOND_AGENT = 61041, 61042


@story("An agent takes its own waiting mail back, and no other's")
def _(world):
    write(world, NORA)
    message = letter(STRANGER)
    assert world.submit(ASSISTANT, [STRANGER], message).code == 250
    held, delayed, approved = world.gate.items()[0]["id"], submit(world, NORA), submit(
        world, STRANGER)
    world.host.stop()
    world.gate.approve(approved)
    until(lambda: world.gate.show(approved)["answer"] != "")
    for uid in (APPROVER, NOBODY, ADMIN):
        assert admin(world, "withdraw", held, uid=uid).returncode == 77
    for named in (message_id(message), delayed, approved):
        done = admin(world, "withdraw", named, "no longer needed", uid=AGENT)
        assert done.returncode == 0, done
    for item in (held, delayed, approved):
        shown = world.gate.show(item)
        assert shown["state"] == "withdrawn" and shown["why"] == "no longer needed", shown
        assert shown["moves"][-1]["who"] == f"user {AGENT}", shown
        assert admin(world, "withdraw", item, uid=AGENT).returncode == 65
        assert world.gate.command("approve", item, shown["digest"]).returncode == 65
    world.host.start()
    world.gate.clock(7 * HOURS)
    world.gate.restart_relay()
    assert nothing_of_the_agent_left(world)


@story("An agent learns what became of its mail, and nothing of the rules; who asks is in the log (XF21, E3, E53)")
def _(world):
    write(world, NORA, DANA)
    held, delayed = submit(world, STRANGER), submit(world, NORA)
    told = []
    for item in (held, delayed):
        done = admin(world, "status", item, uid=AGENT)
        assert done.returncode == 0, done
        told.append(done.stdout.replace(item, "ID"))
    assert told == ["ID: waiting\n"] * 2, told
    assert f"{held}: user {AGENT} asked what became of it" in world.gate.relay.read_log()
    world.gate.command("reject", held, "Not this year.")
    assert admin(world, "status", held, uid=AGENT).stdout == f"{held}: rejected: Not this year.\n"
    first, second = letter(STRANGER), letter(NORA, In_Reply_To=None)
    for message, to in ((first, STRANGER), (second, NORA)):
        assert world.submit(ASSISTANT, [to], message).code == 250
    old = [item["id"] for item in world.gate.items()]
    for message, to in ((first, STRANGER), (second, NORA)):
        assert world.submit(ASSISTANT, [to], message + b"And more.\r\n").code == 250
    told = {admin(world, "status", item, uid=AGENT).stdout.split()[1] for item in old
            if world.gate.show(item)["state"] == "superseded"}
    assert told == {"superseded"}, told
    released = letter(DANA)
    world.submit(ASSISTANT, [DANA], released)
    done = admin(world, "status", message_id(released), uid=AGENT)
    assert done.stdout.endswith(": sent\n"), done
    for words in (("list",), ("show", held), ("status",), ("history", NORA), ("veto", delayed),
                  ("reject", delayed, "no"), ("edit", held)):
        assert admin(world, *words, uid=AGENT).returncode == 77, words


@story("A conversation is called off, and it is told what has left already (E39)")
def _(world):
    first = letter(NORA, sender=OWNER)
    assert world.submit(OWNER, [NORA], first).code == 250
    world.sink.wait(1)
    thread = {"In_Reply_To": message_id(first)}
    sent = submit(world, NORA, "one", **thread)
    world.gate.clock(7 * HOURS)
    assert world.gate.wait_state(sent, "sent") == "sent"
    delayed, held = submit(world, NORA, "two", **thread), submit(world, STRANGER, "three", **thread)
    other = submit(world, STRANGER, "another matter")
    report = world.gate.answer("cancel", held)["items"]
    assert {(item["id"], item["outcome"], *item["to"]) for item in report} == {
        (sent, "left", NORA), (delayed, "cancelled", NORA), (held, "cancelled", STRANGER)}, report
    assert all((item["when"] > 0) == (item["id"] == sent) for item in report), report
    assert [world.gate.show(item)["state"] for item in (sent, delayed, held, other)] == [
        "sent", "vetoed", "rejected", "held"]
    mine = submit(world, NORA, "four", **thread)
    done = admin(world, "cancel", mine, uid=AGENT)
    assert done.returncode == 0 and "did not leave" in done.stdout, done
    assert world.gate.show(mine)["state"] == "withdrawn"
    world.gate.clock(14 * HOURS)
    world.gate.restart_relay()
    assert [message.recipients for message in world.sink.messages()] == [[NORA], [NORA]]


@story("A conversation of the agent alone is called off, too, whatever of it has left (E39)")
def _(world):
    letters = [letter(STRANGER)]
    for _ in range(4):
        letters.append(letter(STRANGER, In_Reply_To=message_id(letters[-1])))
    strange = letter(STRANGER, In_Reply_To="<not-of-it@example.net>")

    def add(message):
        before = {item["id"] for item in world.gate.items()}
        assert world.submit(ASSISTANT, [STRANGER], message).code == 250
        [item] = {item["id"] for item in world.gate.items()} - before
        return item
    first, second = add(letters[0]), add(letters[1])
    for item in (first, second):
        digest = world.gate.show(item)["digest"]
        assert world.gate.command("approve", item, digest).returncode == 0
        assert world.gate.wait_state(item, "sent") == "sent"
    third = add(letters[2])
    assert world.gate.command("reject", third, "No.").returncode == 0
    last, fourth, other = add(letters[4]), add(letters[3]), add(strange)
    report = world.gate.answer("cancel", last)["items"]
    assert {(item["id"], item["outcome"], item["when"] > 0) for item in report} == {
        (first, "left", True), (second, "left", True), (third, "did not leave", False),
        (fourth, "cancelled", False), (last, "cancelled", False)}, report
    assert [world.gate.show(item)["state"] for item in (fourth, last, other)] == [
        "rejected", "rejected", "held"]
    assert len(world.sink.wait(2)) == 2


@story("Another account's item is no item, for its approver and for its agent (A38, C9, C18, XC2, XC18)")
def _(world):
    world.gate.configure(POLICY, ACCOUNT, more=SECOND)
    world.gate.restart_relay()
    item = submit(world, STRANGER)
    digest = world.gate.show(item)["digest"]
    for words, uid in ((("approve", item, digest), SECOND_APPROVER),
                       (("reject", item, "no"), SECOND_APPROVER),
                       (("veto", item), SECOND_APPROVER), (("show", item), SECOND_APPROVER),
                       (("edit", item), SECOND_APPROVER), (("cancel", item), SECOND_APPROVER),
                       (("status", item), SECOND_APPROVER), (("status", item), SECOND_AGENT),
                       (("withdraw", item), SECOND_AGENT), (("cancel", item), SECOND_AGENT)):
        real = admin(world, *words, uid=uid)
        missing = admin(world, *[word.replace(item, "0" * 12) for word in words], uid=uid)
        assert real.returncode == missing.returncode == 66, (words, real)
        assert real.stderr.replace(item, "0" * 12) == missing.stderr, (real, missing)
    assert admin(world, "stop", "second", "not mine").returncode == 0
    assert [halt["account"] for halt in world.gate.answer("status")["halts"]] == []
    world.gate.approve(item)
    assert world.gate.wait_state(item, "sent") == "sent"


def edit(world, item, script, uid=APPROVER):
    """Runs exeat edit with a script of sed as the editor."""
    world.gate.environment = {"VISUAL": f"sed -i '{script}'", "TMPDIR": world.folder}
    os.chmod(world.folder, 0o777)
    try:
        return world.gate.command("edit", item, uid=uid)
    finally:
        os.chmod(world.folder, 0o755)
        world.gate.environment = {}


@story("An agent who calls a conversation off leaves in it what a person wrote (E39)")
def _(world):
    first = letter(STRANGER)
    assert world.submit(ASSISTANT, [STRANGER], first).code == 250
    [begun] = [line["id"] for line in world.gate.items()]
    second = submit(world, STRANGER, "Offer", In_Reply_To=message_id(first))
    assert edit(world, second, "s/Hello/Greetings/").returncode == 0
    [written] = [line["id"] for line in world.gate.items() if line["id"] != begun]
    done = admin(world, "cancel", begun, uid=AGENT)
    assert done.returncode == 0 and written not in done.stdout, done
    assert states(world, [begun]) == {"withdrawn"} and states(world, [written]) == {"held"}
    assert admin(world, "cancel", begun, uid=APPROVER).returncode == 0
    assert states(world, [written]) == {"rejected"}


@story("An edited message is a new item; the old approval is void; both are kept (B20, E36, XC15)")
def _(world):
    thread = {"In_Reply_To": "<root@example.org>"}
    item = submit(world, STRANGER, "Offer", body="The price is 10.\r\nJörg\r\n", **thread)
    digest = world.gate.show(item)["digest"]
    done = edit(world, item, f"s/10/12/;s/^To: .*/To: {NORA}, {DANA}/;s/Offer/Offer, corrected/")
    assert done.returncode == 0, done
    [fresh] = [line["id"] for line in world.gate.items()]
    old, new = world.gate.show(item), world.gate.show(fresh)
    assert old["state"] == "superseded" and fresh in old["why"], old
    assert new["state"] == "held" and new["author"] == f"user {APPROVER}", new
    assert new["digest"] != digest and new["message_id"] != old["message_id"]
    assert new["text"] == "The price is 12.\nJörg\n" and new["subject"] == "Offer, corrected"
    assert world.gate.command("approve", item, digest).returncode == 65
    assert world.gate.command("approve", fresh, digest).returncode == 65
    assert world.sink.messages() == []
    world.gate.approve(fresh)
    assert world.gate.wait_state(fresh, "sent") == "sent"
    arrived = world.sink.wait(2)[0]
    assert arrived.field("In-Reply-To") == ["<root@example.org>"], arrived.head
    assert arrived.field("From") == [ASSISTANT] and arrived.field("To") == [f"{NORA}, {DANA}"]
    recipients = [to for message in world.sink.messages() for to in message.recipients]
    assert sorted(recipients) == [DANA, NORA], recipients
    assert STRANGER not in recipients
    assert world.gate.show(item)["text"].startswith("The price is 10.")


@story("A long text in any language is edited without a change beside the change")
def _(world):
    body = "".join(f"Zeile {number}: Grüße, привет, 你好, wie besprochen.\r\n"
                   for number in range(3500))
    item = submit(world, STRANGER, body=body + "The price is 10.\r\n")
    assert len(body.encode()) > 200000
    done = edit(world, item, "s/price is 10/price is 12/")
    assert done.returncode == 0, done
    [fresh] = world.gate.items()
    text = world.gate.show(fresh["id"])["text"]
    assert text.rstrip("\n") == body.replace("\r\n", "\n") + "The price is 12."
    longer = submit(world, STRANGER, body=body + body)
    done = edit(world, longer, "s/10/12/")
    assert done.returncode == 65 and "too long" in done.stderr, done


@story("What cannot be edited is left as it is, and it is said why")
def _(world):
    body = "--b\r\nContent-Type: text/html\r\n\r\n<p>Hi</p>\r\n--b--\r\n"
    rich = submit(world, STRANGER, body=body, Content_Type='multipart/mixed; boundary="b"')
    control = submit(world, STRANGER, body="a\x1b[2Jb\r\n")
    plain = submit(world, STRANGER)
    crowd = ", ".join(f"s{number}@example.net" for number in range(6))
    for item, script, word in (
            (rich, "s/x/y/", "more than plain text"), (control, "s/x/y/", "more than plain text"),
            (plain, "1d", "must begin with"), (plain, "s/^To: .*/To: nobody/", "no plain address"),
            (plain, f"s/^To: .*/To: {crowd}/", "would be refused: never this"),
            (plain, "s/^To: .*/To: /", "would be refused"), ("x", "s/x/y/", "no item")):
        done = edit(world, item, script)
        assert done.returncode in (64, 65, 66) and word in done.stderr, (script, done)
    assert "Nothing was changed" in edit(world, plain, "s/zzz//").stdout
    assert states(world, [rich, control, plain]) == {"held"}
    assert len(world.gate.items(everything=True)) == 3


@story("While stopped, an edit is held as well")
def _(world):
    item = submit(world, DANA + ".invalid")
    admin(world, "stop", "later")
    assert edit(world, item, "s/Hello/Bye/").returncode == 0
    [fresh] = world.gate.items()
    assert fresh["reason"] == "edited: stopped: later", fresh


def typed(world, *words, uid, answers):
    """Runs exeat at a terminal of its own and types an answer to each of its prompts. Returns the
    exit status and all that was to be seen."""
    main_end, side = pty.openpty()
    process = subprocess.Popen(
        [os.path.join(world.gate.bin, "exeat"), "-c", world.gate.config, *words], user=uid,
        group=uid, extra_groups=[], cwd="/", env=environment(), start_new_session=True,
        stdin=side, stdout=side, stderr=side,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(side)
    seen = b""
    try:
        while select.select([main_end], [], [], PATIENCE)[0] and (data := os.read(main_end, 4096)):
            seen += data
            if answers and seen.rstrip(b" ").endswith(b":"):
                os.write(main_end, answers.pop(0).encode() + b"\n")
    except OSError:
        pass  # the other end is closed
    os.close(main_end)
    return process.wait(PATIENCE), seen.decode()


SECRET = "correct horse battery"


def with_passwords(world):
    """The agent runs as the approver's user, so an approval takes the approver's password."""
    status, seen = typed(world, "passwd", str(AGENT), uid=ADMIN, answers=[SECRET, SECRET])
    line = seen.splitlines()[-1]
    assert status == 0 and line.startswith(f"{AGENT}:") and SECRET not in seen, seen
    world.gate.write("passwords", line + "\n", 0o640)
    os.chown(os.path.join(world.gate.etc, "passwords"), 0, RELAY)
    world.gate.configure(POLICY, {**ACCOUNT, "approvers": f"{AGENT}, {APPROVER}",
                                  "approver-confirm": "password"},
                         {"approver-passwords": "passwords"})
    world.gate.restart_relay()


@story("Where the agent runs as the approver, nothing is approved without the password")
def _(world):
    with_passwords(world)
    item = submit(world, STRANGER)
    approve = ("approve", item, world.gate.answer("show", item, uid=AGENT)["digest"])
    done = admin(world, *approve, uid=AGENT)
    assert done.returncode == 77 and "typed at a terminal" in done.stderr, done
    assert typed(world, *approve, uid=AGENT, answers=["wrong"])[0] == 77
    assert typed(world, *approve, uid=AGENT, answers=[""])[0] == 77
    status, seen = typed(world, *approve, uid=APPROVER, answers=[SECRET])
    assert status == 77 and "there is no password of" in seen, seen
    done = edit(world, item, "s/Hello/Bye/", uid=AGENT)
    assert done.returncode == 77, done
    assert world.gate.show(item)["state"] == "held"
    assert world.sink.messages() == []
    status, seen = typed(world, *approve, uid=AGENT, answers=[SECRET])
    assert status == 0 and "approved" in seen and SECRET not in seen, seen
    assert world.gate.wait_state(item, "sent") == "sent"
    entries = world.gate.answer("audit", "--kind", "password-wrong", uid=0)["entries"]
    assert [entry["who"] for entry in entries] == [f"user {AGENT}"] * 2, entries


@story("After five wrong passwords there is a pause, also for the right one, and after a restart")
def _(world):
    with_passwords(world)
    item = submit(world, STRANGER)
    approve = ("approve", item, world.gate.show(item)["digest"])
    for _ in range(5):
        assert typed(world, *approve, uid=AGENT, answers=["wrong"])[0] == 77
    world.gate.restart_relay()
    status, seen = typed(world, *approve, uid=AGENT, answers=[SECRET])
    assert status == 77 and "wrong too often" in seen, seen
    world.gate.clock(2 * MINUTES)
    assert typed(world, *approve, uid=AGENT, answers=["wrong"])[0] == 77
    status, seen = typed(world, *approve, uid=AGENT, answers=[SECRET])
    assert status == 77 and "wrong too often" in seen, seen
    assert world.gate.show(item)["state"] == "held" and world.sink.messages() == []
    world.gate.clock(6 * MINUTES)
    assert typed(world, *approve, uid=AGENT, answers=[SECRET])[0] == 0
    assert world.gate.wait_state(item, "sent") == "sent"


@story("Two hundred vetoes race against the release: who is told vetoed is right (XC19)")
def _(world):
    world.gate.configure('delay 1h-1h "all"\n', ACCOUNT, {"waiting-limit": "300"})
    world.gate.restart_relay()
    with world.client(ASSISTANT) as client:
        for number in range(200):
            to = f"s{number}@example.net"
            assert client.submit(ASSISTANT, [to], letter(to)).code == 250
    items = {item["id"]: item["to"][0] for item in world.gate.items()}
    assert len(items) == 200
    world.gate.clock(HOURS + MINUTES)
    world.sink.wait(1)
    youngest_first = list(reversed(items))  # against the order in which they leave
    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(lambda item: world.gate.command("veto", item), youngest_first)
    results = {item: done.returncode for item, done in zip(youngest_first, answers)}
    # The oldest has left. Where nobody is quick enough, so have all others.
    assert {65} <= set(results.values()) <= {0, 65}, sorted(results.values())
    until(lambda: all(item["state"] in ("sent", "vetoed")
                      for item in world.gate.items(everything=True)), 3 * PATIENCE)
    world.host.wait_empty()
    arrived = {to for message in world.sink.messages() for to in message.recipients}
    refused = {items[item] for item, status in results.items() if status == 65}
    assert arrived == refused, arrived ^ refused


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World(POLICY, ACCOUNT)))
