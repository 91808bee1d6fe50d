#include "penstock/io/summary.h"

#include <algorithm>
#include <limits>

#include "penstock/io/wire_reader.h"
#include "penstock/io/wire_writer.h"

namespace penstock::io {
namespace {

// TensorFlow's: powers of 1.1, the negative ones mirrored, the largest double at both ends.
std::vector<double> MakeLimits() {
  std::vector<double> positive;
  for (double limit = 1e-12; limit < 1e20; limit *= 1.1) positive.push_back(limit);
  positive.push_back(std::numeric_limits<double>::max());
  std::vector<double> limits;
  for (auto limit = positive.rbegin(); limit != positive.rend(); ++limit) limits.push_back(-*limit);
  limits.push_back(0);
  limits.insert(limits.end(), positive.begin(), positive.end());
  return limits;
}

const std::vector<double>& Limits() {
  static const std::vector<double>* const limits = new std::vector<double>(MakeLimits());
  return *limits;
}

std::string Packed(const std::vector<double>& values) {
  std::string bytes(values.size() * sizeof(double), '\0');
  for (size_t i = 0; i < values.size(); ++i)
    StoreLittleEndian(std::bit_cast<uint64_t>(values[i]), bytes.data() + i * sizeof(double));
  return bytes;
}

std::string SummaryOf(const WireWriter& value) {
  return WireWriter().Bytes(1, value.text()).text();
}

void PutTag(std::string_view tag, WireWriter& value) {
  if (!tag.empty()) value.Bytes(1, tag);
}

// A TensorProto of strings: 1: dtype  2: shape (2: (1: size))  8: elements.
constexpr uint64_t kStringType = 7;
std::string StringScalar(std::string_view text) {
  return WireWriter().Varint(1, kStringType).Bytes(2, "").Bytes(8, text).text();
}
std::string StringVector(const std::vector<std::string>& texts) {
  const WireWriter size = WireWriter().Varint(1, texts.size());
  const WireWriter shape = WireWriter().Bytes(2, size.text());
  WireWriter tensor;
  tensor.Varint(1, kStringType).Bytes(2, shape.text());
  for (const std::string& text : texts) tensor.Bytes(8, text);
  return tensor.text();
}

}  // namespace

Histogram::Histogram()
    : min_(std::numeric_limits<double>::max()),
      max_(std::numeric_limits<double>::lowest()),
      buckets_(Limits().size()) {}

void Histogram::Add(double value) {
  const std::vector<double>& limits = Limits();
  const auto above = std::upper_bound(limits.begin(), limits.end(), value);
  // The last limit is the largest double, which nothing is above.
  const size_t bucket = std::min<size_t>(above - limits.begin(), limits.size() - 1);
  buckets_[bucket] += 1;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  num_ += 1;
  sum_ += value;
  sum_squares_ += value * value;
}

std::string Histogram::Serialized() const {
  WireWriter proto;
  uint32_t field = 0;
  for (const double value : {min_, max_, num_, sum_, sum_squares_}) {
    ++field;
    if (std::bit_cast<uint64_t>(value) != 0) proto.Double(field, value);
  }
  const std::vector<double>& limits = Limits();
  std::vector<double> ends, counts;
  for (size_t i = 0; i < buckets_.size();) {
    double end = limits[i];
    const double count = buckets_[i++];
    // Of a run of empty buckets only the last limit is kept.
    if (count <= 0)
      for (; i < buckets_.size() && buckets_[i] <= 0; ++i) end = limits[i];
    ends.push_back(end);
    counts.push_back(count);
  }
  return proto.Bytes(6, Packed(ends)).Bytes(7, Packed(counts)).text();
}

std::string ScalarSummary(std::string_view tag, float value) {
  WireWriter writer;
  PutTag(tag, writer);
  return SummaryOf(writer.Float(2, value));
}

std::string HistogramSummary(std::string_view tag, const Histogram& histogram) {
  WireWriter writer;
  PutTag(tag, writer);
  return SummaryOf(writer.Bytes(5, histogram.Serialized()));
}

std::string TensorSummary(std::string_view tag, std::string_view tensor,
                          std::string_view metadata) {
  WireWriter writer;
  PutTag(tag, writer);
  return SummaryOf(writer.Bytes(8, tensor).Bytes(9, metadata));
}

std::string TensorSummaryOfNode(std::string_view node, std::string_view tensor) {
  return SummaryOf(WireWriter().Bytes(7, node).Bytes(8, tensor));
}

std::string ImageSummary(std::string_view tag, int64_t height, int64_t width, int64_t channels,
                         std::string_view file) {
  WireWriter image;
  image.Varint(1, static_cast<uint64_t>(height)).Varint(2, static_cast<uint64_t>(width));
  image.Varint(3, static_cast<uint64_t>(channels)).Bytes(4, file);
  WireWriter writer;
  PutTag(tag, writer);
  return SummaryOf(writer.Bytes(4, image.text()));
}

std::string TextSummary(std::string_view tag, std::string_view text) {
  return TensorSummary(tag, StringScalar(text), PluginMetadata("text", "", DataClass::kTensor));
}

std::string ImagesSummary(std::string_view tag, int64_t height, int64_t width,
                          const std::vector<std::string>& files) {
  std::vector<std::string> elements = {std::to_string(width), std::to_string(height)};
  elements.insert(elements.end(), files.begin(), files.end());
  return TensorSummary(tag, StringVector(elements),
                       PluginMetadata("images", "", DataClass::kBlobs));
}

std::string PluginMetadata(std::string_view plugin, std::string_view content,
                           DataClass data_class) {
  WireWriter data;
  data.Bytes(1, plugin);
  if (!content.empty()) data.Bytes(2, content);
  WireWriter metadata;
  metadata.Bytes(1, data.text());
  if (data_class != DataClass::kNone) metadata.Varint(4, static_cast<uint64_t>(data_class));
  return metadata.text();
}

bool ParseSummaryTags(std::string_view summary, std::vector<std::string_view>* tags) {
  WireReader reader(summary);
  while (reader.Next()) {
    if (!reader.Is(1, WireReader::kBytes)) continue;
    std::string_view tag;
    WireReader value(reader.bytes());
    while (value.Next())
      if (value.Is(1, WireReader::kBytes)) tag = value.bytes();
    if (!value.ok()) return false;
    tags->push_back(tag);
  }
  return reader.ok();
}

bool IsMessage(std::string_view bytes) {
  WireReader reader(bytes);
  while (reader.Next()) {
  }
  return reader.ok();
}

}  // namespace penstock::io
