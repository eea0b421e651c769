"""What the sanitizers say of programs that were built with them.

    reports = Reports(folder, program)      before the program is started
    reports.read()                          after it has ended

A program without sanitizers ignores the options and writes nothing."""

import os
import shutil

SUPPRESSIONS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                            "lsan.supp")


class Reports:
    """wanted: whether the program has sanitizers in it, so that ending it in peace, with a look
    for leaks, is worth the time."""

    def __init__(self, folder, program):
        self.folder = os.path.join(folder, "reports")
        os.mkdir(self.folder)
        os.chmod(self.folder, 0o1777)  # every program has a user of its own
        # The programs' users may not be able to enter the source tree.
        suppressions = shutil.copy(SUPPRESSIONS, folder)
        os.chmod(suppressions, 0o644)
        with open(program, "rb") as file:
            text = file.read()
        self.threads = b"__tsan_init" in text
        self.wanted = self.threads or b"__asan_init" in text
        common = f"log_path={self.folder}/report"
        # The clock is loaded before the sanitizers' library, which they do not like.
        os.environ["ASAN_OPTIONS"] = f"{common}:detect_leaks=1:verify_asan_link_order=0"
        os.environ["UBSAN_OPTIONS"] = f"{common}:print_stacktrace=1"
        races = shutil.copy(os.path.join(os.path.dirname(SUPPRESSIONS), "tsan.supp"), folder)
        os.chmod(races, 0o644)
        os.environ["TSAN_OPTIONS"] = f"{common}:suppressions={races}"
        os.environ["LSAN_OPTIONS"] = f"suppressions={suppressions}:print_suppressions=0"

    def read(self):
        """All reports as one text, "" when there is none."""
        texts = []
        for name in sorted(os.listdir(self.folder)):
            with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as file:
                texts.append(file.read())
        return "\n".join(texts)
