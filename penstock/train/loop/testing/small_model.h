#pragma once

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "penstock/io/bundle.h"
#include "penstock/penstock.h"
#include "penstock/train/loop/checkpoints.h"
#include "penstock/train/loop/snapshot.h"
#include "penstock/train/parameters.h"

namespace penstock {

// Fits y = x . w by least squares with momentum and noise: variables, slots, a count of steps and a
// random stream, which is all that a run has to keep.
struct SmallModel {
  Graph g;
  Output<float> x = Placeholder<float>(g, {-1, 3}, "x");
  Output<float> y = Placeholder<float>(g, {-1, 1}, "y");
  Output<float> rate = Placeholder<float>(g, Shape(), "rate");
  Variable<float> w{g, Constant<float>(g, Shape{3, 1}, 0.5f), "w"};
  Variable<float> momentum =
      Variable<float>::NotTrainable(g, Constant<float>(g, Shape{3, 1}, 0.f), "w/Momentum");
  Output<float> weights = w.Read();
  Output<float> error = MatMul(x, weights) - y;
  Output<float> loss = Mean(Square(error + Noise() * 0.01f));
  Operation step = Minimize();
  Operation init = InitVariables(g);

  Output<float> Noise() {
    const Scope scope = BuildScope::Current(g, CallSite::Here());
    const Expr shape = scope.Constant(Tensor::FromValues<int32_t>({2}, {4, 1}));
    const Expr noise =
        scope.Add("RandomStandardNormal", {shape},
                  {{"dtype", DType::kFloat}, {"seed", int64_t{5}}, {"seed2", int64_t{7}}}, "noise");
    OrThrow(scope.status());
    return {g, noise.ref()};
  }

  Operation Minimize() {
    const auto new_momentum = momentum.Read() * 0.9f + GradientOf(loss, weights);
    const auto counted = GlobalStep(g).AssignAdd(Constant<int64_t>(g, 1));
    return Group({momentum.Assign(new_momentum), w.AssignSub(new_momentum * rate), counted});
  }

  // Batch `number` of the epoch, always the same.
  FeedList Batch(int64_t epoch, int64_t number, float learning_rate = 0.05f) const {
    std::vector<float> xs, ys;
    for (int64_t row = 0; row < 4; ++row) {
      float sum = 0;
      for (int64_t i = 0; i < 3; ++i) {
        const float value = std::sin(static_cast<float>(epoch * 97 + number * 31 + row * 7 + i));
        xs.push_back(value);
        sum += value * static_cast<float>(i + 1);
      }
      ys.push_back(sum);
    }
    return {{x, Array<float>({4, 3}, xs)}, {y, Array<float>({4, 1}, ys)}, {rate, learning_rate}};
  }

  // `batches` batches an epoch.
  std::unique_ptr<FeedSource> Source(int64_t batches, float learning_rate = 0.05f) const {
    return FeedsFrom(std::function<NextFeeds(int64_t)>([=, this](int64_t epoch) -> NextFeeds {
      return [=, this, next = int64_t{0}](FeedList& feeds) mutable {
        if (next == batches) return false;
        feeds = Batch(epoch, next++, learning_rate);
        return true;
      };
    }));
  }

  // The bytes of all variables.
  std::string StateBytes(Session& session) {
    Snapshot snapshot(g, AllVariables(g));
    snapshot.Take(session);
    std::string bytes;
    for (const Tensor& value : snapshot.values())
      bytes.append(static_cast<const char*>(value.raw()), value.bytes());
    return bytes;
  }
};

// Keeps the last checkpoint in one bundle.
class BundleSink final : public CheckpointSink {
 public:
  BundleSink(Graph& graph, Session& session, std::string prefix)
      : session_(session), prefix_(std::move(prefix)), values_(graph, AllVariables(graph)) {}

  Status Save(int64_t, const Metrics&, const NamedTensors& extra) override {
    if (fails_) return ResourceExhausted("no space left on device");
    values_.Take(session_);
    TRY_ASSIGN(io::BundleWriter writer, io::BundleWriter::Open(prefix_));
    for (size_t i = 0; i < values_.values().size(); ++i)
      TRY(writer.Add(values_.variables()[i].name, values_.values()[i]));
    for (const auto& [name, value] : extra) TRY(writer.Add(name, value));
    ++num_saves_;
    return writer.Finish();
  }

  Result<std::optional<NamedTensors>> Restore(const std::vector<std::string>& names) override {
    if (!io::BundleExists(prefix_)) return std::optional<NamedTensors>();
    TRY_ASSIGN(const io::BundleReader reader, io::BundleReader::Open(prefix_));
    for (size_t i = 0; i < values_.variables().size(); ++i) {
      TRY_ASSIGN(const Tensor value, reader.Read(values_.variables()[i].name));
      values_.Assign(session_, i, value);
    }
    NamedTensors extra;
    for (const std::string& name : names) {
      if (!reader.Find(name).ok()) continue;
      TRY_ASSIGN(Tensor value, reader.Read(name));
      extra.emplace_back(name, std::move(value));
    }
    return std::optional<NamedTensors>(std::move(extra));
  }

  int num_saves() const { return num_saves_; }
  void set_fails(bool fails) { fails_ = fails; }

 private:
  Session& session_;
  const std::string prefix_;
  Snapshot values_;
  int num_saves_ = 0;
  bool fails_ = false;
};

// One with its variables initialized.
struct StartedModel {
  SmallModel model;
  Session session{model.g};
  StartedModel() { session.Run(model.init); }
};

inline std::string NewFolder(const std::string& name) {
  const std::string folder = testing::TempDir() + "train_" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

}  // namespace penstock
