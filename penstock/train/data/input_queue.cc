#include "penstock/train/data/input_queue.h"

#include <algorithm>

#include "penstock/client/build_scope.h"
#include "penstock/client/variable.h"

namespace penstock::data {
namespace {

using DTypes = std::vector<DType>;
using Shapes = std::vector<Shape>;

// Adds a node that is run for its effect.
NodeId Do(const Scope& scope, std::string_view op, const std::vector<Expr>& inputs,
          std::string_view name, AttrMap attrs = {}) {
  NodeSpec spec{.op = std::string(op), .name = std::string(name), .attrs = std::move(attrs)};
  for (const Expr& input : inputs) spec.inputs.push_back(input.ref());
  OrThrow(scope.status());
  return OrThrow(scope.AddNode(std::move(spec)));
}

Expr Strings(const Scope& scope, const std::vector<std::string>& values, std::string_view name) {
  return scope.Constant(Array<std::string>(values).tensor(), name);
}

// Closes `queue` when its input has ended, and keeps its runner in the graph.
void AddRunner(const Scope& scope, Expr queue, NodeId enqueue, int threads) {
  Graph& graph = scope.graph();
  const NodeId close = Do(scope, "QueueCloseV2", {queue}, "close");
  const NodeId cancel =
      Do(scope, "QueueCloseV2", {queue}, "cancel", {{"cancel_pending_enqueues", true}});
  QueueRunner runner;
  runner.queue = graph.node(queue.ref().node).name;
  runner.enqueue_ops.assign(static_cast<size_t>(threads), graph.node(enqueue).name);
  runner.close_op = graph.node(close).name;
  runner.cancel_op = graph.node(cancel).name;
  AddQueueRunner(graph, runner);
}

// Fails with OutOfRange when it was run `epochs` times.
NodeId CountEpochs(const Scope& scope, int64_t epochs) {
  Graph& graph = scope.graph();
  const Expr zero = scope.Constant(Tensor::Scalar<int64_t>(0), "zero");
  OrThrow(scope.status());
  const std::string name = graph.node(zero.ref().node).name + "/epochs";
  const NodeId handle =
      client_internal::AddVariable(graph, DType::kInt64, zero.ref(), name, false, {});
  // No part of the model: checkpoints leave it out.
  std::vector<NodeId>& variables = graph.collections["variables"];
  variables.erase(std::remove(variables.begin(), variables.end(), handle), variables.end());
  graph.collections["local_variables"].push_back(handle);
  return Do(scope, "ResourceCountUpTo", {Expr(&scope, {handle, 0})}, "count_epochs",
            {{"limit", epochs}, {"T", DType::kInt64}});
}

// A queue of the names of the files, filled once an epoch.
Expr FileQueue(const Scope& scope, const std::vector<std::string>& files,
               const InputQueueOptions& options) {
  const Scope counted =
      options.epochs == 0 ? scope : scope.After({CountEpochs(scope, options.epochs)});
  Expr names = counted.Add("Identity", {Strings(scope, files, "files")}, {}, "epoch");
  if (options.shuffle)
    names = counted.Add("RandomShuffle", {names}, {{"seed", options.seed}, {"seed2", int64_t{0}}});
  const Expr queue = scope.Add("FIFOQueueV2", {},
                               {{"component_types", DTypes{DType::kString}},
                                {"shapes", Shapes{Shape()}},
                                {"capacity", int64_t{32}}},
                               "file_queue");
  AddRunner(scope, queue, Do(scope, "QueueEnqueueManyV2", {queue, names}, "enqueue_files"), 1);
  return queue;
}

// Fails the step when a value lies outside [0, limit).
Expr Limited(const Scope& scope, Expr values, int64_t limit) {
  if (limit == 0) return values;
  const Expr zero = scope.Like(values, 0), end = scope.Like(values, static_cast<double>(limit));
  const Expr fits = Op("LogicalAnd", Op("GreaterEqual", values, zero), Op("Less", values, end));
  const Expr axes =
      scope.Add("Range", {scope.Constant(Tensor::Scalar<int32_t>(0)), Op("Rank", fits),
                          scope.Constant(Tensor::Scalar<int32_t>(1))});
  const NodeId check = Do(scope, "Assert", {scope.Add("All", {fits, axes}), values}, "in_range");
  // What is made through a scope points to it: not to one that goes away here.
  return Expr(&scope, scope.After({check}).Add("Identity", {values}).ref());
}

// What a feature is in an Example, and as a tensor of the batch.
DType ListType(DType dtype) {
  if (dtype == DType::kInt32) return DType::kInt64;
  return dtype == DType::kUint8 ? DType::kString : dtype;
}

Expr AsFeature(const Scope& scope, Expr parsed, const FeatureSpec& spec) {
  if (spec.dtype == DType::kUint8) {
    std::vector<int32_t> shape = {-1};
    for (const int64_t extent : spec.shape.dims()) shape.push_back(static_cast<int32_t>(extent));
    parsed = scope.Add("DecodeRaw", {parsed}, {{"out_type", DType::kUint8}});
    parsed = scope.Add("Reshape", {parsed, scope.Constant(Array<int32_t>(shape).tensor())});
  }
  if (spec.dtype != DType::kString && spec.dtype != DType::kFloat)
    parsed = Limited(scope, parsed, spec.limit);
  if (spec.dtype == DType::kInt32) parsed = Op("Cast", parsed, {{"DstT", DType::kInt32}});
  return parsed;
}

std::vector<Expr> ParseFeatures(const Scope& scope, Expr serialized,
                                const std::vector<FeatureSpec>& features) {
  std::vector<std::string> keys;
  DTypes types;
  Shapes shapes;
  std::vector<Expr> defaults;
  for (const FeatureSpec& spec : features) {
    keys.push_back(spec.name);
    types.push_back(ListType(spec.dtype));
    shapes.push_back(spec.dtype == DType::kUint8 ? Shape() : spec.shape);
    const bool plain = types.back() == spec.dtype && spec.otherwise.num_elements() > 0;
    defaults.push_back(scope.Constant(plain ? spec.otherwise.Reshaped(spec.shape)
                                            : Tensor(types.back(), Shape{0})));
  }
  const Expr none = Strings(scope, {}, "none");
  std::vector<Expr> inputs = {serialized, none, none, Strings(scope, keys, "keys"), none};
  inputs.insert(inputs.end(), defaults.begin(), defaults.end());
  const Expr parsed = scope.Add("ParseExampleV2", inputs,
                                {{"num_sparse", int64_t{0}},
                                 {"sparse_types", DTypes()},
                                 {"Tdense", types},
                                 {"dense_shapes", shapes},
                                 {"ragged_value_types", DTypes()},
                                 {"ragged_split_types", DTypes()}});
  std::vector<Expr> values;
  for (size_t i = 0; i < features.size(); ++i)
    values.push_back(AsFeature(scope, parsed.Output(static_cast<int>(i)), features[i]));
  return values;
}

Expr ExampleQueue(const Scope& scope, const InputQueueOptions& options, const DTypes& types,
                  const Shapes& shapes) {
  AttrMap attrs = {{"component_types", types}, {"shapes", shapes}, {"capacity", options.capacity}};
  if (!options.shuffle) return scope.Add("FIFOQueueV2", {}, std::move(attrs), "example_queue");
  attrs.push_back({"min_after_dequeue", options.min_after_dequeue});
  attrs.push_back({"seed", options.seed});
  return scope.Add("RandomShuffleQueueV2", {}, std::move(attrs), "example_queue");
}

void Check(const std::vector<std::string>& files, const InputQueueOptions& options,
           const std::vector<FeatureSpec>& features, CallSite site) {
  if (files.empty() || features.empty())
    throw Error(InvalidArgument("InputQueue: expected files and features, got {} and {}",
                                files.size(), features.size()),
                site);
  for (const FeatureSpec& spec : features) {
    if (!spec.shape.IsFullyKnown())
      throw Error(InvalidArgument("InputQueue: feature {} must have a shape that is known, got {}",
                                  Printable(spec.name), spec.shape),
                  site);
    if (ListType(spec.dtype) != spec.dtype && spec.otherwise.num_elements() > 0)
      throw Error(InvalidArgument("InputQueue: feature {} of {} can have no other values",
                                  Printable(spec.name), spec.dtype),
                  site);
  }
  if (options.batch < 1 || options.epochs < 0 || options.threads < 1 || options.read_block < 1 ||
      options.capacity < options.batch ||
      (options.shuffle && options.capacity < options.min_after_dequeue + options.batch))
    throw Error(InvalidArgument("InputQueue: batch {}, epochs {}, threads {}, read_block {}, "
                                "capacity {} or min_after_dequeue {} makes no sense",
                                options.batch, options.epochs, options.threads, options.read_block,
                                options.capacity, options.min_after_dequeue),
                site);
}

}  // namespace

std::vector<OutputRef> AddInputQueue(Graph& graph, const std::vector<std::string>& files,
                                     const InputQueueOptions& options,
                                     const std::vector<FeatureSpec>& features, CallSite site) {
  Check(files, options, features, site);
  const Scope scope = BuildScope::Current(graph, site).Sub("input_queue");
  const Expr file_queue = FileQueue(scope, files, options);
  constexpr const char* kCompressions[] = {"", "GZIP", "ZLIB"};
  const std::string compression = kCompressions[static_cast<int>(options.compression)];
  const Expr reader =
      scope.Add("TFRecordReaderV2", {}, {{"compression_type", compression}}, "reader");
  const Expr read = scope.Add(
      "ReaderReadUpToV2", {reader, file_queue, scope.Constant(Tensor::Scalar(options.read_block))},
      {}, "read");
  OrThrow(scope.status(), site);
  std::vector<Expr> values = ParseFeatures(scope, read.Output(1), features);
  OrThrow(scope.status(), site);
  DTypes types;
  Shapes shapes;
  for (const FeatureSpec& spec : features) {
    types.push_back(spec.dtype);
    shapes.push_back(spec.shape);
  }
  const Expr queue = ExampleQueue(scope, options, types, shapes);
  values.insert(values.begin(), queue);
  AddRunner(scope, queue, Do(scope, "QueueEnqueueManyV2", values, "enqueue"), options.threads);
  const Expr batch =
      scope.Add(options.drop_remainder ? "QueueDequeueManyV2" : "QueueDequeueUpToV2",
                {queue, scope.Constant(Tensor::Scalar(static_cast<int32_t>(options.batch)))},
                {{"component_types", types}}, "batch");
  OrThrow(scope.status(), site);
  std::vector<OutputRef> outputs;
  for (size_t i = 0; i < features.size(); ++i)
    outputs.push_back(batch.Output(static_cast<int>(i)).ref());
  return outputs;
}

}  // namespace penstock::data
