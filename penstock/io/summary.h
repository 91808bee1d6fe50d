#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/status.h"

// Summaries as TensorBoard reads them. All are protobuf messages; the number of a field stands
// before its type, and proto3 leaves out fields that are zero.
//
//   Summary   = (1: Value)*
//   Value     = 1: tag  2: simple_value:float  4: Image  5: HistogramProto  7: node_name
//               8: TensorProto  9: SummaryMetadata
//   Image     = 1: height  2: width  3: channels  4: encoded as a file
//   Histogram = 1: min  2: max  3: num  4: sum  5: sum_squares   (doubles)
//               6: bucket_limit:packed doubles  7: bucket:packed doubles
//   Metadata  = 1: Plugin  2: display_name  3: description  4: class (1 scalar, 2 tensor, 3 blobs)
//   Plugin    = 1: name  2: content

namespace penstock::io {

// Counts of values between limits that grow by a tenth from 1e-12 to 1e20, on both sides of 0.
class Histogram {
 public:
  Histogram();
  void Add(double value);
  // A HistogramProto; runs of empty buckets are drawn together.
  std::string Serialized() const;

 private:
  double min_, max_;
  double num_ = 0, sum_ = 0, sum_squares_ = 0;
  std::vector<double> buckets_;
};

// One Value in a Summary: a number, a HistogramProto, a TensorProto.
std::string ScalarSummary(std::string_view tag, float value);
std::string HistogramSummary(std::string_view tag, const Histogram& histogram);
// `metadata` is a SummaryMetadata; `node` is for the older form, which has no tag.
std::string TensorSummary(std::string_view tag, std::string_view tensor, std::string_view metadata);
std::string TensorSummaryOfNode(std::string_view node, std::string_view tensor);
// One image; `file` is a PNG or another format that browsers show.
std::string ImageSummary(std::string_view tag, int64_t height, int64_t width, int64_t channels,
                         std::string_view file);
// Text in Markdown, as TensorBoard's text plugin shows it.
std::string TextSummary(std::string_view tag, std::string_view text);
// Several images under one tag, all of one size, as TensorBoard's images plugin shows them.
std::string ImagesSummary(std::string_view tag, int64_t height, int64_t width,
                          const std::vector<std::string>& files);

// How TensorBoard is to treat the tensors of a tag.
enum class DataClass { kNone = 0, kScalar = 1, kTensor = 2, kBlobs = 3 };
// A SummaryMetadata; `content` is the plugin's own message.
std::string PluginMetadata(std::string_view plugin, std::string_view content, DataClass data_class);

// The tags of the values; false when the bytes are no Summary.
bool ParseSummaryTags(std::string_view summary, std::vector<std::string_view>* tags);
// True when the bytes are a protobuf message.
bool IsMessage(std::string_view bytes);

}  // namespace penstock::io
