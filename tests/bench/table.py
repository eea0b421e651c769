"""The table of goals: what was measured, side by side, and what was promised."""

import statistics

LINES = []


def note(text):
    print(text, flush=True)


def spread(numbers):
    return f"{min(numbers):.2f} {statistics.median(numbers):.2f} {max(numbers):.2f}"


def judge(numbers, least=None, most=None):
    """A figure counts only when its least and its greatest lie on the same side of the goal."""
    good = [(least is None or number >= least) and (most is None or number <= most)
            for number in numbers]
    return "reached" if all(good) else "undecided" if any(good) else "MISSED"


def add(path, numbers, least=None, most=None, unit="", about=""):
    """A line: minimum, median and maximum of the rounds, against a goal."""
    goal = f"≥ {least:g}" if least is not None else f"≤ {most:g}"
    verdict = judge(numbers, least, most)
    LINES.append((path, spread(numbers), goal + unit, verdict, about))
    note(f"  {path}: {spread(numbers)} ({goal}{unit}: {verdict}) {about}")


def absent(path, why):
    LINES.append((path, "-", "-", why, ""))


def tell(path, numbers, about=""):
    """A line without a goal, for orientation."""
    LINES.append((path, spread(numbers), "", "", about))


def ratios(found, ours, theirs, member="rate"):
    """Round by round: how many times as much ours is as theirs."""
    return [a[member] / b[member] for a, b in zip(found[ours], found[theirs])]


def show():
    """The whole table, aligned."""
    head = ("path", "min median max", "goal", "verdict", "")
    rows = [head, *LINES]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    print()
    for row in rows:
        print("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths)).rstrip())
