"""The files that an admin copies, as text."""

import os
import re

SOURCE = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def readme_conf():
    """The README's minimal exeat.conf."""
    block = re.search(r"(?m)^    \[exeat\]\n(?:(?:    .*)?\n)*", read("README.md")).group()
    return re.sub(r"(?m)^    ", "", block).strip() + "\n"
