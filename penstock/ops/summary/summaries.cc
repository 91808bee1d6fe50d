#include "penstock/ops/summary/summaries.h"

#include <cmath>
#include <set>
#include <string_view>

#include "penstock/io/summary.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/parse/serialize.h"
#include "penstock/ops/summary/image_summary.h"

namespace penstock::ops {
namespace {

template <class T>
double AsDouble(T value) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return static_cast<double>(value);
  }
}

class TensorSummaryKernel final : public Kernel {
 public:
  explicit TensorSummaryKernel(std::string node) : node_(std::move(node)) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(const std::string tensor, SerializedTensor(context.input(0)));
    TRY(context.AllocateOutput(0, DType::kString, Shape()));
    *context.output(0).mutable_data<std::string>() = io::TensorSummaryOfNode(node_, tensor);
    return OkStatus();
  }

 private:
  const std::string node_;
};

}  // namespace

Result<Shape> ScalarSummary::InferShape(const Shape& tags, const Shape& values) const {
  if (!tags.IsCompatibleWith(values))
    return InvalidArgument("tags and values are not the same shape: {} != {}", tags, values);
  return Shape();
}

Status ScalarSummary::ComputeCpu(CpuContext&, const Tensor& tags, const Tensor& values,
                                 Tensor& summary) const {
  std::string& out = *summary.mutable_data<std::string>();
  return ForDType(values.dtype(), PlainRealNumbers(), [&]<class T>() {
    for (int64_t i = 0; i < tags.num_elements(); ++i)
      out += io::ScalarSummary(tags.data<std::string>()[i],
                               static_cast<float>(AsDouble(values.data<T>()[i])));
    return OkStatus();
  });
}

Result<Shape> HistogramSummary::InferShape(const Shape& tag, const Shape&) const {
  TRY(CheckScalar(tag, "tag"));
  return Shape();
}

Status HistogramSummary::ComputeCpu(CpuContext&, const Tensor& tag, const Tensor& values,
                                    Tensor& summary) const {
  io::Histogram histogram;
  TRY(ForDType(values.dtype(), PlainRealNumbers(), [&]<class T>() -> Status {
    for (const T value : values.values<T>()) {
      const double number = AsDouble(value);
      if (!std::isfinite(number))
        return InvalidArgument("{} in the histogram {}", std::isnan(number) ? "Nan" : "Infinity",
                               Printable(tag.scalar<std::string>()));
      histogram.Add(number);
    }
    return OkStatus();
  }));
  *summary.mutable_data<std::string>() = io::HistogramSummary(tag.scalar<std::string>(), histogram);
  return OkStatus();
}

Status MergeSummary::ComputeCpu(CpuContext&, std::span<Tensor* const> inputs,
                                Tensor& summary) const {
  std::string& out = *summary.mutable_data<std::string>();
  std::set<std::string_view> seen;
  for (const Tensor* input : inputs) {
    for (const std::string& part : input->values<std::string>()) {
      std::vector<std::string_view> tags;
      if (!io::ParseSummaryTags(part, &tags))
        return InvalidArgument("Could not parse one of the summary inputs");
      for (const std::string_view tag : tags) {
        if (!tag.empty() && !seen.insert(tag).second)
          return InvalidArgument("Duplicate tag {} found in summary inputs", Printable(tag));
      }
      // The values of messages put one after the other are those of one message.
      out += part;
    }
  }
  return OkStatus();
}

Result<Shape> TensorSummaryV2::InferShape(const Shape& tag, const Shape&,
                                          const Shape& metadata) const {
  TRY(CheckScalar(tag, "tag"));
  TRY(CheckScalar(metadata, "serialized_summary_metadata"));
  return Shape();
}

Status TensorSummaryV2::ComputeCpu(CpuContext&, const Tensor& tag, const Tensor& tensor,
                                   const Tensor& metadata, Tensor& summary) const {
  TRY_ASSIGN(const std::string serialized, SerializedTensor(tensor));
  if (!io::IsMessage(metadata.scalar<std::string>()))
    return InvalidArgument("serialized_summary_metadata must be a SummaryMetadata");
  *summary.mutable_data<std::string>() =
      io::TensorSummary(tag.scalar<std::string>(), serialized, metadata.scalar<std::string>());
  return OkStatus();
}

Result<std::unique_ptr<Kernel>> TensorSummary::MakeCpuKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<TensorSummaryKernel>(request.node));
}

void RegisterSummaries(Registrar& registrar) {
  registrar.AddAll<ScalarSummary, HistogramSummary, ImageSummary, MergeSummary, TensorSummaryV2,
                   TensorSummary>();
}

}  // namespace penstock::ops
