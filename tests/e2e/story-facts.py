"""What the gate finds out about recipients and content, with a real Postfix in front."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

from letter import letter  # noqa: E402
from story import main, story  # noqa: E402
from world import World, end_on_signals  # noqa: E402

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


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(lambda: World(POLICY)))
