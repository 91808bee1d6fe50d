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
