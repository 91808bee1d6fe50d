#pragma once

#include <map>
#include <string>

#include "penstock/client/session.h"
#include "penstock/train/save/saver.h"

// Variables in the formats of others: safetensors, and NumPy's .npz. Errors are as those of Saver:
// nothing is changed when a file is of another format, is cut or does not fit. safetensors has no
// checksums; a wrong one in a .npz is found when that array is read.

namespace penstock {

// Tensors by name, as a file holds them.
using TensorMap = std::map<std::string, Tensor>;

// All variables of the graph, under their names. The file is written whole or not at all.
void SaveSafetensors(Graph& graph, Session& session, const std::string& path,
                     const std::map<std::string, std::string>& metadata = {});
void SaveNpz(Graph& graph, Session& session, const std::string& path);

// Assigns the variables of the graph what the file has; `request` as for Saver::Restore.
RestoreReport LoadSafetensors(Graph& graph, Session& session, const std::string& path,
                              const RestoreRequest& request = {});
RestoreReport LoadNpz(Graph& graph, Session& session, const std::string& path,
                      const RestoreRequest& request = {});

// The same without a graph.
TensorMap ReadSafetensors(const std::string& path);
TensorMap ReadNpz(const std::string& path);
void WriteSafetensors(const std::string& path, const TensorMap& tensors,
                      const std::map<std::string, std::string>& metadata = {});
void WriteNpz(const std::string& path, const TensorMap& tensors);

}  // namespace penstock
