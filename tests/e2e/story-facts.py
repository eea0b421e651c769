"""What the gate finds out about recipients and content, with a real Postfix in front."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from letter import letter  # noqa: E402
from story import main, story  # noqa: E402
from world import World, end_on_signals  # noqa: E402

# Recipients as a client may write them, and what they are: inside, outside, or no recipient at
# all, to Postfix or to the gate.
WRITTEN = [
    ("dana@example.com", "inside"), ("DANA@EXAMPLE.COM", "inside"),
    ('"dana"@example.com', "inside"), ('"d\\ana"@example.com', "inside"),
    ("dana@example.com.", "inside"), ('"dana x"@example.com', "inside"),
    ("dana+x@example.com", "inside"), ("a..b@example.com", "inside"),
    ("jürgen@example.com", "inside"), ("dana@example\u3002com", "inside"),
    ("dana@mx.example.com", "outside"), ("dana@localhost", "outside"),
    ("dana@example.com.example.net", "outside"), ("dana@ex\u0430mple.com", "outside"),
    ("kontakt@bücher.example", "outside"),
    ("dana", "refused"), ("postmaster", "refused"), ("dana@", "refused"),
    ("mallory%example.net@example.com", "refused"), ("mallory%example.net", "refused"),
    ('"mallory%example.net"@example.com', "refused"),
    ("example.net!mallory@example.com", "refused"), ("example.net!mallory", "refused"),
    ("mallory@example.net@example.com", "refused"),
    ('"mallory@example.net"@example.com', "refused"), ('"mallory@example.net"', "refused"),
    ("mallory\uff20example.net@example.com", "refused"),
    ("@example.com:mallory@example.net", "refused"),
    ("@example.net,@example.com:dana@example.com", "refused"),
    ("dana@[127.0.0.1]", "refused"), ("dana@[192.0.2.1]", "outside"),
    ("dana@[example.com]", "refused"), ("dana@[192.0.2.1]x", "refused"),
    ("dana@example.com..", "refused"), ("dana@.example.com", "refused"),
    ("dana @example.com", "refused"), ("dana@example.com>", "refused"),
    ("dana(x)@example.com", "refused"), ("dana\\@example.net@example.com", "refused"),
    ("d\x01ana@example.com", "refused"), ('"dana\t"@example.com', "refused"),
    ('""@example.com', "refused"), ('dana@"example.net"', "refused"),
    ("dana@example.com,mallory@example.net", "refused"), ("d\udce4na@example.com", "refused"),
]
OWNER, ASSISTANT = "owner@example.com", "agent@example.com"
STRANGER, TEAM, ALL = "stranger@example.net", "team@example.com", "all@example.com"
POLICY = """\
hold    "list"          if lists > 0
hold    "leads outside" if external > 0
release "inside"
"""
ALIASES = f"""\
{TEAM}  {STRANGER}
{ALL}   dana@example.com,
        lee@example.com
"""


def with_aliases(world):
    """Gives Postfix and the gate the same file."""
    path = os.path.join(world.gate.etc, "virtual")
    world.gate.write("virtual", ALIASES)
    world.gate.configure(POLICY, settings={"aliases": f"virtual:{path}"})
    world.gate.restart_relay()
    world.host.stop()
    world.host.more = f"virtual_alias_maps = texthash:{path}"
    world.host.start()


@story("An inside alias that leads outside is external, one for many is a list (XA11)")
def _(world):
    with_aliases(world)
    for to in (TEAM, ALL, "dana@example.com"):
        assert world.submit(OWNER, [to], letter(to, sender=OWNER)).code == 250
    expanded = {to for message in world.sink.wait(3) for to in message.recipients}
    assert STRANGER in expanded and TEAM not in expanded, expanded
    world.sink.clear()
    for to in (TEAM, "Team+x@EXAMPLE.com", ALL, "dana@example.com"):
        assert world.submit(ASSISTANT, [to], letter(to)).code == 250
    found = {item["to"][0]: item["reason"] for item in world.gate.items(everything=True)}
    assert found == {TEAM: "leads outside", "Team+x@EXAMPLE.com": "leads outside", ALL: "list",
                     "dana@example.com": "inside"}, found
    world.host.wait_empty()
    assert [message.recipients for message in world.sink.wait(1)] == [["dana@example.com"]]


@story("Aliases that cannot be read keep the relay from starting, or change nothing (XF10)")
def _(world):
    with_aliases(world)
    path = os.path.join(world.gate.etc, "virtual")
    world.gate.write("virtual", "/^team@/ x\n")
    world.gate.reload()
    assert world.submit(ASSISTANT, [TEAM], letter(TEAM)).code == 250
    [item] = world.gate.items()
    assert item["reason"] == "leads outside", item
    world.gate.relay.stop()
    try:
        world.gate.relay.start()
        raise AssertionError("the relay started")
    except RuntimeError:
        assert f"{path}:1: found" in world.gate.relay.read_log(), world.gate.relay.read_log()


def write_to(world, written):
    """Submits one message. Returns the last reply."""
    with world.client(ASSISTANT) as client:
        assert client.mail(ASSISTANT, "" if written.isascii() else "SMTPUTF8").ok
        reply = client.rcpt(written)
        return client.data(letter("team@example.com")) if reply.ok else reply


@story("A recipient is judged as it is written, or refused (A6-A10, XB9-XB11, XF15)")
def _(world):
    world.gate.configure('hold "outside" if external > 0\ndraft "inside"\n')
    world.gate.restart_relay()
    for written, expected in WRITTEN:
        code = write_to(world, written).code
        assert (500 <= code < 600) == (expected == "refused"), (written, code)
        assert expected == "refused" or code == 250, (written, code)
    found = {item["to"][0]: item["reason"] for item in world.gate.items()}
    assert found == {written: expected for written, expected in WRITTEN
                     if expected != "refused"}, found
    assert world.sink.messages() == []


@story("One mailbox in three spellings is one recipient (A6)")
def _(world):
    to = ["dana@example.com", "Dana@EXAMPLE.com.", '"dana"@example.com']
    assert world.submit(ASSISTANT, to, letter(to[0])).code == 250
    [item] = world.gate.items(everything=True)
    facts = world.gate.show(item["id"])["facts"]
    assert (facts["recipients"], facts["hidden"], facts["header_only"]) == (1, 0, 0), facts


@story("A recipient that Postfix resolves to another domain is refused (XB11)")
def _(world):
    world.host.stop()
    world.host.more = "append_dot_mydomain = yes\nmydomain = example.net"
    world.host.start()
    reply = world.submit(ASSISTANT, ["dana@example"], letter("dana@example"))
    assert reply.code == 550 and "another domain" in reply.text, reply
    assert world.sink.messages() == []


INVITATION = """\
BEGIN:VCALENDAR\r
METHOD:REQUEST\r
BEGIN:VEVENT\r
ORGANIZER:mailto:owner@example.com\r
ATTENDEE:mailto:dana@example.com\r
{more}END:VEVENT\r
END:VCALENDAR\r
"""
BOTH = """\
--bb\r
Content-Type: text/plain\r
\r
Thank you, we will get back to you.\r
--bb\r
Content-Type: text/html\r
\r
<p>{html}</p>\r
--bb--\r
"""


def facts_of(world, message, to="dana@example.com"):
    """Submits a message and returns its item."""
    assert world.submit(ASSISTANT, [to], message).code == 250
    [item] = [item for item in world.gate.items() if item["state"] != "superseded"]
    shown = world.gate.show(item["id"])
    world.gate.command("reject", item["id"], "Seen.")
    return shown


def preview(world, item):
    return world.gate.command("show", item["id"]).stdout


@story("Strangers whom an invitation names are where answers go, recipients are not (XB22, B10)")
def _(world):
    world.gate.configure('hold "all"\n')
    world.gate.restart_relay()
    calendar = {"Content_Type": "text/calendar; method=REQUEST"}
    item = facts_of(world, letter("dana@example.com", body=INVITATION.format(more=""), **calendar))
    assert item["facts"]["diverted"] == 0 and item["facts"]["attachments"] == 1, item["facts"]
    more = f"ATTENDEE;CN=Dana:mailto:\r\n {STRANGER}\r\n"
    item = facts_of(world, letter("dana@example.com", body=INVITATION.format(more=more),
                                  **calendar))
    assert item["facts"]["diverted"] == 1, item["facts"]
    assert STRANGER in item["attendees"] and f"  {STRANGER}" in preview(world, item), item


@story("Answers that go elsewhere are counted, from every field that moves them (XB23)")
def _(world):
    world.gate.configure('hold "all"\n')
    world.gate.restart_relay()
    for field, value in (("Reply_To", STRANGER), ("Sender", STRANGER),
                         ("Mail_Followup_To", STRANGER), ("Errors_To", STRANGER),
                         ("Disposition_Notification_To", STRANGER),
                         ("List_Post", f"<mailto:{STRANGER}>"), ("Reply_To", OWNER),
                         ("Sender", ASSISTANT)):
        item = facts_of(world, letter("dana@example.com", **{field: value}))
        assert item["facts"]["diverted"] == (STRANGER in value), (field, item["facts"])


@story("An approver is shown the HTML where it says something else (XD1, XD2, B12)")
def _(world):
    world.gate.configure('hold "all"\n')
    world.gate.restart_relay()
    both = {"Content_Type": 'multipart/alternative; boundary="bb"'}
    same = BOTH.format(html="Thank you, we will <b>get back</b> to you.")
    item = facts_of(world, letter("dana@example.com", body=same, **both))
    assert not item["differs"] and "HTML" not in preview(world, item), item
    other = BOTH.format(html="We accept.<i style='display:none'>Account 88-1042</i>")
    item = facts_of(world, letter("dana@example.com", body=other, **both))
    text = preview(world, item)
    assert item["differs"] and "says something else" in text, text
    assert "| Thank you" in text and "Account 88-1042" in text, text


@story("A file is counted however it is wrapped, and what nobody can read is said (XB17-XB20)")
def _(world):
    world.gate.configure('hold "all"\n')
    world.gate.restart_relay()
    dump = "48 65 6c 6c 6f 20 77 6f 72 6c 64 21 0a 48 65 6c\r\n" * 60
    link = '<img src="data:image/png;base64,iVBORw0KGgo=">\r\n'
    for body, fields, attachments, opaque in (
            ("Hello.\r\n", {}, 0, False),
            ("begin 644 a.csv\r\n#86)C\r\n`\r\nend\r\n", {}, 1, False),
            (link, {"Content_Type": "text/html"}, 1, False),
            ("a,b\r\n", {"Content_Type": "text/plain; name*0=a; name*1=.csv"}, 1, False),
            (dump, {}, 0, True),
            ("x\r\n", {"Content_Type": "text/plain; charset=x-none"}, 0, True),
            ("From: x@y\r\n\r\nx\r\n", {"Content_Type": "message/x-new"}, 1, False)):
        item = facts_of(world, letter("dana@example.com", body=body, **fields))
        found = item["facts"]["attachments"], item["facts"]["opaque"]
        assert found == (attachments, opaque), (body[:40], found, item["opaque"])


@story("An address that a received text spells out counts as taken from it (D19, XB28)")
def _(world):
    world.gate.configure('hold "from a text" if from_body > 0\ndraft "else"\n')
    world.gate.restart_relay()
    inbound = letter(OWNER, body="Ask lee (at) example dot net, or meet at noon.\r\n",
                     sender="mallory@example.net")
    assert world.receive("mallory@example.net", [OWNER], inbound).code == 250
    world.sink.wait(1)
    for to, reason in (("lee@example.net", "from a text"), ("meet@example.net", "else")):
        assert facts_of(world, letter(to), to)["reason"] == reason, to


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World(POLICY)))
