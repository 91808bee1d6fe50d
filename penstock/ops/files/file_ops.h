#pragma once

#include <array>
#include <string>

#include "penstock/ops/op_kernel.h"

// Files by name, within the file roots (io/file_roots.h).

namespace penstock::ops {

struct ReadFile {
  static constexpr auto kName = "ReadFile";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"filename", std::string>, Out<"contents", std::string>>;
  Result<Shape> InferShape(const Shape& filename) const;
  Status ComputeCpu(CpuContext& context, const Tensor& filename, Tensor& contents) const;
};

// Makes the folders that are missing; the file is there whole or not at all.
struct WriteFile {
  static constexpr auto kName = "WriteFile";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"filename", std::string>, In<"contents", std::string>>;
  Result<std::array<Shape, 0>> InferShape(const Shape& filename, const Shape& contents) const;
  Status ComputeCpu(CpuContext& context, const Tensor& filename, const Tensor& contents) const;
};

// The files that match a pattern, or any of several; sorted.
struct MatchingFiles {
  static constexpr auto kName = "MatchingFiles";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"pattern", std::string>, Out<"filenames", std::string>>;
  Result<Shape> InferShape(const Shape& pattern) const;
  Status ComputeCpu(CpuContext& context, const Tensor& pattern) const;
};

}  // namespace penstock::ops
