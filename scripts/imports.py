#!/usr/bin/env python3
"""swift package dump-package | python3 scripts/imports.py

Every module that a source file imports is a declared dependency of its target, and every declared dependency is
imported: the layers drawn in ARCHITECTURE.md are those of the code. (The package manager's own check lets imports of
indirect dependencies pass.) Sources use no module of the toolchain but those listed here.
"""
import json
import pathlib
import re
import sys

SOURCE_MODULES = {"Glibc", "Synchronization", "FoundationEssentials"}
TEST_MODULES = SOURCE_MODULES | {"Testing", "Foundation"}
IMPORT = re.compile(r"^\s*(?:@\w+\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?import\s+"
                    r"(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+)", re.MULTILINE)


def problems(target):
    name, is_test = target["name"], target["type"] == "test" or target["name"].endswith("TestSupport")
    folder = pathlib.Path(target.get("path") or ("Tests" if is_test else "Sources") + "/" + name)
    # Each dependency is one pair: kind to [name, condition].
    declared = {next(iter(dependency.values()))[0] for dependency in target["dependencies"]}
    used = set()
    for file in sorted(folder.rglob("*.swift")):
        for module in IMPORT.findall(file.read_text(encoding="utf-8")):
            used.add(module)
            if module not in declared | (TEST_MODULES if is_test else SOURCE_MODULES):
                yield f"{file}: imports {module}, which {name} does not declare"
    if not is_test:  # tests declare what their suites may need
        for module in sorted(declared - used):
            yield f"Package.swift: {name} declares {module} and does not import it"


def main():
    targets = [t for t in json.load(sys.stdin)["targets"] if t["type"] in ("regular", "executable", "test")]
    found = [problem for target in targets for problem in problems(target)]
    print("\n".join(found))
    print(f"{len(targets)} targets, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
