#!/usr/bin/env python3
"""Picks the recorded cases that live in the repository, tests/goldens, out of all of them.

  pick_goldens.py FROM [--bytes 4500000] [--to tests/goldens]

Takes each op's smallest cases first and goes round the ops until the bytes are spent, so that every op keeps some.
Records are copied whole; only cases of ops that `build/bin/op_list` names are taken.
"""

import argparse
import collections
import pathlib
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def records(path):
    """Yields (framed record, payload) of a TFRecord file."""
    data = path.read_bytes()
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        yield data[at:at + length + 16], data[at + 12:at + 12 + length]
        at += length + 16


def case_id(payload):
    """Field 1 of a KernelCase or ModelCase, a string that comes first."""
    assert payload[0] == 0x0A and payload[1] < 0x80, "not a recorded case"
    return payload[2:2 + payload[1]].decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path, metavar="FROM")
    parser.add_argument("--bytes", type=int, default=4_500_000)
    parser.add_argument("--to", type=pathlib.Path, default=ROOT / "tests" / "goldens")
    args = parser.parse_args()
    listed = subprocess.run([ROOT / "build" / "bin" / "op_list"], check=True, capture_output=True, text=True).stdout
    ours = {line.split("\t")[0] for line in listed.splitlines()}

    groups = collections.defaultdict(list)  # (file, op) -> (size, position, record)
    for path in sorted(args.source.glob("*.tfrecord")):
        for position, (record, payload) in enumerate(records(path)):
            parts = case_id(payload).split("/")
            op = parts[1].split("_float")[0] if parts[0] in ("grad", "stateful") else parts[0]
            if op in ours:
                groups[path.name, op].append((len(record), position, record))
    for group in groups.values():
        group.sort(reverse=True)
    chosen = collections.defaultdict(list)
    left = args.bytes
    while any(groups.values()):
        for (name, _), group in groups.items():
            if not group:
                continue
            size, position, record = group.pop()
            if size <= left:
                left -= size
                chosen[name].append((position, record))
    args.to.mkdir(parents=True, exist_ok=True)
    for old in args.to.glob("*.tfrecord"):
        old.unlink()
    for name, items in chosen.items():
        (args.to / name).write_bytes(b"".join(record for _, record in sorted(items)))
    print(f"picked {sum(map(len, chosen.values()))} cases, {args.bytes - left} bytes, into {args.to}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
