#include "penstock/train/save/retention.h"

#include <algorithm>
#include <set>

#include "penstock/io/checkpoint_state.h"
#include "penstock/train/save/checkpoint_files.h"

namespace penstock {
namespace {

std::set<std::string> Best(const Retention& rules,
                           const std::vector<const io::CheckpointRecord*>& ours) {
  std::vector<const io::CheckpointRecord*> rated;
  std::ranges::copy_if(ours, std::back_inserter(rated), [](const io::CheckpointRecord* record) {
    return record->metric.has_value() && *record->metric == *record->metric;  // no NaN is best
  });
  std::ranges::stable_sort(rated, [&](const auto* a, const auto* b) {
    return rules.higher_is_better ? *a->metric > *b->metric : *a->metric < *b->metric;
  });
  std::set<std::string> best;
  for (const io::CheckpointRecord* record : rated) {
    if (static_cast<int>(best.size()) < rules.keep_best) best.insert(record->prefix);
  }
  return best;
}

}  // namespace

std::vector<std::string> Retain(const Retention& rules, const std::string& base,
                                const io::CheckpointRecord& saved, io::CheckpointState* state) {
  std::erase_if(state->all,
                [&](const io::CheckpointRecord& record) { return record.prefix == saved.prefix; });
  state->all.push_back(saved);
  state->latest = saved.prefix;
  if (rules.max_to_keep <= 0) return {};

  std::vector<const io::CheckpointRecord*> ours;
  for (const io::CheckpointRecord& record : state->all) {
    if (IsNamedAfter(SplitPrefix(record.prefix).name, base)) ours.push_back(&record);
  }
  const std::set<std::string> best = Best(rules, ours);
  std::set<std::string> out;
  std::vector<std::string> removed;
  const size_t num_recent = std::min(ours.size(), static_cast<size_t>(rules.max_to_keep));
  for (size_t i = 0; i < ours.size() - num_recent; ++i) {
    const io::CheckpointRecord& record = *ours[i];
    if (best.contains(record.prefix)) continue;
    out.insert(record.prefix);
    const bool stays =
        rules.keep_every_hours > 0 &&
        record.seconds - state->last_preserved_seconds >= rules.keep_every_hours * 3600;
    if (stays) {
      state->last_preserved_seconds = record.seconds;
    } else {
      removed.push_back(record.prefix);
    }
  }
  std::erase_if(state->all,
                [&](const io::CheckpointRecord& record) { return out.contains(record.prefix); });
  return removed;
}

}  // namespace penstock
