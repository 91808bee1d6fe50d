#include "penstock/train/save/tensor_files.h"

#include <algorithm>

#include "penstock/io/npz.h"
#include "penstock/io/safetensors.h"
#include "penstock/train/save/name_rules.h"

namespace penstock {
namespace {

std::vector<io::NamedTensor> Named(const TensorMap& tensors) {
  std::vector<io::NamedTensor> named;
  for (const auto& [name, tensor] : tensors) named.push_back({name, tensor});
  return named;
}

TensorMap ValuesOf(Graph& graph, Session& session) {
  const VariableValues variables(graph);
  std::vector<Tensor> values = variables.Read(session);
  TensorMap tensors;
  for (size_t i = 0; i < values.size(); ++i)
    tensors.emplace(variables.variables()[i].name, std::move(values[i]));
  return tensors;
}

// Compares all variables first; then reads and assigns one after the other.
template <class Reader>
RestoreReport Load(const Reader& reader, const FindSaved& find, Graph& graph, Session& session,
                   const std::string& path, const RestoreRequest& request) {
  VariableValues values(graph);
  RestoreReport report;
  report.checkpoint = path;
  std::vector<std::string> used;
  for (const Parameter& variable : values.variables()) {
    used.push_back(SavedName(variable.name, request.names));
    report.rows.push_back(CompareVariable(variable, used.back(), find));
  }
  std::ranges::sort(used);
  std::ranges::set_difference(reader.Names(), used, std::back_inserter(report.unused));
  if (!request.partial) CheckComplete(report);
  for (size_t i = 0; i < report.rows.size(); ++i) {
    if (report.rows[i].match != Match::kRestored) continue;
    const VariableValues::Assignment value(i, OrThrow(reader.Read(report.rows[i].saved_as)));
    values.Assign(session, {&value, 1});
  }
  return report;
}

template <class Reader>
TensorMap ReadAll(const Reader& reader) {
  TensorMap tensors;
  for (const std::string& name : reader.Names()) tensors.emplace(name, OrThrow(reader.Read(name)));
  return tensors;
}

}  // namespace

void SaveSafetensors(Graph& graph, Session& session, const std::string& path,
                     const std::map<std::string, std::string>& metadata) {
  WriteSafetensors(path, ValuesOf(graph, session), metadata);
}

void SaveNpz(Graph& graph, Session& session, const std::string& path) {
  WriteNpz(path, ValuesOf(graph, session));
}

RestoreReport LoadSafetensors(Graph& graph, Session& session, const std::string& path,
                              const RestoreRequest& request) {
  const io::SafetensorsReader reader = OrThrow(io::SafetensorsReader::Open(path));
  const auto find = [&](const std::string& name) -> std::optional<std::pair<DType, Shape>> {
    const auto found = reader.header().entries.find(name);
    if (found == reader.header().entries.end()) return std::nullopt;
    return std::pair(found->second.dtype, found->second.shape);
  };
  return Load(reader, find, graph, session, path, request);
}

RestoreReport LoadNpz(Graph& graph, Session& session, const std::string& path,
                      const RestoreRequest& request) {
  const io::NpzReader reader = OrThrow(io::NpzReader::Open(path));
  const auto find = [&](const std::string& name) -> std::optional<std::pair<DType, Shape>> {
    const Result<io::NpyHeader> header = reader.ReadHeader(name);
    if (!header.ok() && header.status().code() == Code::kNotFound) return std::nullopt;
    if (!header.ok()) throw Error(header.status());
    return std::pair(header->dtype, header->shape);
  };
  return Load(reader, find, graph, session, path, request);
}

TensorMap ReadSafetensors(const std::string& path) {
  return ReadAll(OrThrow(io::SafetensorsReader::Open(path)));
}

TensorMap ReadNpz(const std::string& path) { return ReadAll(OrThrow(io::NpzReader::Open(path))); }

void WriteSafetensors(const std::string& path, const TensorMap& tensors,
                      const std::map<std::string, std::string>& metadata) {
  OrThrow(io::WriteSafetensors(path, Named(tensors), metadata));
}

void WriteNpz(const std::string& path, const TensorMap& tensors) {
  OrThrow(io::WriteNpz(path, Named(tensors)));
}

}  // namespace penstock
