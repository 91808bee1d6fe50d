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


def examples_file(tf):
    """The file of penstock_bench's input_tfrecord, byte for byte."""
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "penstock_bench_examples.tfrecord")
    if not os.path.exists(path):
        with tf.io.TFRecordWriter(path) as writer:
            for i in range(100_000):
                image = bytes((i * 7 + p) % 256 for p in range(784))
                writer.write(tf.train.Example(features=tf.train.Features(feature={
                    "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image])),
                    "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i % 10])),
                })).SerializeToString(deterministic=True))
    return path


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

    def input_tfrecord():
        path = examples_file(tf)
        with tf.Graph().as_default():
            features = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}

            def parse(records):
                parsed = tf.io.parse_example(records, features)
                return tf.io.decode_raw(parsed["image"], tf.uint8, fixed_length=784), parsed["label"]

            data = tf.data.TFRecordDataset(path).batch(128).map(parse, num_parallel_calls=args.threads).prefetch(2)
            options = tf.data.Options()
            options.threading.private_threadpool_size = args.threads
            iterator = v1.data.make_initializable_iterator(data.with_options(options))
            images, labels = iterator.get_next()
            with v1.Session(config=config) as session:
                def read():
                    session.run(iterator.initializer)
                    call = session.make_callable([images.op, labels.op])
                    try:
                        while True:
                            call()
                    except tf.errors.OutOfRangeError:
                        pass
                return 100_000 / median_ms(read, steps=5, warm=1) * 1e3, "examples/s"

    return {"lstm_loop": lstm_loop, "queue_1000_clients": queue_1000_clients, "input_tfrecord": input_tfrecord}


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
