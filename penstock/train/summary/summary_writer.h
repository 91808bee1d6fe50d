#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/tensor.h"
#include "penstock/graph/graph.h"
#include "penstock/train/summary/hyper_parameters.h"

namespace penstock {

struct RunMetadata;

// What is to happen when events cannot be written: the disk is full, the folder is gone.
enum class OnWriteError {
  kGoOn,   // say so in the log, lose them, and try a new file with those that follow
  kThrow,  // the next call throws
};

struct SummaryWriterOptions {
  // How long an event may wait in memory before it is in the file.
  std::chrono::milliseconds flush_every = std::chrono::seconds(10);
  OnWriteError on_error = OnWriteError::kGoOn;
  std::string suffix = {};  // of the file's name
};

// Writes what TensorBoard shows into an event file of its own in `folder`.
//
//   SummaryWriter writer("logs/run1");
//   writer.AddScalar("loss", loss, step);
//   $ tensorboard --logdir logs
//
// Events go to the file on a thread of their own, in whole records: a step does not wait for the
// disk, and the file of a process that died can be read up to where it ends.
// Threads: all methods may be called concurrently.
class SummaryWriter {
 public:
  // Throws when the folder cannot be made or written.
  explicit SummaryWriter(std::string folder, const SummaryWriterOptions& options = {});
  // Writes what is left.
  ~SummaryWriter();
  SummaryWriter(const SummaryWriter&) = delete;
  SummaryWriter& operator=(const SummaryWriter&) = delete;

  void AddScalar(std::string_view tag, double value, int64_t step);
  // How often which values occur, in TensorFlow's buckets. Any real type; values that are not
  // finite are left out, and the log says how many.
  void AddHistogram(std::string_view tag, const Tensor& values, int64_t step);
  // The first images of a batch [B, height, width, channels], or one [height, width, channels], of
  // 1, 3 or 4 channels: bytes, or floats of 0 ... 1.
  void AddImages(std::string_view tag, const Tensor& images, int64_t step, int max_images = 3);
  // Markdown.
  void AddText(std::string_view tag, std::string_view text, int64_t step);
  void AddGraph(const Graph& graph);
  // The trace of a step, shown with the graph. REQUIRES: the step was run with RunOptions::trace.
  void AddRunMetadata(std::string_view tag, const RunMetadata& metadata, int64_t step);
  // The settings of this run, and the tags of the scalars by which runs are compared.
  void AddHyperParameters(const HyperParameters& parameters,
                          const std::vector<std::string>& metrics = {});
  // How the run with these hyper-parameters ended.
  void AddRunEnd(bool succeeded);
  // What a summary op of the graph gave: the bytes of a Summary.
  void AddSummary(std::string_view summary, int64_t step);

  // Waits until all events so far are in the file (or lost, as OnWriteError says).
  void Flush();
  // Of the file that is being written.
  std::string path() const;
  int64_t num_lost_events() const;

 private:
  class Queue;
  void Add(uint32_t kind, std::string content, int64_t step);

  const std::unique_ptr<Queue> queue_;
};

}  // namespace penstock
