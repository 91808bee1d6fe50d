#!/usr/bin/env python3
"""Checks that each folder of penstock/ includes only the folders that lie below it.

Tests (*_test.cc, *_fuzz.cc and what lies in a folder named testing) may include any folder.

  check_layers.py [ROOT]
"""

import pathlib
import re
import sys

# A folder, and the folders that it may include beside itself. The reading order is the data's way.
PUBLIC = "client train serve ops graph core"
MAY_INCLUDE = {
    "cli": PUBLIC,
    "python": PUBLIC,
    "serve": "client distributed io graph core",
    "train": "client ops io graph core",
    "client": "session ops graph io core",
    "distributed": "session compile execute transport graph io core",
    "session": "compile execute device transport graph core",
    "compile": "graph core",
    "execute": "transport device graph core",
    "ops": "kernels transport device graph io core",
    "kernels": "core",
    "transport": "device core",
    "device": "core",
    "graph": "proto core",
    "io": "proto core",
    "core": "",
    "proto": "",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]penstock/([^">]*)[">]')
SOURCES = {".h", ".cc", ".cu", ".cuh", ".c"}


def is_test(path):
    return re.search(r"_(test|fuzz)\.(cc|cu)$", path.name) or "testing" in path.parts


def check_file(path, room):
    """Yields (line, what is wrong) for each include of `path` that leaves its room upwards."""
    allowed = [room] + MAY_INCLUDE[room].split()
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
        match = INCLUDE.match(line)
        if match and match[1].split("/")[0] not in allowed:
            yield number, f"{room}/ may not include penstock/{match[1]}; allowed: {' '.join(allowed)}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    base = root / "penstock"
    num_files = 0
    problems = []
    for path in sorted(base.rglob("*")):
        parts = path.relative_to(base).parts
        # Files in penstock/ itself, such as penstock.h, gather the public headers.
        if path.suffix not in SOURCES or len(parts) == 1:
            continue
        num_files += 1
        name = path.relative_to(root)
        if parts[0] not in MAY_INCLUDE:
            problems.append(f"{name}:1: no folder {parts[0]}/ in the table of tools/check_layers.py")
        elif not is_test(path.relative_to(base)):
            problems += [f"{name}:{n}: {what}" for n, what in check_file(path, parts[0])]
    print("\n".join(problems + [f"layers: {num_files} files, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
