#!/usr/bin/env python3
"""Holds docs/cases.md against the list of all cases: each has a test that exists, or a reason why there is none.

A test is named as `Scripted: name` or `RealServers: name` (a check of Tests/Scripted/run.py or
Tests/RealServers/run.py), `Swift: suite / sentence` (a test of Swift Testing), `Benchmarks: row`, or
`Script: file under scripts/checks`. Where ../shared/CASES.md stands beside the repository, the list of cases kept here
is compared with it as well.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
TABLE = os.path.join(ROOT, "docs", "cases.md")
SOURCE = os.path.join(ROOT, "..", "shared", "CASES.md")

CASES = """
B001 B002 B003 B006 B007 B008 B011 B012 B013 B016 B017 B018 B021 B022 B023 B026 B027 B028
B031 B032 B033 B036 B037 B038 B041 B042 B043 B046 B047 B048
B051 B052 B053 B056 B057 B058 B061 B062 B063
B066 B067 B068 B071 B072 B073 B076 B077 B078 B081 B082 B083
B086 B087 B088 B091 B092 B093 B096 B097 B098 B101 B102 B103 B106 B107 B108
B111 B112 B113 B116 B117 B118 B121 B122 B123 B126 B127 B128 B131 B132 B133 B136 B137 B138
B141 B142 B143 B146 B147 B148 B151 B152 B153 B156
D01 D02 D03 D04 D05 D06 D07 D08 D09 D10 D11 D12 D13 D14
""".split()


def listed(script):
    """The names of a suite's checks."""
    done = subprocess.run([sys.executable, os.path.join(ROOT, script), "--list"], capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s --list failed: %s" % (script, done.stderr[-300:]))
    return set(done.stdout.splitlines())


def swift_names():
    """(suite or test sentence) → found in the Swift tests."""
    found = set()
    for here, _, files in os.walk(os.path.join(ROOT, "Tests")):
        for name in files:
            if name.endswith(".swift"):
                with open(os.path.join(here, name), encoding="utf-8") as file:
                    for kind, text in re.findall(r'@(Suite|Test)\(\s*"((?:[^"\\]|\\.)*)"', file.read()):
                        found.add((kind, text))
    return found


def rows():
    """(case, tests, reason) of every row."""
    with open(TABLE, encoding="utf-8") as file:
        for line in file:
            if re.match(r"\| *[BD]\d+ *\|", line):
                cells = [c.strip() for c in line.strip().strip("|").split("|")]
                if len(cells) != 4:
                    sys.exit("a row with %d columns, not 4: %s" % (len(cells), line.strip()))
                yield cells[0], [t.strip() for t in cells[2].split("<br>") if t.strip()], cells[3]


def main():
    if not os.path.isfile(TABLE):
        sys.exit("there is no docs/cases.md")
    problems = []
    suites = {"Scripted": listed("Tests/Scripted/run.py"), "RealServers": listed("Tests/RealServers/run.py"),
              "Benchmarks": listed("Benchmarks/run.py")}
    swift = swift_names()
    seen, with_test = [], 0
    for case, tests, reason in rows():
        if case in seen:
            problems.append("%s stands there twice" % case)
        seen.append(case)
        if case not in CASES:
            problems.append("%s is no known case" % case)
        if not tests and not reason:
            problems.append("%s has neither a test nor a reason" % case)
        with_test += bool(tests)
        for test in tests:
            kind, _, name = test.partition(": ")
            if kind in suites:
                good = name in suites[kind]
            elif kind == "Swift":
                suite, _, sentence = name.partition(" / ")
                good = ("Suite", suite) in swift and ("Test", sentence) in swift
            elif kind == "Script":
                good = os.path.isfile(os.path.join(ROOT, "scripts", "checks", name.split()[0]))
            else:
                good = False
            if not good:
                problems.append("%s: there is no test '%s'" % (case, test))
    problems += ["%s is missing" % case for case in CASES if case not in seen]
    if os.path.isfile(SOURCE):
        with open(SOURCE, encoding="utf-8") as file:
            text = file.read()
        known = re.findall(r"^\*\*(B\d{3}) ", text, re.M) + re.findall(r"^- \*\*(D\d\d) ", text, re.M)
        problems += ["%s is not in the list of this script" % case for case in known if case not in CASES]
    for problem in problems:
        print("NOT ok %s" % problem)
    print("%d cases, %d with a test, %d with a reason, %d gaps" % (len(seen), with_test, len(seen) - with_test,
                                                                   len(problems)))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
