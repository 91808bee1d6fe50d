// The half of Saver that restores.

#include <algorithm>

#include "penstock/core/log.h"
#include "penstock/io/bundle.h"
#include "penstock/io/object_names.h"
#include "penstock/train/save/name_rules.h"
#include "penstock/train/save/saver.h"

namespace penstock {
namespace {

// Up to so many bytes are read before the first is assigned: damage then changes nothing. A
// variable larger than that is read into its own memory.
constexpr uint64_t kMaxHeldBytes = 32 << 20;

io::BundleReader OpenCheckpoint(const std::string& prefix) {
  if (!io::BundleExists(prefix)) throw Error(NoCheckpoint(prefix));
  return OrThrow(io::BundleReader::Open(prefix));
}

RestoreReport CompareWith(const io::BundleReader& reader, const std::string& prefix,
                          const std::vector<Parameter>& variables, const RestoreRequest& request) {
  RestoreReport report;
  report.checkpoint = prefix;
  const std::map<std::string, std::string> objects = OrThrow(io::ObjectNames(reader));
  const auto find = [&](const std::string& name) -> std::optional<std::pair<DType, Shape>> {
    const Result<const io::BundleEntry*> entry = reader.Find(name);
    if (!entry.ok()) return std::nullopt;
    return std::pair((*entry)->dtype, (*entry)->shape);
  };
  std::vector<std::string> used;
  for (const Parameter& variable : variables) {
    std::string name = SavedName(variable.name, request.names);
    if (const auto key = objects.find(name); key != objects.end() && !reader.Find(name).ok())
      name = key->second;
    used.push_back(name);
    report.rows.push_back(CompareVariable(variable, std::move(name), find));
  }
  std::ranges::sort(used);
  std::ranges::set_difference(reader.Names(), used, std::back_inserter(report.unused));
  return report;
}

// The variables to be restored, in the order that their values have in the files.
std::vector<size_t> FileOrder(const RestoreReport& report, const io::BundleReader& reader) {
  std::vector<size_t> order;
  for (size_t i = 0; i < report.rows.size(); ++i) {
    if (report.rows[i].match == Match::kRestored) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](size_t i) {
    const io::BundleEntry& entry = **reader.Find(report.rows[i].saved_as);
    return std::tuple(entry.shard, entry.offset, i);
  });
  return order;
}

// Of a large variable: its own memory where that can be had, so that no second is needed.
Tensor ReadLarge(const io::BundleReader& reader, const RestoreRow& row, Tensor own) {
  if (!own.initialized() || own.shape() != row.saved_shape)
    return OrThrow(reader.Read(row.saved_as));
  OrThrow(reader.ReadInto(row.saved_as, &own));
  return own;
}

}  // namespace

RestoreReport Saver::Compare(const std::string& prefix, const RestoreRequest& request) const {
  return CompareWith(OpenCheckpoint(prefix), prefix, variables(), request);
}

RestoreReport Saver::Restore(Session& session, const std::string& prefix,
                             const RestoreRequest& request) {
  const io::BundleReader reader = OpenCheckpoint(prefix);
  RestoreReport report = CompareWith(reader, prefix, variables(), request);
  if (!request.partial) CheckComplete(report);
  const std::vector<size_t> order = FileOrder(report, reader);
  for (const size_t i : order) OrThrow(reader.CheckPlace(report.rows[i].saved_as));

  std::vector<VariableValues::Assignment> held;
  uint64_t held_bytes = 0;
  const auto assign_held = [&] {
    values_.Assign(session, held);
    held.clear();
    held_bytes = 0;
  };
  for (const size_t i : order) {
    const RestoreRow& row = report.rows[i];
    const uint64_t bytes =
        static_cast<uint64_t>(row.saved_shape.num_elements()) * SizeOf(row.saved_dtype);
    if (held_bytes + bytes > kMaxHeldBytes) assign_held();
    // One that could be held with others is, so that a small checkpoint is restored whole or not.
    const bool is_large = bytes > kMaxHeldBytes && IsPlain(row.dtype);
    held.emplace_back(i, is_large ? ReadLarge(reader, row, values_.Take(session, i))
                                  : OrThrow(reader.Read(row.saved_as)));
    held_bytes += bytes;
    if (is_large) assign_held();
  }
  assign_held();
  return report;
}

RestoreReport Saver::RestoreLatest(Session& session, const std::string& folder,
                                   const RestoreRequest& request) {
  std::optional<Error> first;
  for (const std::string& prefix : CheckpointsIn(folder, options_.state_file)) {
    try {
      return Restore(session, prefix, request);
    } catch (const Error& error) {
      // NotFound: one of its files is missing, or an older one had fewer variables.
      if (error.code() != Code::kDataLoss && error.code() != Code::kNotFound) throw;
      Log(LogLevel::kWarning,
          Format("checkpoint {} cannot be used: {}", Printable(prefix), error.status().message()));
      if (!first.has_value()) first = error;
    }
  }
  if (first.has_value()) throw *first;
  throw Error(NotFound("{}: there is no checkpoint", Printable(folder)));
}

}  // namespace penstock
