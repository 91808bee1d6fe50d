#include "penstock/train/summary/summary_writer.h"

#include <algorithm>
#include <cmath>

#include "penstock/client/error.h"
#include "penstock/client/session.h"
#include "penstock/core/log.h"
#include "penstock/graph/graph_def.h"
#include "penstock/io/image/png.h"
#include "penstock/io/summary.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/train/summary/event_queue.h"

namespace penstock {
namespace {

template <class T>
double AsDouble(T value) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return static_cast<double>(value);
  }
}

// Calls `add` with each value.
template <class F>
Status ForEachNumber(const Tensor& values, std::string_view tag, const F& add) {
  const Status status =
      ops::ForDType(values.dtype(), ops::PlainRealNumbers(), [&]<class T>() -> Status {
        for (const T& value : values.values<T>()) add(AsDouble(value));
        return OkStatus();
      });
  return status.Annotate(Format("histogram {}", Printable(tag)));
}

// The extent of a batch of images, after it was checked.
Result<io::ImageExtent> ExtentOf(const Tensor& images) {
  const Shape& shape = images.shape();
  const int rank = shape.rank();
  if (rank != 3 && rank != 4) {
    return InvalidArgument("images must be [B, height, width, channels] or one of them, got {}",
                           shape);
  }
  const io::ImageExtent extent{rank == 4 ? shape[0] : 1, shape[rank - 3], shape[rank - 2],
                               shape[rank - 1]};
  if (extent.channels != 1 && extent.channels != 3 && extent.channels != 4)
    return InvalidArgument("images must have 1, 3 or 4 channels, got {}", shape);
  if (images.dtype() != DType::kUint8 && images.dtype() != DType::kFloat)
    return InvalidArgument("images must be uint8 or float, got {}", images.dtype());
  return extent;
}

uint8_t ToByte(float value) {
  // Not a number becomes black: clamp would keep it.
  if (std::isnan(value)) return 0;
  return static_cast<uint8_t>(std::clamp(value, 0.f, 1.f) * 255.f + 0.5f);
}

Result<std::vector<std::string>> EncodeImages(const Tensor& images, io::ImageExtent extent,
                                              int max_images) {
  const int64_t count = std::min<int64_t>(extent.frames, max_images);
  extent.frames = 1;
  TRY(io::CheckExtent(extent, io::kMaxSamples, "image"));
  const int64_t size = extent.height * extent.width * extent.channels;
  std::vector<std::string> files;
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  for (int64_t i = 0; i < count; ++i) {
    if (images.dtype() == DType::kUint8) {
      std::copy_n(images.data<uint8_t>() + i * size, size, bytes.begin());
    } else {
      std::transform(images.data<float>() + i * size, images.data<float>() + (i + 1) * size,
                     bytes.begin(), ToByte);
    }
    TRY_ASSIGN(std::string file, io::EncodePng(bytes.data(), extent, 8, -1));
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

SummaryWriter::SummaryWriter(std::string folder, const SummaryWriterOptions& options)
    : queue_(std::make_unique<Queue>(folder, options,
                                     OrThrow(io::EventFile::Create(folder, options.suffix)))) {}

SummaryWriter::~SummaryWriter() = default;

void SummaryWriter::Add(uint32_t kind, std::string content, int64_t step) {
  OrThrow(queue_->Add({.wall_time = io::WallTime(),
                       .step = step,
                       .kind = static_cast<io::Event::Kind>(kind),
                       .content = std::move(content)}));
}

void SummaryWriter::AddScalar(std::string_view tag, double value, int64_t step) {
  AddSummary(io::ScalarSummary(tag, static_cast<float>(value)), step);
}

void SummaryWriter::AddHistogram(std::string_view tag, const Tensor& values, int64_t step) {
  io::Histogram histogram;
  int64_t num_left_out = 0;
  OrThrow(ForEachNumber(values, tag, [&](double value) {
    if (std::isfinite(value)) {
      histogram.Add(value);
    } else {
      ++num_left_out;
    }
  }));
  if (num_left_out > 0) {
    Log(LogLevel::kWarning, Format("histogram {} at step {}: {} of {} values are not finite",
                                   Printable(tag), step, num_left_out, values.num_elements()));
  }
  // An empty one has no least and no largest value to show.
  if (num_left_out < values.num_elements()) AddSummary(io::HistogramSummary(tag, histogram), step);
}

void SummaryWriter::AddImages(std::string_view tag, const Tensor& images, int64_t step,
                              int max_images) {
  const io::ImageExtent extent = OrThrow(ExtentOf(images));
  const std::vector<std::string> files = OrThrow(EncodeImages(images, extent, max_images));
  AddSummary(io::ImagesSummary(tag, extent.height, extent.width, files), step);
}

void SummaryWriter::AddText(std::string_view tag, std::string_view text, int64_t step) {
  AddSummary(io::TextSummary(tag, text), step);
}

void SummaryWriter::AddGraph(const Graph& graph) {
  Add(io::Event::kGraph, OrThrow(SerializeGraphDef(graph)), 0);
}

void SummaryWriter::AddRunMetadata(std::string_view tag, const RunMetadata& metadata,
                                   int64_t step) {
  Add(io::Event::kRunMetadata, io::TaggedRunMetadata(tag, metadata.step_stats), step);
}

void SummaryWriter::AddHyperParameters(const HyperParameters& parameters,
                                       const std::vector<std::string>& metrics) {
  if (!metrics.empty()) AddSummary(ExperimentSummary(parameters, metrics), 0);
  AddSummary(RunStartSummary(parameters, io::WallTime()), 0);
}

void SummaryWriter::AddRunEnd(bool succeeded) {
  AddSummary(RunEndSummary(succeeded, io::WallTime()), 0);
}

void SummaryWriter::AddSummary(std::string_view summary, int64_t step) {
  Add(io::Event::kSummary, std::string(summary), step);
}

void SummaryWriter::Flush() { OrThrow(queue_->Flush()); }

std::string SummaryWriter::path() const { return queue_->path(); }

int64_t SummaryWriter::num_lost_events() const { return queue_->num_lost(); }

}  // namespace penstock
