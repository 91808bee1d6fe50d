#!/usr/bin/env python3
"""Prints the peak resident memory of penstock and its peers on training steps, each in a process of its own.

    memory.py --ours build/bin/penstock_bench --peers ../shared/peers [--tf PYTHON] [--torch PYTHON] [--jax PYTHON]
              [--cases mlp,alexnet] [--threads 2] [--batch 16]

--peers is the folder of tf_peer.py, torch_peer.py and jax_peer.py. The figure is what the kernel calls ru_maxrss: it holds
the program, its libraries and, for the peers, Python. A ratio above 1 means that penstock needs less.
"""
import argparse
import os
import subprocess
import sys

CASES = "mlp,mnist_cnn,alexnet,overfeat,oxfordnet,googlenet,lstm_lm,lstm_lm_sampled"
PEERS = ["tf", "torch", "jax"]
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--ours", required=True)
parser.add_argument("--peers", default="../shared/peers")
for peer in PEERS:
    parser.add_argument("--" + peer)
parser.add_argument("--cases", default=CASES)
parser.add_argument("--threads", default="2")
parser.add_argument("--batch", default="16")
args = parser.parse_args()


def peak_mb(command):
    """The peak of a program in MB, or None where it did not measure the case."""
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", JAX_PLATFORMS="cpu")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    printed = process.stdout.read()
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{errors.decode()[-2000:]}")
    return usage.ru_maxrss / 1024 if b"{" in printed else None


programs = {"penstock": [args.ours, "--threads", args.threads]}
for peer in PEERS:
    if getattr(args, peer):
        programs[peer] = [getattr(args, peer), os.path.join(args.peers, peer + "_peer.py")]
        if peer != "jax":
            programs[peer] += ["--threads", args.threads]

print(f"{'peak, MB':18}" + "".join(f"{name:>18}" for name in programs))
for case in args.cases.split(","):
    row = f"{case:18}"
    ours = None
    for name, command in programs.items():
        peak = peak_mb([*command, "--only", case, "--batch", args.batch])
        if name == "penstock":
            ours = peak
        ratio = f" ({peak / ours:.2f})" if peak and ours and name != "penstock" else ""
        row += f"{f'{peak:.0f}{ratio}' if peak else '-':>18}"
    print(row, flush=True)
