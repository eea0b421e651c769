"""Mailboxes of any size, the same every time: small messages of four years, every other one
sent by the owner; in the order in which they came, conversations among them."""

import email.utils
import os
import random
import time

OWNER = "owner@example.com"
YEARS = 4 * 365 * 86400  # texts teach for 90 days, so most are too old to be read
PER_CORRESPONDENT = 5
PER_DOMAIN = 20
ANSWERS = 0.6
WORDS = ("the meeting on Tuesday moved to a room upstairs and nobody told us so please send "
         "what you have before noon and we will see how far it takes us").split()
HEAD = """\
Return-Path: <{sender}>
Received: from mail.example.org (mail.example.org [192.0.2.1])
\tby mx.example.com (Postfix) with ESMTPS id {number:012X}
\tfor <{to}>; {date}
Date: {date}
From: Some Body <{sender}>
To: Any One <{to}>
Subject: {subject}
Message-ID: <{number}@mail.example.org>
{parent}MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

"""


class Letter:
    """One message: text, when, and whether it was sent."""

    def __init__(self, number, when, dice, bodies):
        person = dice.randrange(number // PER_CORRESPONDENT + 1)
        address = f"person{person}@domain{person // PER_DOMAIN}.example.org"
        self.when = when
        self.sent = number % 2 == 0
        sender, to = (OWNER, address) if self.sent else (address, OWNER)
        parent = ""
        if number > 0 and dice.random() < ANSWERS:
            parent = f"In-Reply-To: <{number - dice.randint(1, min(number, 9))}@mail.example.org>\n"
        body = dice.choice(bodies)
        self.text = HEAD.format(sender=sender, to=to, number=number, parent=parent,
                                date=email.utils.formatdate(when), subject=body[:24]) + body


def letters(count, now, lines):
    """So many letters up to now, with so many lines of text."""
    dice = random.Random(count)
    bodies = ["".join(" ".join(dice.choices(WORDS, k=12)) + "\n" for _ in range(lines))
              for _ in range(100)]
    for number in range(count):
        yield Letter(number, now - YEARS + YEARS * number // count, dice, bodies)


def write_maildir(folder, count, now):
    """A Maildir++ with a folder of sent mail; 1 KB a message."""
    for place in ("", ".Sent"):
        for name in ("cur", "new", "tmp"):
            os.makedirs(os.path.join(folder, place, name))
    for number, one in enumerate(letters(count, now, 7)):
        path = os.path.join(folder, ".Sent" if one.sent else "", "cur",
                            f"{one.when}.M{number}P1.mail:2,S")
        with open(path, "w", encoding="ascii") as file:
            file.write(one.text)


def write_mboxes(folder, count, now):
    """Two mbox files, sent and received, of messages with one line of text."""
    with open(os.path.join(folder, "Sent"), "w", encoding="ascii") as sent, \
            open(os.path.join(folder, "Inbox"), "w", encoding="ascii") as received:
        for one in letters(count, now, 1):
            file = sent if one.sent else received
            file.write(f"From {OWNER} {time.asctime(time.gmtime(one.when))}\n{one.text}\n")
