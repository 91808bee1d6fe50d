#!/usr/bin/env python3
"""Measures one peer on the cases of penstock_bench that the shared peer scripts do not have.

    peer.py tensorflow|torch|jax [--only NAME[,NAME]] [--threads N]

Run by compare.py beside it, with an interpreter that has the peer installed. Prints one JSON line a case,
{"peer", "name", "value", "unit"}, as penstock_bench does.
"""
import argparse
import json
import os
import statistics
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("peer", choices=["tensorflow", "torch", "jax"])
parser.add_argument("--only", default="")
parser.add_argument("--threads", type=int, default=2)
args = parser.parse_args()

STEPS, BATCH, HIDDEN = 128, 16, 128  # of lstm_loop


def median_ms(call, steps=30, warm=5):
    times = []
    for i in range(steps + warm):
        start = time.perf_counter()
        call()
        if i >= warm:
            times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def lstm_inputs():
    import numpy as np
    random = np.random.RandomState(0)
    inputs = random.uniform(-1, 1, [STEPS, BATCH, HIDDEN]).astype(np.float32)
    weights = random.uniform(-0.1, 0.1, [2 * HIDDEN, 4 * HIDDEN]).astype(np.float32)
    return inputs, weights, np.zeros(4 * HIDDEN, np.float32)


def tensorflow_cases():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf
    v1 = tf.compat.v1
    v1.disable_eager_execution()
    config = v1.ConfigProto(inter_op_parallelism_threads=args.threads, intra_op_parallelism_threads=args.threads)

    def lstm_loop():
        with tf.Graph().as_default():
            inputs, weights, bias = (v1.get_variable(n, initializer=v, use_resource=True).read_value()
                                     for n, v in zip("iwb", lstm_inputs()))

            def body(t, c, h):
                i, j, f, o = tf.split(tf.matmul(tf.concat([inputs[t], h], 1), weights) + bias, 4, 1)
                c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
                return t + 1, c, tf.tanh(c) * tf.sigmoid(o)

            zero = tf.zeros([BATCH, HIDDEN])
            result = tf.while_loop(lambda t, c, h: t < STEPS, body, [0, zero, zero])[2]
            with v1.Session(config=config) as session:
                session.run(v1.global_variables_initializer())
                return median_ms(session.make_callable(result)), "ms"

    def queue_1000_clients():
        with tf.Graph().as_default():
            queue = v1.FIFOQueue(1000, [tf.float32], [[]])
            put, get = queue.enqueue(1.0), queue.dequeue().op
            with v1.Session(config=config) as session:
                callables = [session.make_callable(put), session.make_callable(get)]

                def thousand():
                    def client(call):
                        for _ in range(125):
                            call()
                    threads = [threading.Thread(target=client, args=[c]) for c in callables for _ in range(4)]
                    for thread in threads:
                        thread.start()
                    for thread in threads:
                        thread.join()
                return 1000 / median_ms(thousand, steps=10, warm=2) * 1e3, "ops/s"

    return {"lstm_loop": lstm_loop, "queue_1000_clients": queue_1000_clients}


def torch_cases():
    import torch
    torch.set_num_threads(args.threads)

    def lstm_loop():
        inputs, weights, bias = (torch.from_numpy(v) for v in lstm_inputs())

        @torch.no_grad()
        def run():
            c = h = torch.zeros(BATCH, HIDDEN)
            for t in range(STEPS):
                i, j, f, o = torch.addmm(bias, torch.cat([inputs[t], h], 1), weights).chunk(4, 1)
                c = c * torch.sigmoid(f + 1.0) + torch.sigmoid(i) * torch.tanh(j)
                h = torch.tanh(c) * torch.sigmoid(o)
            return h
        return median_ms(run), "ms"

    return {"lstm_loop": lstm_loop}


def jax_cases():
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax
    import jax.numpy as jnp

    def lstm_loop():
        inputs, weights, bias = (jnp.asarray(v) for v in lstm_inputs())

        @jax.jit
        def run(inputs, weights, bias):
            def body(carry, x):
                c, h = carry
                i, j, f, o = jnp.split(jnp.concatenate([x, h], 1) @ weights + bias, 4, 1)
                c = c * jax.nn.sigmoid(f + 1.0) + jax.nn.sigmoid(i) * jnp.tanh(j)
                return (c, jnp.tanh(c) * jax.nn.sigmoid(o)), None
            zero = jnp.zeros([BATCH, HIDDEN])
            return jax.lax.scan(body, (zero, zero), inputs)[0][1]
        return median_ms(lambda: run(inputs, weights, bias).block_until_ready()), "ms"

    return {"lstm_loop": lstm_loop}


cases = {"tensorflow": tensorflow_cases, "torch": torch_cases, "jax": jax_cases}[args.peer]()
for name, run in cases.items():
    if args.only and name not in args.only.split(","):
        continue
    value, unit = run()
    print(json.dumps({"peer": args.peer, "name": name, "value": round(value, 4), "unit": unit}), flush=True)
