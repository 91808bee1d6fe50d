#pragma once

#include "penstock/ops/data/dataset.h"
#include "penstock/ops/data/element_spec.h"

// Datasets of what files hold: lines, records. Files are read as elements are asked for.

namespace penstock::ops {

// The lines, without their ends.
struct TextLineDataset {
  static constexpr auto kName = "TextLineDataset";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  std::string metadata;
  using Sig = Signature<In<"filenames", std::string>, In<"compression_type", std::string>,
                        In<"buffer_size", int64_t>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs{Field{"metadata", &TextLineDataset::metadata}};
  Result<Shape> InferShape(const Shape& filenames, const Shape& compression_type,
                           const Shape& buffer_size) const;
  Status ComputeCpu(CpuContext& context, const Tensor& filenames, const Tensor& compression_type,
                    int64_t buffer_size) const;
};

struct TFRecordDataset {
  static constexpr auto kName = "TFRecordDataset";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  std::string metadata;
  using Sig = TextLineDataset::Sig;
  static constexpr std::tuple kAttrs{Field{"metadata", &TFRecordDataset::metadata}};
  Result<Shape> InferShape(const Shape& filenames, const Shape& compression_type,
                           const Shape& buffer_size) const;
  Status ComputeCpu(CpuContext& context, const Tensor& filenames, const Tensor& compression_type,
                    int64_t buffer_size) const;
};

// Pieces of equal length, between a header and a footer.
struct FixedLengthRecordDataset {
  static constexpr auto kName = "FixedLengthRecordDataset";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  std::string metadata;
  using Sig = Signature<In<"filenames", std::string>, In<"header_bytes", int64_t>,
                        In<"record_bytes", int64_t>, In<"footer_bytes", int64_t>,
                        In<"buffer_size", int64_t>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs{Field{"metadata", &FixedLengthRecordDataset::metadata}};
  Result<Shape> InferShape(const Shape& filenames, const Shape& header_bytes,
                           const Shape& record_bytes, const Shape& footer_bytes,
                           const Shape& buffer_size) const;
  Status ComputeCpu(CpuContext& context, const Tensor& filenames, int64_t header_bytes,
                    int64_t record_bytes, int64_t footer_bytes, int64_t buffer_size) const;
};

struct FixedLengthRecordDatasetV2 {
  static constexpr auto kName = "FixedLengthRecordDatasetV2";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  std::string metadata;
  using Sig = Signature<In<"filenames", std::string>, In<"header_bytes", int64_t>,
                        In<"record_bytes", int64_t>, In<"footer_bytes", int64_t>,
                        In<"buffer_size", int64_t>, In<"compression_type", std::string>,
                        Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs{Field{"metadata", &FixedLengthRecordDatasetV2::metadata}};
  Result<Shape> InferShape(const Shape& filenames, const Shape& header_bytes,
                           const Shape& record_bytes, const Shape& footer_bytes,
                           const Shape& buffer_size, const Shape& compression_type) const;
  Status ComputeCpu(CpuContext& context, const Tensor& filenames, int64_t header_bytes,
                    int64_t record_bytes, int64_t footer_bytes, int64_t buffer_size,
                    const Tensor& compression_type) const;
};

}  // namespace penstock::ops
