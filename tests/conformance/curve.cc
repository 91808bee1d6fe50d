#include "tests/conformance/curve.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>
#include <regex>
#include <vector>

#include "penstock/client/saved_model.h"
#include "penstock/client/session.h"
#include "penstock/graph/meta_graph.h"
#include "tests/conformance/curve_data.h"

namespace penstock::conformance {
namespace {

namespace fs = std::filesystem;
using JsonObject = google::protobuf::Struct;

// What curve.json says.
struct Curve {
  std::string graph, checkpoint, loss, train_op, data, feeds;
  std::vector<double> losses;
  double stepwise_rtol = 0;
  size_t stepwise_steps = 0;
  double mean_rtol = 0;
  // What is computed at the end, if anything.
  std::string eval_tensor;
  double eval_value = 0;
  double eval_atol = 0;
  int64_t eval_count = 0;
};

Result<std::string> ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return NotFound("{} cannot be read", path.string());
  return std::string(std::istreambuf_iterator<char>(in), {});
}

const google::protobuf::Value* Find(const JsonObject& object, const std::string& name) {
  const auto found = object.fields().find(name);
  return found == object.fields().end() ? nullptr : &found->second;
}
std::string StringOf(const JsonObject& object, const std::string& name) {
  const auto* value = Find(object, name);
  return value == nullptr ? "" : value->string_value();
}
double NumberOf(const JsonObject& object, const std::string& name) {
  const auto* value = Find(object, name);
  return value == nullptr ? 0 : value->number_value();
}

void ParseEval(const JsonObject& eval, double atol, Curve* curve) {
  static const std::regex count_words(R"((\d{1,9}) test)");
  const std::string how = StringOf(eval, "how");
  std::smatch count;
  curve->eval_tensor = StringOf(eval, "tensor");
  curve->eval_value = NumberOf(eval, "value");
  curve->eval_atol = atol;
  curve->eval_count = std::regex_search(how, count, count_words) ? std::stoll(count[1]) : 0;
}

Result<Curve> ParseCurve(const std::string& json) {
  JsonObject object;
  if (!google::protobuf::util::JsonStringToMessage(json, &object).ok())
    return DataLoss("curve.json does not parse");
  Curve curve{.graph = StringOf(object, "graph"),
              .checkpoint = StringOf(object, "checkpoint"),
              .loss = StringOf(object, "loss"),
              .train_op = StringOf(object, "train_op"),
              .data = StringOf(object, "data"),
              .feeds = StringOf(object, "feeds"),
              .losses = {},
              .eval_tensor = {}};
  const auto* losses = Find(object, "losses");
  const auto* how = Find(object, "how_to_compare");
  if (losses == nullptr || how == nullptr || losses->list_value().values().empty())
    return DataLoss("curve.json has no losses, or does not say how_to_compare");
  for (const auto& loss : losses->list_value().values())
    curve.losses.push_back(loss.number_value());
  const JsonObject& compare = how->struct_value();
  curve.stepwise_rtol = NumberOf(compare, "stepwise_rtol");
  curve.stepwise_steps =
      std::min(curve.losses.size(),
               static_cast<size_t>(std::max(0.0, NumberOf(compare, "stepwise_up_to_step"))));
  curve.mean_rtol = NumberOf(compare, "mean_last_10_rtol");
  if (const auto* eval = Find(object, "eval"); eval != nullptr && eval->has_struct_value())
    ParseEval(eval->struct_value(), NumberOf(compare, "eval_atol"), &curve);
  return curve;
}

// `path` below the folder or one that contains it.
Result<std::string> FindData(const fs::path& folder, const std::string& path) {
  for (fs::path at = fs::absolute(folder);; at = at.parent_path()) {
    if (fs::exists(at / path)) return (at / path).string();
    if (at == at.parent_path()) break;
  }
  return NotFound("there is no {} in {} or above it", path, folder.string());
}

double ScalarOf(const Tensor& tensor) {
  if (tensor.num_elements() != 1) return std::nan("");
  if (tensor.dtype() == DType::kFloat) return *tensor.data<float>();
  return tensor.dtype() == DType::kDouble ? *tensor.data<double>() : std::nan("");
}

double MeanOfLast10(const std::vector<double>& values) {
  const auto count = static_cast<std::ptrdiff_t>(std::min<size_t>(10, values.size()));
  return std::accumulate(values.end() - count, values.end(), 0.0) / static_cast<double>(count);
}

double RelativeDifference(double want, double got) {
  return std::abs(got - want) / std::max(std::abs(want), 1e-12);
}

class Replay {
 public:
  explicit Replay(fs::path folder) : folder_(std::move(folder)) {}

  Status Run() {
    TRY_ASSIGN(const std::string json, ReadFile(folder_ / "curve.json"));
    TRY_ASSIGN(curve_, ParseCurve(json));
    TRY_ASSIGN(const std::string wire, ReadFile(folder_ / curve_.graph));
    TRY_ASSIGN(const MetaGraph meta, ParseMetaGraphDef(wire, StandardOps()));
    TRY_ASSIGN(const std::string path, FindData(folder_, curve_.data));
    TRY_ASSIGN(const auto data, ReadCurveData(curve_.feeds, path, meta.graph));
    try {
      Session session(meta.graph);
      if (meta.graph.FindNode("init") != kNoNode)  // for what the checkpoint does not hold
        session.Run({}, {}, {"init"});
      RestoreCheckpoint(meta, session, folder_ / curve_.checkpoint);
      TRY(Train(session, *data));
      return Evaluate(session, *data);
    } catch (const Error& error) {
      return error.status();
    }
  }

  // Why it does not agree; empty when it does.
  std::string Disagreement() const {
    for (size_t i = 0; i < curve_.stepwise_steps; ++i) {
      // Not "greater": a NaN is no agreement either.
      if (!(RelativeDifference(curve_.losses[i], losses_[i]) <= curve_.stepwise_rtol))
        return Format("step {}: expected loss {}, got {}", i, curve_.losses[i], losses_[i]);
    }
    const double want = MeanOfLast10(curve_.losses), got = MeanOfLast10(losses_);
    if (!(RelativeDifference(want, got) <= curve_.mean_rtol))
      return Format("mean of the last 10 losses: expected {}, got {}", want, got);
    if (eval_ && !(std::abs(*eval_ - curve_.eval_value) <= curve_.eval_atol))
      return Format("{}: expected {}, got {}", curve_.eval_tensor, curve_.eval_value, *eval_);
    return "";
  }

  std::string Figures() const {
    double largest = 0;
    for (size_t i = 0; i < curve_.stepwise_steps; ++i)
      largest = std::max(largest, RelativeDifference(curve_.losses[i], losses_[i]));
    const double want = MeanOfLast10(curve_.losses), got = MeanOfLast10(losses_);
    std::string text = Format(
        "{} steps; the first {} differ by at most {} (allowed {}); mean of the last 10: {} for {}, "
        "{} off (allowed {})",
        losses_.size(), curve_.stepwise_steps, largest, curve_.stepwise_rtol, got, want,
        RelativeDifference(want, got), curve_.mean_rtol);
    if (eval_) {
      text += Format("; {}: {} for {} (allowed +-{})", curve_.eval_tensor, *eval_,
                     curve_.eval_value, curve_.eval_atol);
    }
    return text;
  }

 private:
  Status Train(Session& session, const CurveData& data) {
    for (size_t i = 0; i < curve_.losses.size(); ++i) {
      TRY_ASSIGN(const NamedTensors feeds, data.Step(static_cast<int64_t>(i)));
      losses_.push_back(ScalarOf(session.Run(feeds, {curve_.loss}, {curve_.train_op})[0]));
    }
    return OkStatus();
  }

  Status Evaluate(Session& session, const CurveData& data) {
    if (curve_.eval_tensor.empty()) return OkStatus();
    if (curve_.eval_count == 0)
      return Unimplemented("an evaluation that does not say on how many test examples");
    TRY_ASSIGN(const NamedTensors feeds, data.HeldOut(curve_.eval_count));
    eval_ = ScalarOf(session.Run(feeds, {curve_.eval_tensor})[0]);
    return OkStatus();
  }

  const fs::path folder_;
  Curve curve_;
  std::vector<double> losses_;
  std::optional<double> eval_;
};

}  // namespace

CurveReport ReplayCurve(const std::string& folder) {
  Replay replay{fs::path(folder)};
  const Status status = replay.Run();
  if (!status.ok()) {
    const bool missing = status.code() == Code::kUnimplemented ||
                         status.message().find("is not registered") != std::string::npos;
    return {{missing ? Verdict::kNotImplemented : Verdict::kFailed, status.ToString()}, ""};
  }
  std::string difference = replay.Disagreement();
  const Verdict verdict = difference.empty() ? Verdict::kPassed : Verdict::kFailed;
  return {{verdict, std::move(difference)}, replay.Figures()};
}

}  // namespace penstock::conformance
