#include "penstock/ops/segment.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "penstock/core/checked.h"
#include "penstock/kernels/scatter.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/index_rows.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// What a segment holds before its first row.
enum class Start { kIdentity, kFinite };

std::string_view CombiningOp(SegmentFold fold) {
  switch (fold) {
    case SegmentFold::kProd:
      return "Mul";
    case SegmentFold::kMin:
      return "Minimum";
    case SegmentFold::kMax:
      return "Maximum";
    default:
      return "AddV2";
  }
}

template <class T>
T Extreme(SegmentFold fold, Start start) {
  using Limits = std::numeric_limits<std::conditional_t<std::is_integral_v<T>, T, float>>;
  const bool is_min = fold == SegmentFold::kMin;
  if constexpr (std::is_integral_v<T>) {
    return is_min ? Limits::max() : Limits::lowest();
  } else if (start == Start::kIdentity) {
    return static_cast<T>(is_min ? Limits::infinity() : -Limits::infinity());
  } else if constexpr (std::is_same_v<T, half>) {
    return static_cast<T>(is_min ? 65504.0f : -65504.0f);
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    return static_cast<T>(is_min ? 0x1.fep127f : -0x1.fep127f);
  } else {
    return is_min ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
  }
}

Status FillStart(SegmentFold fold, Start start, Tensor& output, const ParallelFor& each) {
  switch (fold) {
    case SegmentFold::kSum:
    case SegmentFold::kMean:
      ZeroElements(output, each);
      return OkStatus();
    case SegmentFold::kProd:
      return ForDType(output.dtype(), PlainNumbers(), [&]<class T>() {
        FillElements(Tensor::Scalar(static_cast<T>(1.0f)), output, each);
        return OkStatus();
      });
    default:
      return ForDType(output.dtype(), PlainRealNumbers(), [&]<class T>() {
        FillElements(Tensor::Scalar(Extreme<T>(fold, start)), output, each);
        return OkStatus();
      });
  }
}

// Folds each row of `data` into the row of `output` that its id names. REQUIRES: ids below the
// number of rows of output.
Status FoldRows(CpuContext& context, SegmentFold fold, Start start, const Tensor& data,
                const Tensor& ids, Tensor& output) {
  const ElementwiseBlock* block = StandardElementwise().Find(CombiningOp(fold), data.dtype());
  if (block == nullptr) return Unimplemented("there is no CPU kernel for {}", data.dtype());
  TRY(FillStart(fold, start, output, context.parallel()));
  kernels::Scatter scatter;
  scatter.table = output.mutable_raw();
  scatter.table_rows = output.shape()[0];
  scatter.row_elements = ProductOf(output.shape(), 1, output.shape().rank());
  scatter.element_bytes = static_cast<int64_t>(SizeOf(data.dtype()));
  scatter.rows = ids.data<int64_t>();
  scatter.num_updates = ids.num_elements();
  scatter.updates = data.raw();
  kernels::ScatterRows(scatter, block->function, block->cost, context.parallel());
  return OkStatus();
}

template <class T>
void DivideRow(T* row, int64_t columns, int64_t count) {
  if constexpr (std::is_integral_v<T>) {
    // A count that the type cannot hold is larger than any sum that did not wrap.
    const bool fits =
        count <= static_cast<int64_t>(std::min<uint64_t>(std::numeric_limits<T>::max(), INT64_MAX));
    for (int64_t c = 0; c < columns; ++c)
      row[c] = fits ? static_cast<T>(row[c] / static_cast<T>(count)) : T(0);
  } else {
    for (int64_t c = 0; c < columns; ++c)
      row[c] = row[c] / static_cast<T>(static_cast<float>(count));
  }
}

// Divides sums by the number of their rows, and puts zeros where there was no row.
Status FinishSorted(CpuContext& context, SegmentFold fold, std::span<const int64_t> ids,
                    Tensor& output) {
  const int64_t segments = output.shape()[0];
  const int64_t columns = ProductOf(output.shape(), 1, output.shape().rank());
  return ForDType(output.dtype(), PlainNumbers(), [&]<class T>() {
    T* out = output.mutable_data<T>();
    const double cost = 20 + 4 * static_cast<double>(columns);
    context.parallel()(segments, cost, [&](int64_t begin, int64_t end) {
      auto at = std::lower_bound(ids.begin(), ids.end(), begin);
      for (int64_t s = begin; s < end; ++s) {
        const auto first = at;
        while (at != ids.end() && *at == s) ++at;
        const int64_t count = at - first;
        T* row = out + s * columns;
        if (count == 0) {
          std::fill_n(row, columns, T());
        } else if (fold == SegmentFold::kMean) {
          DivideRow(row, columns, count);
        }
      }
    });
    return OkStatus();
  });
}

}  // namespace

Result<Shape> InferSortedSegments(const Shape& data, const Shape& segment_ids) {
  TRY(CheckVector(segment_ids, "segment_ids"));
  TRY(CheckRankAtLeast(data, 1, "data"));
  if (!data.has_rank()) return data;
  if (segment_ids.has_rank()) {
    if (const auto rows = MergeShapes(data.Slice(0, 1), segment_ids); !rows.ok()) {
      return InvalidArgument("segment_ids must have one id for each row of data: {} vs {}",
                             segment_ids, data);
    }
  }
  Shape out = data;
  out.set_dim(0, Shape::kUnknownDim);
  return out;
}

Result<Shape> InferSegments(const Shape& data, const Shape& segment_ids,
                            const Integers& num_segments) {
  TRY(CheckScalar(num_segments.shape(), "num_segments"));
  int64_t segments = Shape::kUnknownDim;
  if (num_segments.known()) {
    segments = num_segments[0];
    if (segments < 0) return InvalidArgument("num_segments must not be negative, got {}", segments);
  }
  if (!segment_ids.has_rank() || !data.has_rank()) return Shape::Unknown();
  if (data.rank() < segment_ids.rank() ||
      !data.Slice(0, segment_ids.rank()).IsCompatibleWith(segment_ids)) {
    return InvalidArgument("data's shape must begin with the shape of segment_ids: {} vs {}", data,
                           segment_ids);
  }
  Shape out{segments};
  for (int axis = segment_ids.rank(); axis < data.rank(); ++axis) out.Append(data.dim(axis));
  return Shape::Make(out.dims());
}

Status FoldSortedSegments(CpuContext& context, SegmentFold fold, const Tensor& data,
                          const Tensor& segment_ids) {
  TRY_ASSIGN(const Tensor ids, WidenIndices(context, segment_ids));
  const auto values = ids.values<int64_t>();
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t least = i == 0 ? 0 : values[i - 1];
    if (values[i] < least) {
      return InvalidArgument("segment_ids must be sorted and not negative, got {} after {}",
                             values[i], least);
    }
  }
  std::vector<int64_t> dims(data.shape().dims().begin(), data.shape().dims().end());
  if (values.empty()) {
    dims[0] = 0;
  } else if (const auto segments = CheckedAdd(values.back(), 1)) {
    dims[0] = *segments;
  } else {
    return InvalidArgument("segment_ids must be below the highest int64, got {}", values.back());
  }
  TRY_ASSIGN(const Shape shape, Shape::Make(dims));
  TRY(context.AllocateOutput(0, data.dtype(), shape));
  Tensor& output = context.output(0);
  TRY(FoldRows(context, fold, Start::kIdentity, data, ids, output));
  const bool is_final = fold == SegmentFold::kSum || fold == SegmentFold::kProd;
  return is_final ? OkStatus() : FinishSorted(context, fold, values, output);
}

Status FoldSegments(CpuContext& context, SegmentFold fold, const Tensor& data,
                    const Tensor& segment_ids, int64_t num_segments, Tensor& output) {
  TRY_ASSIGN(const Tensor ids, WidenIndices(context, segment_ids));
  const auto values = ids.values<int64_t>();
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= num_segments) {
      return InvalidArgument("segment_ids must be below num_segments = {}, got {} at place {}",
                             num_segments, values[i], i);
    }
  }
  return FoldRows(context, fold, Start::kFinite, data, ids, output);
}

void RegisterSegment(Registrar& registrar) {
  registrar.AddAll<SegmentSum, SegmentMean, SegmentProd, SegmentMin, SegmentMax>();
  registrar
      .AddAll<UnsortedSegmentSum, UnsortedSegmentProd, UnsortedSegmentMin, UnsortedSegmentMax>();
  registrar.AddAll<SegmentSumV2, SegmentProdV2, SegmentMinV2, SegmentMaxV2>();
}

}  // namespace penstock::ops
