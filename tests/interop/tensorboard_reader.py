#!/usr/bin/env python3
"""Reads the events that train_summary_test wrote with TensorBoard's own readers.

  tensorboard_reader.py FOLDER

Exit status: 0 when TensorBoard sees what was written, 1 when not.
"""

import glob
import io
import os
import shutil
import sys
import tempfile

import numpy as np
from PIL import Image
from tensorboard import context
from tensorboard.backend.event_processing import data_provider
from tensorboard.backend.event_processing import event_accumulator
from tensorboard.backend.event_processing import plugin_event_multiplexer
from tensorboard.data import provider
from tensorboard.plugins.hparams import metadata as hparams

# TensorBoard keeps samples unless it is told to keep all: 0.
KEEP_ALL = dict.fromkeys(
    ["scalars", "tensors", "histograms", "images", "compressedHistograms", "audio", "graph"], 0
)


def check(what, actual, expected):
    assert actual == expected, f"{what}: {actual!r}, expected {expected!r}"
    print(f"  {what}: {actual!r}")


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png))).tolist()


def check_accumulator(folder):
    """The reader that scripts use."""
    events = event_accumulator.EventAccumulator(folder, KEEP_ALL).Reload()
    losses = events.Scalars("loss")
    check("losses", len(losses), 100)
    check("steps in order", [e.step for e in losses] == list(range(1, 101)), True)
    check("loss 4", losses[3].value, 0.25)
    check("loss of the op", events.Scalars("op/loss")[0].value, 0.125)
    (histogram,) = events.Histograms("w")
    value = histogram.histogram_value
    check("histogram", (value.num, value.min, value.max, value.sum), (4.0, -1.5, 7.0, 5.75))
    check("histogram of the op", events.Histograms("op/w")[0].histogram_value.num, 1.0)
    (image,) = events.Images("op/x/image")
    # Not a number is red in one channel: 255. The largest, 2, is 255; 1 is half of it.
    check("image of the op", pixels(image.encoded_image_string), [[0, 127], [255, 255]])
    check("graph", sorted({n.op for n in events.Graph().node})[:2], ["Const", "HistogramSummary"])
    stats = events.RunMetadata("step8").step_stats
    check("traced nodes", len(stats.dev_stats[0].node_stats) > 0, True)


def check_provider(folder):
    """The way TensorBoard's pages get their data."""
    multiplexer = plugin_event_multiplexer.EventMultiplexer()
    multiplexer.AddRun(folder, "run")
    multiplexer.Reload()
    data = data_provider.MultiplexerDataProvider(multiplexer, folder)
    ctx = context.RequestContext()
    args = dict(experiment_id="x")
    scalars = data.list_scalars(ctx, plugin_name="scalars", **args)["run"]
    check("scalars", sorted(scalars), ["loss", "op/loss"])
    histograms = data.list_tensors(ctx, plugin_name="histograms", **args)["run"]
    check("histograms", sorted(histograms), ["op/w", "w"])
    text = data.read_tensors(ctx, plugin_name="text", downsample=9, **args)["run"]["note"][0]
    check("text", text.numpy.item(), b"**bold**")
    images = data.read_blob_sequences(
        ctx, plugin_name="images", downsample=9,
        run_tag_filter=provider.RunTagFilter(runs=["run"], tags=["digits"]), **args
    )["run"]["digits"][0].values
    blobs = [data.read_blob(ctx, blob_key=blob.blob_key) for blob in images]
    check("image size", blobs[:2], [b"2", b"1"])
    check("images", [pixels(png) for png in blobs[2:]], [[[0, 255]], [[128, 0]]])
    start = multiplexer.SummaryMetadata("run", hparams.SESSION_START_INFO_TAG).plugin_data.content
    settings = hparams.parse_session_start_info_plugin_data(start).hparams
    check("rate", settings["rate"].number_value, 0.1)
    check("act", settings["act"].string_value, "relu")
    check("nesterov", settings["nesterov"].bool_value, True)
    end = multiplexer.SummaryMetadata("run", hparams.SESSION_END_INFO_TAG).plugin_data.content
    check("status", hparams.parse_session_end_info_plugin_data(end).status, 1)
    experiment = multiplexer.SummaryMetadata("run", hparams.EXPERIMENT_TAG).plugin_data.content
    metrics = hparams.parse_experiment_plugin_data(experiment).metric_infos
    check("metrics", [m.name.tag for m in metrics], ["loss"])


def check_cut(path):
    """A file whose writer died is read up to the cut."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, os.path.basename(path))
        shutil.copy(path, copy)
        os.truncate(copy, 1000)
        events = event_accumulator.EventAccumulator(folder, KEEP_ALL).Reload()
        num_losses = len(events.Scalars("loss"))
        check("losses before the cut", 10 < num_losses < 100, True)


def main():
    folder = sys.argv[1]
    (path,) = glob.glob(folder + "/events.out.tfevents.*")
    check_accumulator(folder)
    check_provider(folder)
    check_cut(path)
    print("TensorBoard sees what was written")


if __name__ == "__main__":
    main()
