#include "penstock/train/save/saver.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <set>

#include "penstock/io/bundle.h"
#include "penstock/io/checkpoint_state.h"
#include "penstock/io/file_tree.h"

namespace penstock {
namespace {

int64_t SystemNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

struct Saver::Job {
  std::string base;    // "run/model.ckpt"
  std::string prefix;  // "run/model.ckpt-120"
  std::optional<double> metric;
  std::vector<std::pair<std::string, Tensor>> tensors;
};

Saver::Saver(Graph& graph, SaverOptions options)
    : options_(std::move(options)),
      made_ns_(SystemNanoseconds()),
      values_(options_.variables.empty() ? VariableValues(graph)
                                         : VariableValues(graph, options_.variables)) {}

Saver::~Saver() = default;

Saver::Job Saver::MakeJob(Session& session, const std::string& prefix, const SaveRequest& request) {
  if (SplitPrefix(prefix).name.empty())
    throw Error(
        InvalidArgument("'{}' names a folder; a checkpoint needs a name in it", Printable(prefix)));
  if (request.step.value_or(0) < 0)
    throw Error(
        InvalidArgument("the number of a step must not be negative, got {}", *request.step));
  Job job{prefix, request.step ? StepPrefix(prefix, *request.step) : prefix, request.metric, {}};
  std::vector<Tensor> values = values_.Read(session);
  std::set<std::string> names;
  for (size_t i = 0; i < values.size(); ++i) {
    names.insert(variables()[i].name);
    job.tensors.emplace_back(variables()[i].name, std::move(values[i]));
  }
  for (const auto& [name, tensor] : request.extra) {
    if (!names.insert(name).second)
      throw Error(InvalidArgument("'{}' is to be saved twice", Printable(name)));
    job.tensors.emplace_back(name, tensor);
  }
  return job;
}

Status Saver::Run(Job job) const {
  const PrefixParts parts = SplitPrefix(job.prefix);
  const std::string base = SplitPrefix(job.base).name;
  RemoveOrphans(parts.folder, base, options_.state_file, made_ns_);
  TRY_ASSIGN(io::BundleWriter writer, io::BundleWriter::Open(job.prefix, options_.max_shard_bytes));
  for (auto& [name, tensor] : job.tensors) {
    TRY(writer.Add(name, tensor));
    tensor = Tensor();  // a variable that changes meanwhile need not leave its memory behind
  }
  TRY(writer.Finish());

  // The state names no checkpoint that is gone: it is written before any is removed.
  io::CheckpointState state = StateOf(parts.folder, options_.state_file);
  const double now =
      options_.now ? options_.now() : static_cast<double>(SystemNanoseconds()) * 1e-9;
  const std::vector<std::string> removed =
      Retain(options_.retention, base, {parts.name, now, job.metric}, &state);
  const std::filesystem::path folder(parts.folder);
  TRY(io::WriteCheckpointState(folder / options_.state_file, state));
  for (const std::string& prefix : removed) RemoveCheckpoint(folder / prefix);
  return OkStatus();
}

std::string Saver::Save(Session& session, const std::string& prefix, const SaveRequest& request) {
  Wait();
  Job job = MakeJob(session, prefix, request);
  const std::string saved = job.prefix;
  OrThrow(Run(std::move(job)).Annotate(Format("saving {}", Printable(saved))));
  return saved;
}

std::string Saver::SaveAsync(Session& session, const std::string& prefix,
                             const SaveRequest& request, WhenBusy when_busy) {
  if (is_saving() && when_busy == WhenBusy::kRefuse)
    throw Error(Unavailable("{} has not ended yet", background_.name()));
  Wait();
  auto job = std::make_shared<Job>(MakeJob(session, prefix, request));
  const std::string saved = job->prefix;
  OrThrow(background_.Start(Format("saving {}", Printable(saved)),
                            [this, job] { return Run(std::move(*job)); }));
  return saved;
}

void Saver::Wait() { OrThrow(background_.Wait()); }

Tensor ReadSaved(const std::string& prefix, const std::string& name) {
  if (!io::BundleExists(prefix)) throw Error(NoCheckpoint(prefix));
  const io::BundleReader reader = OrThrow(io::BundleReader::Open(prefix));
  return OrThrow(reader.Read(name));
}

}  // namespace penstock
