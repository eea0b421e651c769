"""Stories: end-to-end tests told as sentences, printed as TAP.

    @story("A stranger in the envelope is held, whatever the header says (XB8)")
    def _(world): ...

    main(lambda: World(POLICY))

Each story begins with an empty store and the gate as the world was made. Without root, which a
private Postfix needs, the whole file is skipped and says so."""

import os
import sys
import time
import traceback

STORIES = []
# Seconds for what comes at once on most machines. Only a test that fails waits so long.
PATIENCE = 60


class Skip(Exception):
    """What a story needs is not here. The text says what."""


def story(sentence):
    def keep(function):
        STORIES.append((sentence, function))
        return function
    return keep


def until(condition, seconds=PATIENCE):
    """Waits until the condition holds."""
    begin = time.monotonic()
    while not condition():
        if time.monotonic() > begin + seconds:
            raise TimeoutError("it never came to that")
        pause(begin)


def pause(begin):
    """Before the next look: the longer it has taken since then, the longer, so that looking
    keeps nobody else from working."""
    time.sleep(min(0.2, max(0.02, (time.monotonic() - begin) / 10)))


def main(make_world):
    """Tells every story, or those whose sentence contains one of the arguments."""
    if os.geteuid() != 0:
        print("1..0 # SKIP a private Postfix can only be started by root")
        return 0
    chosen = [(sentence, function) for sentence, function in STORIES
              if not sys.argv[1:] or any(word in sentence for word in sys.argv[1:])]
    print(f"1..{len(chosen)}", flush=True)
    failed = 0
    for number, (sentence, function) in enumerate(chosen, 1):
        try:
            with make_world() as world:
                function(world)
            print(f"ok {number} - {sentence}", flush=True)
        except Skip as reason:
            print(f"ok {number} - {sentence} # SKIP {reason}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {number} - {sentence}", flush=True)
            for line in traceback.format_exc().splitlines():
                print(f"# {line}", flush=True)
    return 1 if failed else 0
