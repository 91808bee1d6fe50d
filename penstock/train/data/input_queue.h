#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "penstock/client/queue_runner.h"
#include "penstock/train/data/tf_examples.h"

// Input by the graph itself: nodes that read files, parse Examples and fill queues, as steps of
// their own beside the training steps.

namespace penstock {

struct InputQueueOptions {
  int64_t batch = 32;
  bool drop_remainder = false;
  int64_t epochs = 1;  // 0: without end
  // Mixes the order of the files and, among `min_after_dequeue` waiting ones, of the elements.
  bool shuffle = false;
  int64_t seed = 1;
  int64_t capacity = 2048;
  int64_t min_after_dequeue = 1024;
  int threads = 2;          // that read and parse
  int64_t read_block = 64;  // records that a thread reads at a time
  RecordCompression compression = RecordCompression::kNone;
};

namespace data {
std::vector<OutputRef> AddInputQueue(Graph& graph, const std::vector<std::string>& files,
                                     const InputQueueOptions& options,
                                     const std::vector<FeatureSpec>& features, CallSite site);

template <class... Ts, size_t... I>
std::tuple<Output<Ts>...> TypedOutputs(Graph& graph, const std::vector<OutputRef>& refs,
                                       std::index_sequence<I...>) {
  return {Output<Ts>(graph, refs[I])...};
}
}  // namespace data

// Batches of the Examples in TFRecord files, as outputs that a model is built on. Its queue runners
// are kept in the graph; the end of the data is OutOfRange from the step that asks for more.
//
//   auto [image, label] = InputQueue(g, files, {.batch = 64, .shuffle = true},
//                                    Feature<float>{.name = "image", .shape = {784}},
//                                    Feature<int32_t>{.name = "label", .limit = 10});
//   session.Run(InitVariables(g));  // also counts the epochs from 0
//   Coordinator coordinator;
//   StartQueueRunners(g, session, coordinator);
//   while (...) session.Run(step);
//   coordinator.RequestStop();
//   coordinator.Join();
//
// Each example of each epoch comes once. With several threads the order may differ between runs:
// Dataset is for what must be repeated. Throws Error.
template <class... Ts>
std::tuple<Output<Ts>...> InputQueue(Graph& graph, const std::vector<std::string>& files,
                                     const InputQueueOptions& options,
                                     const Feature<Ts>&... features) {
  return data::TypedOutputs<Ts...>(
      graph, data::AddInputQueue(graph, files, options, {data::SpecOf(features)...}, {}),
      std::index_sequence_for<Ts...>());
}

}  // namespace penstock
