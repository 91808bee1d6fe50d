#include "penstock/train/summary/hyper_parameters.h"

#include "penstock/io/summary.h"
#include "penstock/io/wire_writer.h"

namespace penstock {
namespace {

using io::WireWriter;

std::string ValueOf(const HyperParameter& parameter) {
  struct {
    std::string operator()(bool value) const { return WireWriter().Varint(4, value).text(); }
    std::string operator()(double value) const { return WireWriter().Double(2, value).text(); }
    std::string operator()(const std::string& value) const {
      return WireWriter().Bytes(3, value).text();
    }
  } encode;
  return std::visit(encode, parameter.value());
}

// STRING, BOOL and FLOAT64 of the plugin's types.
uint64_t TypeOf(const HyperParameter& parameter) {
  constexpr uint64_t kTypes[] = {2, 3, 1};  // in the order of the variant
  return kTypes[parameter.value().index()];
}

// The message is in the metadata; the tensor is the shortest that there is, an empty vector.
std::string PluginSummary(std::string_view tag, uint32_t field, const WireWriter& message) {
  const WireWriter data = WireWriter().Bytes(field, message.text());
  const WireWriter shape = WireWriter().Bytes(2, "");
  const WireWriter tensor = WireWriter().Varint(1, 1).Bytes(2, shape.text());
  return io::TensorSummary(tag, tensor.text(),
                           io::PluginMetadata("hparams", data.text(), io::DataClass::kNone));
}

}  // namespace

std::string ExperimentSummary(const HyperParameters& parameters,
                              const std::vector<std::string>& metrics) {
  WireWriter experiment;
  for (const auto& [name, parameter] : parameters) {
    const WireWriter info = WireWriter().Bytes(1, name).Varint(4, TypeOf(parameter));
    experiment.Bytes(4, info.text());
  }
  for (const std::string& tag : metrics) {
    const WireWriter name = WireWriter().Bytes(2, tag);
    experiment.Bytes(5, WireWriter().Bytes(1, name.text()).text());
  }
  return PluginSummary("_hparams_/experiment", 2, experiment);
}

std::string RunStartSummary(const HyperParameters& parameters, double time) {
  WireWriter start;
  for (const auto& [name, parameter] : parameters) {
    const WireWriter entry = WireWriter().Bytes(1, name).Bytes(2, ValueOf(parameter));
    start.Bytes(1, entry.text());
  }
  return PluginSummary("_hparams_/session_start_info", 3, start.Double(5, time));
}

std::string RunEndSummary(bool succeeded, double time) {
  const WireWriter end = WireWriter().Varint(1, succeeded ? 1 : 2).Double(2, time);
  return PluginSummary("_hparams_/session_end_info", 4, end);
}

}  // namespace penstock
