"""Who is to hear of it hears of it, once, and nothing that is said helps to approve."""

import email
import email.policy
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from gate import AGENT, RELAY  # noqa: E402
from letter import letter, message_id  # noqa: E402
from smtpclient import Client  # noqa: E402
from story import PATIENCE, main, story, until  # noqa: E402
from world import World, end_on_signals  # noqa: E402

OWNER, ASSISTANT, BOX = "owner@example.com", "agent@example.com", "Agent-Box@example.com"
BOSS, FROM = "boss@example.com", "gate@example.com"
NORA, STRANGER, DANA = "nora@example.org", "stranger@example.net", "dana@example.com"
POLICY = """\
refuse  "never this"          if recipients > 5
draft   "park it"             if subject contains "park"
hold    "first contact"       if novel > 0
release "colleagues"          if external = 0
delay 2h-6h "people I know"
"""
MINUTES, HOURS, DAYS = 60, 3600, 86400
SETTINGS = {"notices-from": FROM}
DATABASE = "exeat.db"


def configure(world, policy=POLICY, settings=None, **account):
    """Makes the gate tell whom it should, by keys of the account with underscores."""
    account = {key.replace("_", "-"): value for key, value in account.items()}
    world.gate.configure(policy, account, {**SETTINGS, **(settings or {})})
    world.gate.restart_relay()


def write(world, *recipients):
    """The human writes to people, who are known from then on."""
    count = len(world.sink.messages())
    message = letter(", ".join(recipients), sender=OWNER)
    assert world.submit(OWNER, list(recipients), message).code == 250
    world.sink.wait(count + 1)


def submit(world, to, subject="A word", message=None, **more):
    """The agent submits a message. Returns its item."""
    known = {item["id"] for item in world.gate.items(everything=True)}
    message = message or letter(to, subject)
    assert world.submit(ASSISTANT, [to], message, **more).code == 250
    [item] = [item for item in world.gate.items(everything=True) if item["id"] not in known]
    return item["id"]


def heard(world, who, count):
    """What came to somebody from the gate: so many, with nothing for an agent on its way."""
    until(lambda: len(mail_to(world, who)) >= count)
    until(lambda: count_rows(world, "notice WHERE audience = 'agent'") == 0)
    world.host.wait_empty()
    found = mail_to(world, who)
    assert len(found) == count, [mail.field("Subject") for mail in found]
    for mail in found:
        assert mail.sender == "" and FROM in mail.field("From")[0], mail.head
        assert mail.field("X-Exeat-Ticket") == [], mail.head
        assert mail.data.isascii() and max(map(len, mail.data.split(b"\r\n"))) <= 998
    return found


def count_rows(world, table):
    """Looks into the database, where nothing else tells that the gate has nothing to tell."""
    path = os.path.join(world.gate.state, DATABASE)
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        return database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]


def let_turn(world):
    """Waits for two notices to the agent, one after the other: in between the gate has looked
    for all else that it might tell."""
    for _ in range(2):
        count = len(mail_to(world, BOX))
        submit(world, NORA, "park this")
        until(lambda: len(mail_to(world, BOX)) > count)  # pylint: disable=cell-var-from-loop


def mail_to(world, who):
    return [mail for mail in world.sink.messages() if mail.recipients == [who]]


def parse(mail):
    """The text, the fields of the message and those of each recipient, as programs read them."""
    report = email.message_from_bytes(mail.data, policy=email.policy.default)
    assert report.get_content_type() == "multipart/report", report.get_content_type()
    assert report.get_param("report-type") == "delivery-status"
    assert report["Auto-Submitted"] == "auto-replied"
    text, status, _ = report.iter_parts()
    assert status.get_content_type() == "message/delivery-status"
    fields, *recipients = status.get_payload()
    return text.get_content(), fields, recipients


def hear_outcome(world, count=2):
    """Action, status and text of the agent's latest notice that tells an end; the mail server
    may have let it pass the one that said wait."""
    notices = [(recipient["Action"], recipient["Status"], text)
               for text, _, [recipient] in map(parse, heard(world, BOX, count))]
    return [notice for notice in notices if notice[0] != "delayed"][-1]


def without(item, text):
    return text.replace(item, "ITEM")


@story("Held, drafted and delayed are told once and in the same words (XF21)")
def _(world):
    configure(world, notices_to=BOX)
    write(world, NORA)
    items = [submit(world, STRANGER), submit(world, NORA, "park this"), submit(world, NORA)]
    states = [world.gate.show(item)["state"] for item in items]
    assert states == ["held", "draft", "delayed"], states
    notices = {fields["X-Exeat-Item"]: (text, fields, recipients)
               for text, fields, recipients in map(parse, heard(world, BOX, 3))}
    assert set(notices) == set(items), notices
    texts = {without(item, notices[item][0]) for item in items}
    assert len(texts) == 1 and "held, not sent" in texts.pop(), notices
    for _, fields, [recipient] in notices.values():
        assert fields["Reporting-MTA"].startswith("dns;")
        assert recipient["Action"] == "delayed" and recipient["Status"] == "4.7.0"
    assert notices[items[0]][2][0]["Final-Recipient"] == f"rfc822; {STRANGER}"
    world.gate.restart_relay()
    world.gate.kill()
    world.gate.start()
    until(lambda: world.gate.answer("status")["notices_failed"] == [])
    heard(world, BOX, 3)


@story("What was sent is told, whether at once or by an approval (A16)")
def _(world):
    configure(world, notices_to=BOX)
    write(world, DANA)
    submit(world, DANA)
    assert hear_outcome(world, 1)[:2] == ("relayed", "2.0.0")
    item = submit(world, STRANGER)
    heard(world, BOX, 2)
    world.gate.approve(item)
    assert hear_outcome(world, 3)[:2] == ("relayed", "2.0.0")


@story("The reviewer's sentence reaches the agent, with the item to supersede (A16, A17)")
def _(world):
    configure(world, notices_to=BOX)
    message = letter(STRANGER)
    item = submit(world, STRANGER, message=message)
    world.gate.answer("reject", item, "Nicht dieses Jahr – sorry\u202e.")
    action, status, text = hear_outcome(world)
    assert (action, status) == ("failed", "5.7.1")
    assert "Nicht dieses Jahr – sorry\\u{202E}." in text, text
    assert f"Agent-Supersedes: {item}" in text, text
    notice = mail_to(world, BOX)[-1]
    assert notice.field("In-Reply-To") == [message_id(message)]


@story("What the mail server refuses is told with its reply")
def _(world):
    configure(world, notices_to=BOX, settings={"next-hop": f"inet:127.0.0.1:{world.sink.port}",
                                               "next-hop-gated": "no"})
    world.sink.rules = [{"at": "RCPT", "match": STRANGER, "do": "550 5.1.1 no such user"}]
    item = submit(world, STRANGER)
    heard(world, BOX, 1)
    world.gate.approve(item)
    action, status, text = hear_outcome(world)
    assert (action, status) == ("failed", "5.1.1") and "no such user" in text, text
    assert "no such user" in parse(mail_to(world, BOX)[-1])[2][0]["Diagnostic-Code"]


@story("Expired, vetoed and superseded are told, whatever it was in the same words (XF21)")
def _(world):
    configure(world, notices_to=BOX)
    write(world, NORA)
    vetoed, rejected = submit(world, NORA), submit(world, STRANGER)
    world.gate.answer("veto", vetoed)
    heard_veto = hear_outcome(world, 3)
    world.gate.answer("reject", rejected, "no reason given")
    assert [without(vetoed, word) for word in heard_veto] == [
        without(rejected, word) for word in hear_outcome(world, 4)], heard_veto
    first = letter(STRANGER, Message_ID="<one@example.com>")
    second = letter(NORA, Message_ID="<two@example.com>")
    old = [submit(world, STRANGER, message=first), submit(world, NORA, message=second)]
    heard(world, BOX, 6)
    submit(world, STRANGER, message=first + b"More.\r\n")
    submit(world, NORA, message=second + b"More.\r\n")
    assert [world.gate.show(item)["state"] for item in old] == ["superseded"] * 2
    texts = [parse(mail)[0] for mail in heard(world, BOX, 10)]
    assert len({without(item, text) for item in old for text in texts if item in text
                and "held" not in text}) == 1, texts
    world.gate.clock(20 * DAYS)
    until(lambda: any("in time" in parse(mail)[0] for mail in mail_to(world, BOX)))


@story("What becomes a draft or is held while it is delayed is not told the agent again (D15, XF21)")
def _(world):
    configure(world, notices_to=BOX, notify=BOSS)
    first = letter(NORA, sender=OWNER)
    assert world.submit(OWNER, [NORA], first).code == 250
    draft = submit(world, NORA, message=letter(NORA, In_Reply_To=message_id(first)))
    held = submit(world, NORA)
    heard(world, BOX, 2)
    answer = letter(OWNER, sender=NORA, In_Reply_To=message_id(first))
    assert world.receive(NORA, [OWNER], answer).code == 250
    assert world.gate.show(draft)["state"] == "draft"
    assert mail_to(world, BOSS) == []
    world.gate.configure('hold "all" if recipients > 0\n' + POLICY,
                         {"notices-to": BOX, "notify": BOSS}, SETTINGS)
    world.gate.reload()
    assert world.gate.wait_state(held, "held") == "held"
    [notice] = heard(world, BOSS, 1)
    assert held in notice.body.decode() and draft not in notice.body.decode()
    heard(world, BOX, 2)


@story("NOTIFY=NEVER is obeyed; ENVID and ORCPT come back as what they are (RFC 3461, XA13)")
def _(world):
    configure(world, notices_to=BOX)
    submit(world, STRANGER, rcpt_params={STRANGER: "NOTIFY=NEVER"})
    submit(world, STRANGER, rcpt_params={STRANGER: "NOTIFY=SUCCESS"})
    submit(world, STRANGER, mail_params="RET=FULL ENVID=a+2Bb",
           rcpt_params={STRANGER: "NOTIFY=DELAY,FAILURE ORCPT=rfc822;x+2By@example.net"})
    [notice] = heard(world, BOX, 1)
    _, fields, [recipient] = parse(notice)
    assert fields["Original-Envelope-Id"] == "a+b", fields.items()
    assert recipient["Original-Recipient"] == "rfc822;x+y@example.net", recipient.items()


@story("Without the keys nobody is told, and nothing is told later")
def _(world):
    submit(world, STRANGER)
    configure(world)
    submit(world, STRANGER)
    until(lambda: count_rows(world, "notice") == 0)
    configure(world, notices_to=BOX, notify=BOSS)
    submit(world, STRANGER)
    heard(world, BOX, 1)
    heard(world, BOSS, 1)
    assert {tuple(mail.recipients) for mail in world.sink.messages()} == {(BOX,), (BOSS,)}


@story("What nobody asked to be told is nobody's trouble when it cannot be thrown away")
def _(world):
    configure(world)
    with sqlite3.connect(os.path.join(world.gate.state, DATABASE), timeout=PATIENCE) as handle:
        handle.execute("CREATE TRIGGER full BEFORE DELETE ON notice BEGIN "
                       "SELECT RAISE(ABORT, 'no room'); END")
    handle.close()
    submit(world, STRANGER)
    until(lambda: "no room" in world.gate.relay.read_log())
    submit(world, STRANGER)
    log = world.gate.relay.read_log()
    assert "cannot be told" not in log and log.count("no room") == 1, log
    assert "account owner: notices that nobody asked for cannot be removed: " in log, log
    assert world.gate.answer("status")["notices_failed"] == []


@story("A notice that could not be sent is sent after a crash, under its one Message-ID (A14)")
def _(world):
    configure(world, notices_to=BOX)
    item = submit(world, STRANGER)
    heard(world, BOX, 1)
    world.host.stop()
    world.gate.answer("reject", item, "no")
    until(lambda: world.gate.answer("status")["notices_failed"] != [])
    shown = world.gate.command("status").stdout
    assert "notices-to" in shown and "cannot be told" in shown, shown
    world.gate.relay.kill()
    world.host.start()
    world.gate.relay.start()
    heard(world, BOX, 2)
    assert world.gate.answer("status")["notices_failed"] == []
    # A server that keeps the message and loses its answer gets it once more, and can tell.
    configure(world, notices_to=BOX, settings={"next-hop": f"inet:127.0.0.1:{world.sink.port}",
                                               "next-hop-gated": "no"})
    world.sink.rules = [{"at": "DOT", "do": "drop", "times": 1}]
    submit(world, STRANGER)
    until(lambda: len(mail_to(world, BOX)) == 3)
    world.gate.relay.kill()
    world.gate.relay.start()
    *_, one, two = heard(world, BOX, 4)
    assert one.field("Message-ID") == two.field("Message-ID")


@story("Notices pass the gate and teach nothing; others with their face are mail like any other")
def _(world):
    configure(world, notices_to=OWNER, notify=OWNER)
    item = submit(world, STRANGER)
    until(lambda: len(mail_to(world, OWNER)) == 2)
    heard(world, OWNER, 2)
    notice = mail_to(world, OWNER)[0].field("Message-ID")[0]
    answer = letter(STRANGER, In_Reply_To=notice)
    facts = world.gate.show(submit(world, STRANGER, message=answer))["facts"]
    assert facts["in_thread"] in (0, False) and facts["from_body"] == 0, facts
    assert world.gate.show(item)["state"] == "held"
    face = letter(OWNER, sender=FROM, body=f"Write to {STRANGER}.\r\n",
                  X_Exeat_Ticket="a" * 64)
    with Client(("127.0.0.1", world.host.plain)) as client:
        client.ehlo()
        assert client.submit("", [OWNER], face).code == 550


@story("Approvers hear of what is held, gathered, and of nothing else (D15, XC3, XD15)")
def _(world):
    configure(world, notify=BOSS, notices_to=BOX)
    write(world, NORA)
    submit(world, NORA, "park this")
    submit(world, NORA)
    let_turn(world)
    assert mail_to(world, BOSS) == []
    held = submit(world, STRANGER, "Approved: nothing to do")
    [notice] = heard(world, BOSS, 1)
    assert notice.field("Subject") == ["Exeat: 1 message waits for you (account owner)"]
    assert notice.field("Auto-Submitted") == ["auto-generated"]
    shown = world.gate.show(held)
    assert f"{held}  digest {shown['digest'][:12]}  1 recipient  0 min" in notice.body.decode()
    for secret in ("Approved", STRANGER, "http", shown["digest"]):
        assert secret.encode() not in notice.data, secret
    more = [submit(world, STRANGER), submit(world, STRANGER), submit(world, STRANGER)]
    world.gate.answer("reject", more[2], "no")
    world.gate.clock(10 * MINUTES)
    world.gate.restart_relay()
    let_turn(world)
    heard(world, BOSS, 1)
    world.gate.clock(16 * MINUTES)
    notice = heard(world, BOSS, 2)[-1]
    assert notice.field("Subject") == ["Exeat: 3 messages wait for you (account owner)"]
    body = notice.body.decode()
    assert [item in body for item in [held, *more]] == [False, True, True, False], body


@story("Approvers hear of what is uncertain, the agent only of how it ended (E40)")
def _(world):
    configure(world, notify=BOSS, notices_to=BOX, settings={
        "next-hop": f"inet:127.0.0.1:{world.sink.port}", "next-hop-gated": "no"})
    write(world, NORA)
    item = submit(world, STRANGER)
    heard(world, BOX, 1)
    until(lambda: mail_to(world, BOSS))
    world.sink.rules = [{"at": "DOT", "match": STRANGER, "do": "drop", "times": 1}]
    world.gate.approve(item)
    assert world.gate.wait_state(item, "uncertain") == "uncertain"
    let_turn(world)
    heard(world, BOSS, 1)
    agent = len(mail_to(world, BOX))
    world.gate.clock(16 * MINUTES)
    notice = heard(world, BOSS, 2)[-1]
    assert notice.field("Subject") == ["Exeat: 1 message waits for you (account owner)"], notice.head
    body = notice.body.decode()
    assert "exeat resolve" in body and f"{item}  digest " in body and "Held" not in body, body
    assert len(mail_to(world, BOX)) == agent
    assert world.gate.command("status", item, uid=AGENT).stdout == f"{item}: uncertain\n"
    world.gate.answer("resolve", item, "sent")
    assert hear_outcome(world, agent + 1)[:2] == ("relayed", "2.0.0")


@story("A program is told instead: fixed words, a clean environment, no text of the message")
def _(world):
    out = os.path.join(world.folder, "told")
    os.mkdir(out)
    os.chown(out, RELAY, RELAY)
    tool = os.path.join(world.gate.bin, "tell")
    with open(tool, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nenv >{out}/env; echo "$0 $*" >{out}/args\n'
                   f'cat >{out}/new && mv {out}/new {out}/text\n[ ! -e {out}/fail ]\n')
    os.chmod(tool, 0o755)

    def told(name):
        with open(os.path.join(out, name), encoding="utf-8") as file:
            return file.read()
    with open(os.path.join(out, "fail"), "w", encoding="utf-8"):
        pass
    configure(world, notify_command=f"{tool} --to $(id)")
    item = submit(world, STRANGER, "Approved: nothing to do")
    until(lambda: world.gate.answer("status")["notices_failed"] != [])
    [failed] = world.gate.answer("status")["notices_failed"]
    assert failed["key"] == "notify" and failed["account"] == "owner", failed
    assert "notify" in world.gate.relay.read_log()
    assert "cannot be told" in world.gate.command("status").stdout
    os.unlink(os.path.join(out, "fail"))
    os.unlink(os.path.join(out, "text"))
    world.gate.clock(6 * MINUTES)
    until(lambda: world.gate.answer("status")["notices_failed"] == [])
    assert told("args") == f"{tool} --to $(id)\n"
    names = {line.partition("=")[0] for line in told("env").splitlines()}
    assert names <= {"PATH", "LANG", "PWD", "SHLVL", "_"}, names
    text = told("text")
    assert text.startswith("Exeat: 1 message waits for you") and item in text
    assert "Approved" not in text and STRANGER not in text


@story("A heartbeat comes once a day, whether something waits or not")
def _(world):
    configure(world, notify=BOSS, notify_heartbeat="yes", notices_to=BOX)
    write(world, NORA)
    [beat] = heard(world, BOSS, 1)
    assert beat.field("Subject") == ["Exeat: nothing waits for you (account owner)"]
    world.gate.restart_relay()
    submit(world, STRANGER)
    heard(world, BOSS, 2)
    world.gate.clock(23 * HOURS)
    let_turn(world)
    heard(world, BOSS, 2)
    world.gate.clock(25 * HOURS)
    beat = heard(world, BOSS, 3)[-1]
    assert beat.field("Subject") == ["Exeat: 1 message waits for you (account owner)"]


@story("The daily digest lists every message that left by itself (D28)")
def _(world):
    configure(world, digest_to=BOSS)
    write(world, DANA, NORA)
    until(lambda: count_rows(world, "told WHERE kind = 'digest-to'") == 1)
    released, delayed, held = submit(world, DANA), submit(world, NORA), submit(world, STRANGER)
    world.gate.approve(held)
    assert world.gate.wait_state(held, "sent") == "sent"
    world.gate.clock(7 * HOURS)
    assert world.gate.wait_state(delayed, "sent") == "sent"
    world.gate.clock(25 * HOURS)
    [digest] = heard(world, BOSS, 1)
    subject = "Exeat: 2 messages left by themselves (account owner)"
    assert digest.field("Subject") == [subject], digest.head
    body = digest.body.decode()
    assert f"{released}  to {DANA}" in body and f"{delayed}  to {NORA}" in body, body
    assert held not in body, body
    world.gate.clock(50 * HOURS)
    submit(world, DANA)
    world.gate.clock(75 * HOURS)
    assert "1 message left by itself" in heard(world, BOSS, 2)[-1].field("Subject")[0]


@story("A bounce of a notice goes nowhere: it has the null sender")
def _(world):
    configure(world, notices_to=BOX)
    world.sink.rules = [{"at": "RCPT", "match": BOX, "do": "550 5.1.1 no such box"}]
    submit(world, STRANGER)
    until(lambda: "no such box" in world.host.read_log())
    world.host.wait_empty()
    assert world.sink.messages() == []


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World(POLICY)))
