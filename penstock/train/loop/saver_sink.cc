#include "penstock/train/loop/saver_sink.h"

#include <algorithm>

#include "penstock/client/error.h"
#include "penstock/train/save/checkpoint_files.h"

namespace penstock {
namespace {

// The sink's callers take a Status, the saver throws.
template <class F>
Status StatusOf(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.status();
  }
  return OkStatus();
}

}  // namespace

SaverSink::SaverSink(Session& session, Saver& saver, std::string prefix, std::string metric)
    : session_(session), saver_(saver), prefix_(std::move(prefix)), metric_(std::move(metric)) {}

Status SaverSink::Save(int64_t step, const Metrics& metrics, const NamedTensors& extra) {
  SaveRequest request{.step = step, .extra = extra};
  if (const auto it = metrics.find(metric_); it != metrics.end()) request.metric = it->second;
  return StatusOf([&] { saver_.SaveAsync(session_, prefix_, request); });
}

Result<std::optional<NamedTensors>> SaverSink::Restore(const std::vector<std::string>& names) {
  const std::string folder = SplitPrefix(prefix_).folder;
  if (!LatestCheckpoint(folder)) return std::optional<NamedTensors>();
  NamedTensors found;
  TRY(StatusOf([&] {
    const RestoreReport report = saver_.RestoreLatest(session_, folder);
    for (const std::string& name : names) {
      const auto& unused = report.unused;
      if (std::find(unused.begin(), unused.end(), name) != unused.end())
        found.emplace_back(name, ReadSaved(report.checkpoint, name));
    }
  }));
  return std::optional(std::move(found));
}

Status SaverSink::Finish() {
  return StatusOf([&] { saver_.Wait(); });
}

}  // namespace penstock
