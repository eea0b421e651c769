"""The model's moves are those of the table in store/state.c, no more and no fewer. TAP."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def read(*path):
    with open(os.path.join(HERE, *path), encoding="utf-8") as file:
        return file.read()


def table_moves():
    rows = re.findall(r'\[STATE_(\w+)\] = \{"([^}]*)\}', read("..", "..", "store", "state.c"))
    return {(state, to) for state, row in rows for to in re.findall(r"TO\((\w+)\)", row)}


def model_moves():
    text = re.sub(r"(?s)/\*.*?\*/|#define[^\n]*", "", read("gate.pml"))
    return set(re.findall(r"MOVE\((\w+), (\w+)\)", text))


def main():
    table, model = table_moves(), model_moves()
    tests = [("the table has moves at all", [] if table else ["none found"]),
             ("the model makes every move of the table", table - model),
             ("the model makes no other move", model - table)]
    print(f"1..{len(tests)}")
    for number, (name, wrong) in enumerate(tests, 1):
        print(f"{'not ok' if wrong else 'ok'} {number} - {name}")
        for what in sorted(wrong):
            print(f"# {what}")
    return 1 if any(wrong for _, wrong in tests) else 0


if __name__ == "__main__":
    sys.exit(main())
