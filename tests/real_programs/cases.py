"""Runs cases of test programs in parallel, and prints how each case ended.

    cases.py [options] CASES -- COMMAND...

CASES has lines `PROGRAM CASE`, or `PROGRAM *` for a whole program. The program and its arguments are appended to COMMAND.
Each process runs a part of the cases of one program. If a case crashes its process or takes too long, a new process runs
the rest. Prints `passed SECONDS PROGRAM:CASE`, `skipped …`, or `failed …: how` to standard output, and `unended …: why` for
a program that was ended with cases left. The output of a process stays in the folder of logs if one of its cases failed.
"""

import argparse
import queue
import re
import subprocess
import threading
import time
from pathlib import Path


class GoogleTest:
    in_order = False
    # GoogleTest pads its marks to ten characters.
    MARK = re.compile(r"\[ *(RUN|OK|SKIPPED|FAILED) *\] ([^\s,]+\.[^\s,]+)")
    WORDS = {"RUN": "begun", "OK": "passed", "SKIPPED": "skipped", "FAILED": "failed"}

    def arguments(self, cases):
        return ["--gtest_color=no", "--gtest_filter=" + ":".join(cases)]

    def read(self, line):
        """What happened to a case, and the case; None if the line does not say."""
        mark = self.MARK.search(line)
        return mark and (self.WORDS[mark[1]], mark[2])


class Ggml:
    """test-backend-ops. It prints only how a case ended, and runs cases in the order of its own list. Takes no `PROGRAM *`."""

    in_order = True
    MARK = re.compile(r"(?:^|  )([A-Z0-9_]+\(.*\)): (OK|FAIL|not supported)\b")
    WORDS = {"OK": "passed", "FAIL": "failed", "not supported": "skipped"}
    COLOUR = re.compile(r"\x1b\[[0-9;]*m")

    def arguments(self, cases):
        return ["test", "-b", "ROCm0", "-o", ",".join(cases)]

    def read(self, line):
        mark = self.MARK.search(self.COLOUR.sub("", line))
        return mark and (self.WORDS[mark[2]], mark[1])


class Pytest:
    """pytest -v, which prints a case's name before it runs the case."""

    in_order = True
    MARK = re.compile(r"^(\S+::\S+) (PASSED|XFAIL|FAILED|ERROR|XPASS|SKIPPED)\b")
    WORDS = {"PASSED": "passed", "XFAIL": "passed", "FAILED": "failed", "ERROR": "failed", "XPASS": "failed", "SKIPPED": "skipped"}

    def arguments(self, cases):
        return cases

    def read(self, line):
        mark = self.MARK.search(line)
        return mark and (self.WORDS[mark[2]], mark[1])


class Runner:
    def __init__(self, options):
        self.options = options
        self.jobs = queue.Queue()
        self.printing = threading.Lock()
        self.processes = 0

    def add(self, program, cases):
        self.jobs.put((program, cases))

    def work(self):
        while True:
            try:
                program, cases = self.jobs.get_nowait()
            except queue.Empty:
                return
            left = self.run(program, cases)
            while left:
                left = self.run(program, left)

    def say(self, how, since, program, case, why=""):
        seconds = time.monotonic() - since
        with self.printing:
            print(f"{how} {seconds:.2f} {Path(program).name}:{case}{why and ': ' + why}", flush=True)

    def run(self, program, cases):
        """Runs cases in one process, and returns the cases that another process must run."""
        options = self.options
        with self.printing:
            self.processes += 1
            number = self.processes
        log = options.logs / f"{Path(program).name}.{number}.log"
        command = [*options.command, program, *options.argument]
        if cases != ["*"]:
            command += options.kind.arguments(cases)
        left, ended, running, failed, why = set(cases) - {"*"}, 0, None, False, None
        with open(log, "wb") as output:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            # The process is ended when it exceeds either of its two time limits.
            begun = since = time.monotonic()
            over = threading.Event()

            def watch():
                nonlocal why
                while not over.wait(0.2):
                    now = time.monotonic()
                    if now - begun > options.program_seconds:
                        why = f"the program took over {options.program_seconds:g} s"
                    elif now - since > options.case_seconds:
                        why = f"took over {options.case_seconds:g} s"
                    if why:
                        process.kill()
                        return

            watcher = threading.Thread(target=watch)
            watcher.start()
            for line in process.stdout:
                output.write(line)
                mark = options.kind.read(line.decode(errors="replace"))
                if not mark:
                    continue
                how, case = mark
                if how == "begun":
                    running, since = case, time.monotonic()
                elif case == running or case in left:
                    left.discard(case)
                    failed |= how == "failed"
                    self.say(how, since, program, case)
                    ended, running, since = ended + 1, None, time.monotonic()
            code = process.wait()
            over.set()
            watcher.join()
        # If the order of cases is known, the first one that is left was running.
        if options.kind.in_order and left and (why or code < 0):
            running = next(case for case in cases if case in left)
        how = why or (f"ended by signal {-code}" if code < 0 else f"ended with {code}")
        if why and "program" in why:
            # The time limit of the program, not of the case.
            self.say("unended", begun, program, "*", why)
            left = set()
        elif running:
            failed = True
            self.say("failed", since, program, running, how)
            left.discard(running)
        elif cases == ["*"] and code == 0 and not ended:
            # A program that prints no cases: some of rocThrust's have their own framework.
            self.say("passed", begun, program, "*")
        elif left or not ended or (code != 0 and not failed):
            # It ended before the first case or after the last.
            failed = True
            for case in left or ["*"]:
                self.say("failed", since, program, case, f"{how} without running it")
            left = set()
        if not failed:
            log.unlink()
        return [case for case in cases if case in left]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=["gtest", "ggml", "pytest"], default="gtest", help="whose programs they are")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cases", type=int, default=200, help="that a process gets at most; Linux takes an argument of 128 KiB")
    parser.add_argument("--case-seconds", type=float, default=600, help="in which a case must end")
    parser.add_argument("--program-seconds", type=float, default=1e9, help="after which a process is ended")
    parser.add_argument("--logs", type=Path, required=True)
    parser.add_argument("--argument", action="append", default=[], help="an argument of all programs")
    parser.add_argument("list", type=Path)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    options.kind = {"gtest": GoogleTest, "ggml": Ggml, "pytest": Pytest}[options.kind]()
    runner, programs = Runner(options), {}
    for line in options.list.read_text().splitlines():
        program, case = line.split(maxsplit=1)
        if case == "*":
            runner.add(program, ["*"])
        else:
            programs.setdefault(program, []).append(case)
    total = sum(map(len, programs.values()))
    size = max(1, min(options.cases, -(-total // options.workers)))
    for program, cases in programs.items():
        for first in range(0, len(cases), size):
            runner.add(program, cases[first : first + size])
    workers = [threading.Thread(target=runner.work) for _ in range(options.workers)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


main()
