#include "penstock/ops/files/file_ops.h"

#include <algorithm>
#include <vector>

#include "penstock/io/file_tree.h"

namespace penstock::ops {

Result<Shape> ReadFile::InferShape(const Shape& filename) const {
  TRY(CheckScalar(filename, "filename"));
  return Shape();
}

Status ReadFile::ComputeCpu(CpuContext&, const Tensor& filename, Tensor& contents) const {
  TRY_ASSIGN(*contents.mutable_data<std::string>(),
             io::ReadWholeFile(filename.scalar<std::string>()));
  return OkStatus();
}

Result<std::array<Shape, 0>> WriteFile::InferShape(const Shape& filename,
                                                   const Shape& contents) const {
  TRY(CheckScalar(filename, "filename"));
  TRY(CheckScalar(contents, "contents"));
  return std::array<Shape, 0>();
}

Status WriteFile::ComputeCpu(CpuContext&, const Tensor& filename, const Tensor& contents) const {
  const std::string& path = filename.scalar<std::string>();
  const size_t slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0) TRY(io::MakeFolders(path.substr(0, slash)));
  return io::WriteFileAtomically(path, contents.scalar<std::string>());
}

Result<Shape> MatchingFiles::InferShape(const Shape& pattern) const {
  if (pattern.has_rank() && pattern.rank() > 1)
    return InvalidArgument("Input patterns tensor must be scalar or vector, but had shape: {}",
                           pattern);
  return Shape{Shape::kUnknownDim};
}

Status MatchingFiles::ComputeCpu(CpuContext& context, const Tensor& pattern) const {
  std::vector<std::string> all;
  for (const std::string& one : pattern.values<std::string>()) {
    TRY_ASSIGN(const std::vector<std::string> found, io::MatchFiles(one));
    all.insert(all.end(), found.begin(), found.end());
  }
  std::sort(all.begin(), all.end());
  TRY(context.AllocateOutput(0, DType::kString, Shape{static_cast<int64_t>(all.size())}));
  std::move(all.begin(), all.end(), context.output(0).mutable_data<std::string>());
  return OkStatus();
}

void RegisterFiles(Registrar& registrar) { registrar.AddAll<ReadFile, WriteFile, MatchingFiles>(); }

}  // namespace penstock::ops
