#include "penstock/ops/text/join.h"

#include <algorithm>
#include <vector>

#include "penstock/kernels/strided.h"
#include "penstock/ops/index_rows.h"

namespace penstock::ops {
namespace {

// Each axis resolved, in the order given.
Result<std::vector<int>> ResolveAxes(const Integers& axes, int rank) {
  std::vector<int> resolved;
  for (const int64_t axis : axes.values()) {
    TRY_ASSIGN(const int one, ResolveAxis(axis, rank));
    if (std::find(resolved.begin(), resolved.end(), one) != resolved.end())
      return InvalidArgument("Duplicate reduction dimension {}", axis);
    resolved.push_back(one);
  }
  return resolved;
}

}  // namespace

Result<Shape> StringJoin::InferShape(std::span<const Known> inputs) const {
  Shape joined;
  bool certain = true;
  for (const Known& input : inputs) {
    if (!input.shape->has_rank()) {
      certain = false;
    } else if (input.shape->rank() > 0) {
      TRY_ASSIGN(joined, joined.rank() == 0 ? Result<Shape>(*input.shape)
                                            : MergeShapes(joined, *input.shape));
    }
  }
  // Something of unknown rank may be a scalar, or decide the shape.
  if (!certain && joined.rank() == 0) return Shape::Unknown();
  return joined;
}

Status StringJoin::ComputeCpu(CpuContext& context, std::span<Tensor* const> inputs,
                              Tensor& output) const {
  std::string* to = output.mutable_data<std::string>();
  context.parallel()(
      output.num_elements(), kCost * static_cast<double>(inputs.size()),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          for (size_t k = 0; k < inputs.size(); ++k) {
            if (k > 0) to[i] += separator;
            to[i] += inputs[k]->data<std::string>()[inputs[k]->shape().rank() == 0 ? 0 : i];
          }
        }
      });
  return OkStatus();
}

Result<Shape> ReduceJoin::InferShape(const Shape& inputs, const Integers& axes) const {
  if (!inputs.has_rank()) return Shape::Unknown();
  if (!axes.known()) return keep_dims ? Shape::UnknownOfRank(inputs.rank()) : Shape::Unknown();
  TRY_ASSIGN(const std::vector<int> resolved, ResolveAxes(axes, inputs.rank()));
  Shape out;
  for (int axis = 0; axis < inputs.rank(); ++axis) {
    const bool reduced = std::find(resolved.begin(), resolved.end(), axis) != resolved.end();
    if (!reduced) out.Append(inputs.dim(axis));
    if (reduced && keep_dims) out.Append(1);
  }
  return out;
}

Status ReduceJoin::ComputeCpu(CpuContext& context, const Tensor& inputs, const Integers& axes,
                              Tensor& output) const {
  const Shape& shape = inputs.shape();
  TRY_ASSIGN(const std::vector<int> resolved, ResolveAxes(axes, shape.rank()));
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()));
  int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride *= shape.dim(axis);
  }
  std::vector<kernels::StridedDim> kept, reduced;
  // Joined axis by axis, so that the first named is within the others.
  for (auto axis = resolved.rbegin(); axis != resolved.rend(); ++axis)
    reduced.push_back({shape.dim(*axis), strides[*axis], 0});
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (std::find(resolved.begin(), resolved.end(), axis) == resolved.end())
      kept.push_back({shape.dim(axis), strides[axis], 0});
  if (output.num_elements() == 0) return OkStatus();
  const int64_t parts = kernels::CountIndices(reduced);
  const std::string* from = inputs.data<std::string>();
  std::string* to = output.mutable_data<std::string>();
  context.parallel()(output.num_elements(), kCost * static_cast<double>(parts),
                     [&](int64_t begin, int64_t end) {
                       kernels::StridedIterator base(kept, begin);
                       for (int64_t i = begin; i < end; ++i, base.Next()) {
                         if (parts == 0) continue;
                         kernels::StridedIterator part(reduced, 0);
                         for (int64_t k = 0; k < parts; ++k, part.Next()) {
                           if (k > 0) to[i] += separator;
                           to[i] += from[base.src() + part.src()];
                         }
                       }
                     });
  return OkStatus();
}

Result<Shape> UnsortedSegmentJoin::InferShape(const Shape& inputs, const Shape& segment_ids,
                                              const Integers& num_segments) const {
  TRY(CheckScalar(num_segments.shape(), "num_segments"));
  if (num_segments.known() && num_segments[0] < 0)
    return InvalidArgument("num_segments must not be negative, got {}", num_segments[0]);
  if (!segment_ids.has_rank() || !inputs.has_rank()) return Shape::Unknown();
  if (inputs.rank() < segment_ids.rank() ||
      !inputs.Slice(0, segment_ids.rank()).IsCompatibleWith(segment_ids)) {
    return InvalidArgument("the shape of inputs must begin with the shape of segment_ids: {} vs {}",
                           inputs, segment_ids);
  }
  Shape out{num_segments.known() ? num_segments[0] : Shape::kUnknownDim};
  for (int axis = segment_ids.rank(); axis < inputs.rank(); ++axis) out.Append(inputs.dim(axis));
  return Shape::Make(out.dims());
}

Status UnsortedSegmentJoin::ComputeCpu(CpuContext& context, const Tensor& inputs,
                                       const Tensor& segment_ids, const Integers& num_segments,
                                       Tensor& output) const {
  TRY_ASSIGN(const Tensor ids, WidenIndices(context, segment_ids));
  const int64_t segments = num_segments[0];
  const int64_t columns = ProductOf(output.shape(), 1, output.shape().rank());
  std::vector<bool> begun(static_cast<size_t>(segments));
  for (int64_t row = 0; row < ids.num_elements(); ++row) {
    const int64_t id = ids.data<int64_t>()[row];
    if (!InRange(id, segments))
      return InvalidArgument("segment_ids must be in [0, {}), got {} at place {}", segments, id,
                             row);
    for (int64_t c = 0; c < columns; ++c) {
      std::string& to = output.mutable_data<std::string>()[id * columns + c];
      if (begun[id]) to += separator;
      to += inputs.data<std::string>()[row * columns + c];
    }
    begun[id] = true;
  }
  return OkStatus();
}

void RegisterTextJoin(Registrar& registrar) {
  registrar.AddAll<StringJoin, ReduceJoin, UnsortedSegmentJoin>();
}

}  // namespace penstock::ops
