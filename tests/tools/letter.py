"""Messages as tests write them."""

import itertools

NUMBERS = itertools.count(1)


def letter(to, subject="A word", body="Hello.\r\n", sender="agent@example.com", **fields):
    """The bytes of a plain message. fields: further header fields, underscores for hyphens;
    None leaves one of the usual ones out."""
    number = next(NUMBERS)
    usual = {"From": sender, "To": to, "Subject": subject,
             "Date": "Sun, 29 Nov 2026 12:00:00 +0000",
             "Message-ID": f"<letter-{number}@example.com>", "MIME-Version": "1.0",
             "Content-Type": "text/plain; charset=utf-8"}
    usual.update({name.replace("_", "-"): value for name, value in fields.items()})
    head = "".join(f"{name}: {value}\r\n" for name, value in usual.items() if value is not None)
    return (head + "\r\n" + body).encode("utf-8", "surrogateescape")


def message_id(message):
    """The Message-ID of a letter."""
    for line in message.decode("utf-8", "replace").split("\r\n"):
        if line.lower().startswith("message-id:"):
            return line.partition(":")[2].strip()
    raise ValueError("no Message-ID")
