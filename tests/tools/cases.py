"""Plays the cases of a folder like tests/cases (see its README.md) against a real gate.

History is real mail: what the human sent goes through the submission service with the human's
login, what came in arrives at the plain listener from outside, what the agent sent goes
through the gate under a policy that releases or holds everything. Mailboxes are imported by
the command, as root. The decision table of the README is a policy file like any other."""

import email.utils
import os

from smtpclient import to_crlf

HUMAN, AGENT_LOGIN = "owner@example.com", "agent@example.com"
# The first moment of all histories; each event is a minute later than the one before.
EPOCH = 1_794_000_000
RELEASE_ALL = 'release "prelude"\n'
HOLD_ALL = 'hold "prelude"\n'
CALM = "attachments = 0 and not forward and not opaque"
NEEDS_SINK = ("messages_max", "never_to", "reinject_rcpt_params")


def decision_policy(config):
    """The decision table of the README as a policy; row 2 is the relay's own, rows 3 and 4 are
    the account's mode."""
    leave = "delay 2h-6h" if config.get("delay") else "release"
    lines = [
        'hold "first contact outside" if external_novel > 0',
        'hold "address taken from mail text" if from_body > 0',
        'hold "large audience" if recipients > 10',
        'hold "mailing list" if lists > 0',
        'hold "attachment leaves" if external > 0 and attachments > 0',
        'hold "forwarded mail leaves" if external > 0 and forward',
        'hold "unreadable content leaves" if external > 0 and opaque',
        f'{leave} "answer in a conversation" if mine and outside_thread = 0 and novel = 0 '
        f'and recipients <= 3 and {CALM}',
        f'{leave} "colleagues" if novel = 0 and external = 0 and recipients <= 5 and {CALM}',
        'draft "anything else"',
        f"limit {config.get('cap', 2)} automatic per conversation else draft",
    ]
    lines += [f'{tier} "declared {name}" if declared = "{name}"'
              for name, tier in config.get("classes", {}).items() if tier != "auto"]
    return "\n".join(lines) + "\n"


def event_message(event, number):
    """The bytes of a history event."""
    fields = [("From", event["from"]), ("To", ", ".join(event.get("to", []))),
              ("Cc", ", ".join(event.get("cc", []))), ("Subject", f"History {number}"),
              ("Date", email.utils.formatdate(EPOCH + 60 * number)),
              ("Message-ID", event.get("message_id")),
              ("In-Reply-To", event.get("in_reply_to")),
              ("References", " ".join(event.get("references", []))),
              ("MIME-Version", "1.0"), ("Content-Type", "text/plain; charset=utf-8"),
              ("Content-Transfer-Encoding", "8bit")]
    if event.get("list_post"):
        name, _, domain = event["list_post"].rpartition("@")
        fields += [("List-Post", f"<mailto:{event['list_post']}>"),
                   ("List-Id", f"<{name}.{domain}>")]
    text = "".join(f"Please write to {address}.\r\n" for address in
                   event.get("body_addresses", []))
    head = "".join(f"{name}: {value}\r\n" for name, value in fields if value)
    return f"{head}\r\nEvent {number}.\r\n{text}".encode()


def logins_of(cases):
    """Logins for all cases, with the senders each may use as far as Postfix has a say."""
    logins = {HUMAN: [HUMAN], AGENT_LOGIN: [AGENT_LOGIN, HUMAN]}
    for case in cases:
        login = case["envelope"]["auth_user"]
        if login.lower() not in (HUMAN, AGENT_LOGIN):
            logins[login] = [login]
        logins.setdefault(login, [])
    return logins


class Found:
    """What the gate made of one case."""

    def __init__(self):
        self.reply = None
        self.tier = None
        self.rule = None
        self.facts = {}
        self.item = None
        self.mismatches = []

    def as_json(self, case):
        return {"id": case["id"], "tier": self.tier, "facts": self.facts, "rule": self.rule,
                "reply": None if self.reply is None else repr(self.reply),
                "mismatches": self.mismatches}


class Player:
    """Plays cases one after the other in one World; every case begins with an empty relay."""

    def __init__(self, world, folder):
        self.world = world
        self.gate = world.gate
        self.folder = folder
        self.sessions = {}
        self.account = {}

    def play(self, case):
        found = Found()
        try:
            self._load_history(case)
            self._import(case)
            before = {item["id"] for item in self.gate.items(everything=True)}
            sink_before = self._quiet()
            self._submit(case, found)
            self._collect(case, found, before)
            compare(case, found)
            self._compare_left(case, found, sink_before)
            self._compare_items(case, found)
            self._compare_preview(case, found)
            self._compare_sink(case, found, sink_before)
        except (OSError, RuntimeError, KeyError, ValueError) as error:
            found.mismatches.append(f"run: {type(error).__name__}: {error}")
        finally:
            for session in self.sessions.values():
                session.close()
            self.sessions = {}
        self._revive(found)
        return found

    def _revive(self, found):
        """A daemon that died is this case's failure, and not that of all later ones."""
        for daemon, start in ((self.gate.relay, self.gate.relay.start),
                              (self.gate.milter, self.gate.milter.start)):
            if daemon.process is None or daemon.process.poll() is not None:
                found.mismatches.append(f"run: {daemon.name} has died: "
                                        f"{daemon.read_log().splitlines()[-1:]}")
                self.gate.configure(decision_policy({}))
                start()

    def _session(self, login):
        if login not in self.sessions:
            self.sessions[login] = self.world.client(login)
        return self.sessions[login]

    def _load_history(self, case):
        """Starts the relay afresh and lets the events happen, in the order they are listed."""
        config = case.get("config", {})
        self.account = {"mode": config.get("mode", "hybrid"),
                        "lists": ", ".join(config.get("lists", [])) or None}
        final = decision_policy(config)
        preludes = [prelude_of(event) for event in case["history"]]
        policy = next(filter(None, preludes), final)
        self._set_policy(policy, final, fresh=True)
        for number, (event, wanted) in enumerate(zip(case["history"], preludes)):
            if wanted not in (None, policy):
                policy = wanted
                self._set_policy(policy, final)
            self._happen(event, number)
        if policy != final:
            self._set_policy(final, final)

    def _set_policy(self, policy, final, fresh=False):
        account = self.account if policy == final else {**self.account, "mode": "hybrid"}
        self.gate.configure(policy, account)
        self.gate.restart_relay(fresh)

    def _happen(self, event, number):
        message = event_message(event, number)
        recipients = event.get("to", []) + event.get("cc", []) + event.get("bcc", [])
        if event["direction"] == "received":
            # Only the copy for the human's mailbox comes here, whoever else got one.
            reply = self._session(None).submit(event["from"], [HUMAN], message)
        elif event.get("by", "human") == "human":
            reply = self._session(HUMAN).submit(event["from"], recipients, message)
        else:
            reply = self._session(AGENT_LOGIN).submit(AGENT_LOGIN, recipients, message)
        if not reply.ok:
            raise RuntimeError(f"history event {number} is refused: {reply}")
        if event.get("by") == "agent" and not event.get("auto"):
            self._approve(self.gate.items(everything=True)[-1]["id"])

    def _approve(self, item):
        shown = self.gate.show(item)
        if shown["state"] == "delayed":
            self.gate.answer("now", item, shown["digest"])
        else:
            self.gate.approve(item)
        state = self.gate.wait_state(item, "sent", "failed", "uncertain")
        if state != "sent":
            raise RuntimeError(f"item {item} is {state} after its approval, not sent")

    def _import(self, case):
        """Imports the mailboxes as the admin would."""
        for mailbox in case.get("import", []):
            role = ["--sent"] if mailbox["role"] == "sent" else []
            if mailbox.get("sent_labels"):
                role = ["--sent-labels", ",".join(f'"{label}"' for label in
                                                  mailbox["sent_labels"])]
            path = os.path.abspath(os.path.join(self.folder, mailbox["path"]))
            done = self.gate.command("import", *role, path, uid=0)
            if done.returncode != 0:
                raise RuntimeError(f"import of {mailbox['path']}: {done.stderr.strip()}")

    def _quiet(self):
        """Waits until Postfix has nothing left to deliver; how many messages the sink has."""
        self.world.host.wait_empty()
        return len(self.world.sink.messages())

    def _submit(self, case, found):
        envelope = case["envelope"]
        session = self._session(envelope["auth_user"])
        with open(os.path.join(self.folder, case["file"]), "rb") as file:
            data = file.read()
        if case["file"].endswith(".smtp"):
            found.reply, complaints = session.play(data.decode("utf-8", "surrogateescape"))
            found.mismatches += complaints
            return
        earlier = []
        for name in case.get("before", []):
            with open(os.path.join(self.folder, name), "rb") as file:
                earlier.append(file.read())
        for message in earlier + [data] * case.get("repeat", 1):
            if case.get("eol") == "lf":
                message = to_crlf(message)
            if case.get("declared_class"):
                message = f"Agent-Action: {case['declared_class']}\r\n".encode() + message
            found.reply = session.submit(envelope["mail_from"], envelope["rcpt_to"], message,
                                         smtputf8=case.get("smtputf8", False))

    def _collect(self, case, found, before):
        """What became of the case's message, its item among those that are new."""
        new = [item["id"] for item in self.gate.items(everything=True)
               if item["id"] not in before]
        found.facts = {"gated": bool(new) or not found.reply.ok}
        if new:
            item = self._own_item(case, new)
            found.item = item["id"]
            found.tier = {"refuse": "reject"}.get(item["tier"], item["tier"])
            found.rule = item["reason"]
            found.facts.update(item["facts"])
        if found.reply.code >= 500:
            found.tier = "reject"
        elif not found.reply.ok:
            found.tier = "trouble"
        elif not new:
            found.tier = "release"

    def _own_item(self, case, new):
        """The only new item, or the last of those from files submitted before. A session may
        bring several messages: the case is the first that goes to its recipients."""
        items = [self.gate.show(item) for item in new]
        if case.get("before"):
            return items[-1]
        wanted = set(case["envelope"]["rcpt_to"])
        own = [item for item in items
               if {recipient["address"] for recipient in item["recipients"]} == wanted]
        return (own or items)[0]

    def _compare_left(self, case, found, sink_before):
        """Whatever the gate says: what did it let out? Of a session that may bring several
        messages, those to the case's recipients."""
        self._quiet()
        wanted = set(case["envelope"]["rcpt_to"])
        session = case["file"].endswith(".smtp")
        left = sum(not session or not wanted.isdisjoint(message.recipients)
                   for message in self.world.sink.messages()[sink_before:])
        if found.tier == "release" and left == 0:
            found.mismatches.append("sink: expected the released message, found nothing")
        elif found.tier != "release" and left > 0 and not case.get("before"):
            found.mismatches.append(f"sink: expected nothing, found {left} more")

    def _compare_items(self, case, found):
        if "items" in case["expect"]:
            waiting = len(self.gate.items())
            if waiting != case["expect"]["items"]:
                found.mismatches.append(
                    f"items: expected {case['expect']['items']} waiting, found {waiting}")

    def _compare_preview(self, case, found):
        preview = case["expect"].get("preview")
        if not preview:
            return
        if found.item is None:
            found.mismatches.append("preview: there is no item to show")
            return
        text = self.gate.command("show", found.item).stdout
        found.mismatches += [f"preview: expected {part!r} to be shown, found it missing"
                             for part in preview.get("shows", []) if part not in text]
        found.mismatches += [f"preview: expected no raw {part!r}, found it"
                             for part in preview.get("never_raw", []) if part in text]

    def _compare_sink(self, case, found, sink_before):
        """Approves what waits and reads what came of it, the case's own item first: until then
        nobody has decided about anything else."""
        expect = case["expect"]
        if not any(key in expect for key in NEEDS_SINK):
            return
        waiting = [item["id"] for item in self.gate.items()]
        if self.account["mode"] == "draft":
            waiting = []  # nothing leaves, not even approved
        if found.item in waiting:
            waiting.remove(found.item)
            self._approve(found.item)
        self._quiet()
        left = self.world.sink.messages()[sink_before:]
        for address in expect.get("never_to", []):
            if any(address in message.recipients for message in left):
                found.mismatches.append(f"never_to: found a message to {address} in the sink")
        for recipient, params in expect.get("reinject_rcpt_params", {}).items():
            has = [param_set(message.rcpt_params.get(recipient, "")) for message in left]
            if not any(param_set(params) <= one for one in has):
                found.mismatches.append(f"reinject_rcpt_params: expected {params} for "
                                        f"{recipient}, found {has}")
        for item in waiting:
            self._approve(item)
        count = self._quiet() - sink_before
        if count > expect.get("messages_max", count):
            found.mismatches.append(
                f"messages_max: expected at most {expect['messages_max']}, found {count}")


def prelude_of(event):
    """The policy an event needs to happen as it did; None when any will do."""
    if event["direction"] != "sent" or event.get("by") != "agent":
        return None
    return RELEASE_ALL if event.get("auto") else HOLD_ALL


def param_set(params):
    """Parameters of RCPT, with the words of NOTIFY one by one: a server between may put them
    in another order (RFC 3461, 4.1)."""
    single = set()
    for param in params.split():
        name, _, value = param.partition("=")
        words = value.split(",") if name.upper() == "NOTIFY" else [value]
        single |= {(name.upper(), word) for word in words}
    return single


def compare(case, found):
    """Tier and facts."""
    expect = case["expect"]
    rule = f" (rule {found.rule!r})" if found.rule else ""
    if found.tier not in [expect["tier"], *expect.get("also_ok", [])]:
        more = f", reply {found.reply}" if found.tier in ("reject", "trouble") else rule
        found.mismatches.append(f"tier: expected {expect['tier']}, found {found.tier}{more}")
    if found.tier in expect.get("also_ok", []) and found.item is None:
        return
    for name, wanted in expect.get("facts", {}).items():
        has = fact_value(found.facts, name)
        if has is None or has != wanted:
            shown = "unknown" if has is None else has
            found.mismatches.append(f"{name}: expected {wanted}, found {shown}{rule}")


def fact_value(facts, name):
    """A fact as the cases spell it; None when it is unknown or missing."""
    if name == "list":
        return None if facts.get("lists") is None else facts["lists"] > 0
    return facts.get(name)
