#!/usr/bin/python3
"""A milter on python3-milter that does nothing: nothing-milter.py SOCKET"""

import os
import sys

import Milter


class Nothing(Milter.Base):
    """Every step, and nothing done."""

    def connect(self, *_):
        return Milter.CONTINUE

    def envfrom(self, *_):
        return Milter.CONTINUE

    def envrcpt(self, *_):
        return Milter.CONTINUE

    def data(self):
        return Milter.CONTINUE

    def header(self, *_):
        return Milter.CONTINUE

    def eoh(self):
        return Milter.CONTINUE

    def body(self, *_):
        return Milter.CONTINUE

    def eom(self):
        return Milter.CONTINUE


if __name__ == "__main__":
    os.umask(0)
    Milter.factory = Nothing
    Milter.runmilter("nothing", "unix:" + sys.argv[1], 600)
