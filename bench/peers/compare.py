#!/usr/bin/env python3
"""Prints the cases of peer.py for penstock and its peers, measured by turns in one run, as ratios.

    compare.py --ours build/bin/penstock_bench [--tensorflow PYTHON] [--torch PYTHON] [--jax PYTHON]
               [--cases lstm_loop,queue_1000_clients] [--rounds 3] [--threads 2]

A unit that ends in "/s" is better when higher, any other when lower. A ratio above 1 means that penstock is better.
Each figure is the best of its rounds. PYTHON is an interpreter that has that peer installed.
"""
import argparse
import json
import os
import subprocess
import sys

PEERS = ["tensorflow", "torch", "jax"]
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--ours", required=True)
for peer in PEERS:
    parser.add_argument("--" + peer)
parser.add_argument("--cases", default="lstm_loop,queue_1000_clients")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--threads", default="2")
args = parser.parse_args()

options = ["--only", args.cases, "--threads", args.threads]
script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer.py")
programs = [[args.ours, *options]]
programs += [[getattr(args, peer), script, peer, *options] for peer in PEERS if getattr(args, peer)]

best = {}  # name -> peer -> (value, unit)
for _ in range(args.rounds):
    for program in programs:
        run = subprocess.run(program, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{' '.join(program)} failed:\n{run.stderr[-2000:]}")
        for line in run.stdout.splitlines():
            if not line.startswith("{"):
                continue
            row = json.loads(line)
            figures = best.setdefault(row["name"], {})
            old = figures.get(row["peer"])
            if old is None or (row["value"] > old[0]) == row["unit"].endswith("/s"):
                figures[row["peer"]] = (row["value"], row["unit"])

for name, figures in best.items():
    ours, unit = figures["penstock"]
    print(f"{name}: penstock {ours:.4g} {unit}")
    for peer, (value, _) in figures.items():
        if peer != "penstock":
            ratio = ours / value if unit.endswith("/s") else value / ours
            print(f"  {peer} {value:.4g} {unit}, ratio {ratio:.2f}")
