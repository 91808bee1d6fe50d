#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "penstock/client/output.h"
#include "penstock/train/loop/hook.h"
#include "penstock/train/summary/summary_writer.h"

namespace penstock {

// Writes the metrics of a run as scalars, and what summary ops of the graph give.
struct Summaries {
  SummaryWriter* writer = nullptr;  // must outlive the trainer
  int64_t every_steps = 10;
  Output<std::string> summary = {};  // fetched where given, such as MergeAllSummaries(graph)
  bool graph = true;                 // also the graph itself, once
};
std::unique_ptr<Hook> MakeHook(const Summaries& settings);

// Traces a step now and then, and writes where its time went: "profile_100.json" for
// chrome://tracing and Perfetto.
struct Profile {
  std::string folder = ".";  // made when there is none
  int64_t every_steps = 100;
  int64_t first_step = 1;           // with steps first_step, first_step + every_steps, ...
  int64_t max_profiles = 10;        // 0: no limit
  SummaryWriter* writer = nullptr;  // also there, where given: TensorBoard shows it in the graph
};
std::unique_ptr<Hook> MakeHook(const Profile& settings);

}  // namespace penstock
