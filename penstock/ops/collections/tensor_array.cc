#include "penstock/ops/collections/tensor_array.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "penstock/ops/collections/handles.h"
#include "penstock/ops/collections/pieces.h"
#include "penstock/ops/collections/tensor_array_state.h"
#include "penstock/ops/variable_access.h"

namespace penstock::ops {
namespace {

class TensorArrayKernel final : public Kernel {
 public:
  TensorArrayKernel(const TensorArrayV3& op, const std::string& node)
      : op_(op), name_(op.tensor_array_name.empty() ? node : op.tensor_array_name) {}

  Status Compute(KernelContext& context) override {
    if (context.input(0).num_elements() != 1) {
      return InvalidArgument("TensorArray size must be scalar, but had shape: {}",
                             context.input(0).shape());
    }
    const int32_t size = context.input(0).scalar<int32_t>();
    if (size < 0) return InvalidArgument("Size should be >= 0, got {}", size);
    TensorArray::Options options;
    // Nothing looks an array up by name; in messages each run of the node has its own.
    options.name =
        Format("{}_{}_{}", name_, context.step_id(), runs_.fetch_add(1, std::memory_order_relaxed));
    options.dtype = op_.dtype;
    options.element_shape = op_.element_shape;
    options.dynamic_size = op_.dynamic_size;
    options.clear_after_read = op_.clear_after_read;
    options.identical_element_shapes = op_.identical_element_shapes;
    std::string name = options.name;
    TRY_ASSIGN(Tensor handle, MakeHandle(context, "", std::move(name), TensorArray::kKind,
                                         std::make_shared<TensorArray>(std::move(options), size)));
    TRY_ASSIGN(Tensor flow, MakeZeros(context, DType::kFloat, Shape()));
    context.SetOutput(0, std::move(handle));
    context.SetOutput(1, std::move(flow));
    return OkStatus();
  }

 private:
  const TensorArrayV3 op_;
  const std::string name_;
  std::atomic<int64_t> runs_{0};
};

Result<std::shared_ptr<TensorArray>> FindArray(CpuContext& context, const Tensor& handle) {
  return FindResource<TensorArray>(context, handle, TensorArray::kKind);
}

Result<std::shared_ptr<TensorArray>> FindArrayToRead(CpuContext& context, const Tensor& handle,
                                                     DType dtype) {
  TRY_ASSIGN(std::shared_ptr<TensorArray> array, FindArray(context, handle));
  if (array->dtype() == dtype) return array;
  return InvalidArgument("TensorArray dtype is {} but Op requested dtype {}.", array->dtype(),
                         dtype);
}

Result<std::shared_ptr<TensorArray>> FindArrayToWrite(CpuContext& context, const Tensor& handle,
                                                      DType dtype) {
  TRY_ASSIGN(std::shared_ptr<TensorArray> array, FindArray(context, handle));
  if (array->dtype() == dtype) return array;
  return InvalidArgument("TensorArray dtype is {} but Op is trying to write dtype {}.",
                         array->dtype(), dtype);
}

Status MakeGradient(CpuContext& context, const Tensor& handle, const Tensor& flow,
                    const std::string& source, const Shape& prefix) {
  TRY_ASSIGN(const std::shared_ptr<TensorArray> array, FindArray(context, handle));
  TRY_ASSIGN(std::shared_ptr<TensorArray> gradient, array->Gradient(source, prefix));
  std::string name = gradient->name();
  TRY_ASSIGN(Tensor made,
             MakeHandle(context, "", std::move(name), TensorArray::kKind, std::move(gradient)));
  context.SetOutput(0, std::move(made));
  context.SetOutput(1, flow);
  return OkStatus();
}

// The shape of all pieces, which must be one and fit what the array and the node declare.
Result<Shape> CommonShape(const TensorArray& array, const Shape& declared,
                          const std::vector<Tensor>& pieces) {
  TRY_ASSIGN(const Shape expected, MergeShapes(declared, array.element_shape()));
  if (pieces.empty()) {
    if (expected.IsFullyKnown()) return expected;
    return Unimplemented(
        "TensorArray has size zero, but element shape {} is not fully defined. Currently only "
        "static shapes are supported when packing zero-size TensorArrays.",
        expected);
  }
  const Shape& first = pieces[0].shape();
  if (!expected.IsCompatibleWith(first)) {
    return InvalidArgument(
        "TensorArray was passed element_shape {} which does not match the Tensor at index 0: {}",
        expected, first);
  }
  for (size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i].shape() == first) continue;
    return InvalidArgument(
        "TensorArray has inconsistent shapes.  Index 0 has shape: {} but index {} has shape: {}",
        first, i, pieces[i].shape());
  }
  return first;
}

// The shape of all pieces but for axis 0.
Result<Shape> CommonRest(const Shape& declared, const std::vector<Tensor>& pieces) {
  if (pieces.empty()) {
    if (declared.IsFullyKnown()) return declared;
    return Unimplemented(
        "TensorArray has size zero, but element_shape_except0 {} is not fully defined. Currently "
        "only static shapes are supported when concatenating zero-size TensorArrays.",
        declared);
  }
  Shape first;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Shape& shape = pieces[i].shape();
    if (shape.rank() == 0) {
      return InvalidArgument(
          "Concat saw a scalar shape at index {} but requires at least vectors.  Did you mean to "
          "call pack?",
          i);
    }
    const Shape rest = shape.Slice(1, shape.rank());
    if (i == 0) first = rest;
    if (!declared.IsCompatibleWith(rest)) {
      return InvalidArgument(
          "TensorArray was passed element_shape_except0 {} but index {} has (excepting dimension "
          "0) shape: {} which does not match.",
          declared, i, rest);
    }
    if (rest == first) continue;
    return InvalidArgument(
        "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: {} but "
        "index {} has (excepting dimension 0) shape: {}",
        first, i, rest);
  }
  return first;
}

std::vector<int32_t> FirstIndices(int64_t count) {
  std::vector<int32_t> indices(static_cast<size_t>(count));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

// ---- gradients ----

// TensorFlow names the array of gradients after the call that asks for them, so that two calls do
// not add into one array.
std::string GradientSource(const Gradients& g) {
  const Graph& graph = g.scope().graph();
  for (int i = 0; i < g.num_outputs(); ++i) {
    if (!g.has_dy(i)) continue;
    const std::string& name = graph.node(g.dy(i).ref().node).name;
    for (size_t begin = 0; begin < name.size();) {
      const size_t end = std::min(name.find('/', begin), name.size());
      const std::string part = name.substr(begin, end - begin);
      if (part.starts_with("gradients")) return part;
      begin = end + 1;
    }
  }
  return "gradients";
}

struct GradientArray {
  Expr handle;
  Expr flow;
};

// The gradients of the array behind input 0, and a flow that waits for them to be there.
GradientArray GradientsOf(const Gradients& g, const Expr& flow) {
  const Expr handle = Op("TensorArrayGradV3", g.input(0), flow, {{"source", GradientSource(g)}});
  if (!handle.valid()) return {};
  const Scope after = g.scope().After({handle.ref().node});
  const Expr waiting = after.Add("Identity", {flow});
  // The scope above ends here: its nodes go on in that of the gradients.
  return {handle, waiting.valid() ? Expr(&g.scope(), waiting.ref()) : Expr()};
}

}  // namespace

Result<std::unique_ptr<Kernel>> TensorArrayV3::MakeCpuKernel(const KernelRequest& request) {
  const auto& op = static_cast<const op_internal::Decoded<TensorArrayV3>*>(request.op.get())->op;
  return std::unique_ptr<Kernel>(std::make_unique<TensorArrayKernel>(op, request.node));
}

Result<std::array<Shape, 2>> TensorArrayGradV3::InferShape(const Shape&,
                                                           const Shape& flow_in) const {
  return std::array{Shape(), flow_in};
}

Status TensorArrayGradV3::ComputeCpu(CpuContext& context, const Tensor& handle,
                                     const Tensor& flow_in) const {
  return MakeGradient(context, handle, flow_in, source, Shape());
}

Result<std::array<Shape, 2>> TensorArrayGradWithShape::InferShape(
    const Shape&, const Shape& flow_in, const Integers& shape_to_prepend) const {
  TRY(CheckVector(shape_to_prepend.shape(), "shape_to_prepend"));
  TRY(shape_to_prepend.AsShape(/*allow_unknown=*/true));
  return std::array{Shape(), flow_in};
}

Status TensorArrayGradWithShape::ComputeCpu(CpuContext& context, const Tensor& handle,
                                            const Tensor& flow_in,
                                            const Integers& shape_to_prepend) const {
  TRY_ASSIGN(const Shape prefix, shape_to_prepend.AsShape());
  return MakeGradient(context, handle, flow_in, source, prefix);
}

Result<Shape> TensorArrayWriteV3::InferShape(const Shape&, const Shape& index, const Shape&,
                                             const Shape& flow_in) const {
  TRY(CheckScalar(index, "TensorArray index"));
  return flow_in;
}

void TensorArrayWriteV3::Gradient(Gradients& g) const {
  const Expr flow = g.dy();
  const auto [handle, waiting] = GradientsOf(g, flow);
  g.Set(2, Op("TensorArrayReadV3", handle, g.input(1), waiting, {{"dtype", g.input(2).dtype()}}));
  g.Set(3, flow);
}

Status TensorArrayWriteV3::ComputeCpu(CpuContext& context, const Tensor& handle, int32_t index,
                                      const Tensor& value, const Tensor& flow_in) const {
  TRY_ASSIGN(const std::shared_ptr<TensorArray> array,
             FindArrayToWrite(context, handle, value.dtype()));
  TRY_ASSIGN(Tensor kept, KeepInput(context, 2));
  TRY(array->Write(context, index, std::move(kept)));
  context.SetOutput(0, flow_in);
  return OkStatus();
}

Result<Shape> TensorArrayReadV3::InferShape(const Shape&, const Shape& index, const Shape&) const {
  TRY(CheckScalar(index, "TensorArray index"));
  return Shape::Unknown();
}

void TensorArrayReadV3::Gradient(Gradients& g) const {
  const auto [handle, waiting] = GradientsOf(g, g.input(2));
  g.Set(2, g.scope().Add("TensorArrayWriteV3", {handle, g.input(1), g.dy(), waiting}));
}

Status TensorArrayReadV3::ComputeCpu(CpuContext& context, const Tensor& handle, int32_t index,
                                     const Tensor&) const {
  TRY_ASSIGN(const std::shared_ptr<TensorArray> array, FindArrayToRead(context, handle, dtype));
  TRY_ASSIGN(std::vector<Tensor> values, array->ReadMany(context, std::span(&index, 1)));
  context.SetOutput(0, std::move(values[0]));
  return OkStatus();
}

Result<Shape> TensorArrayGatherV3::InferShape(const Shape&, const Shape& indices,
                                              const Shape&) const {
  TRY(CheckVector(indices, "indices"));
  if (!element_shape.has_rank() || element_shape.rank() >= Shape::kMaxRank) return Shape::Unknown();
  return Prepended(indices.has_rank() ? indices.dim(0) : Shape::kUnknownDim, element_shape);
}

void TensorArrayGatherV3::Gradient(Gradients& g) const {
  const auto [handle, waiting] = GradientsOf(g, g.input(2));
  g.Set(2, g.scope().Add("TensorArrayScatterV3", {handle, g.input(1), g.dy(), waiting}));
}

Status TensorArrayGatherV3::ComputeCpu(CpuContext& context, const Tensor& handle,
                                       const Tensor& indices, const Tensor&) const {
  TRY_ASSIGN(const std::shared_ptr<TensorArray> array, FindArrayToRead(context, handle, dtype));
  TRY_ASSIGN(const std::vector<Tensor> pieces, array->ReadMany(context, indices.values<int32_t>()));
  TRY_ASSIGN(const Shape shape, CommonShape(*array, element_shape, pieces));
  TRY_ASSIGN(Tensor value, StackPieces(context, dtype, shape, static_cast<int64_t>(pieces.size()),
                                       [&](int64_t i) -> const Tensor& { return pieces[i]; }));
  context.SetOutput(0, std::move(value));
  return OkStatus();
}

Result<Shape> TensorArrayScatterV3::InferShape(const Shape&, const Shape& indices,
                                               const Shape& value, const Shape& flow_in) const {
  TRY(CheckVector(indices, "indices"));
  TRY(CheckRankAtLeast(value, 1, "Input value for unpack"));
  if (indices.has_rank() && value.has_rank() && indices.dim(0) >= 0 && value.dim(0) >= 0 &&
      indices.dim(0) != value.dim(0)) {
    return InvalidArgument("Expected len(indices) == values.shape[0], but saw: {} vs. {}",
                           indices.dim(0), value.dim(0));
  }
  return flow_in;
}

void TensorArrayScatterV3::Gradient(Gradients& g) const {
  const Expr flow = g.dy();
  const auto [handle, waiting] = GradientsOf(g, flow);
  g.Set(2, Op("TensorArrayGatherV3", handle, g.input(1), waiting, {{"dtype", g.input(2).dtype()}}));
  g.Set(3, flow);
}

Status TensorArrayScatterV3::ComputeCpu(CpuContext& context, const Tensor& handle,
                                        const Tensor& indices, const Tensor& value,
                                        const Tensor& flow_in) const {
  TRY_ASSIGN(const std::shared_ptr<TensorArray> array,
             FindArrayToWrite(context, handle, value.dtype()));
  TRY_ASSIGN(const Tensor kept, KeepInput(context, 2));
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < indices.num_elements(); ++i) rows.push_back(RowOf(kept, i));
  TRY(array->WriteMany(context, indices.values<int32_t>(), std::move(rows)));
  context.SetOutput(0, flow_in);
  return OkStatus();
}

Result<std::array<Shape, 2>> TensorArrayConcatV3::InferShape(const Shape&, const Shape&) const {
  const Shape lengths{Shape::kUnknownDim};
  const Shape& rest = element_shape_except0;
  if (!rest.has_rank() || rest.rank() >= Shape::kMaxRank) {
    return std::array{Shape::Unknown(), lengths};
  }
  return std::array{Prepended(Shape::kUnknownDim, rest), lengths};
}

void TensorArrayConcatV3::Gradient(Gradients& g) const {
  const auto [handle, waiting] = GradientsOf(g, g.input(1));
  g.Set(1, g.scope().Add("TensorArraySplitV3", {handle, g.dy(), g.output(1), waiting}));
}

Status TensorArrayConcatV3::ComputeCpu(CpuContext& context, const Tensor& handle,
                                       const Tensor&) const {
  TRY_ASSIGN(const std::shared_ptr<TensorArray> array, FindArrayToRead(context, handle, dtype));
  TRY_ASSIGN(const std::vector<Tensor> pieces, array->ReadAll(context));
  const int64_t size = static_cast<int64_t>(pieces.size());
  TRY_ASSIGN(const Shape rest, CommonRest(element_shape_except0, pieces));
  TRY_ASSIGN(Tensor lengths, context.Allocate(DType::kInt64, Shape{size}));
  for (int64_t i = 0; i < size; ++i) {
    lengths.mutable_data<int64_t>()[i] = pieces[i].shape().dim(0);
  }
  TRY_ASSIGN(Tensor value, ConcatPieces(context, dtype, rest, lengths.values<int64_t>(),
                                        [&](int64_t i) -> const Tensor& { return pieces[i]; }));
  context.SetOutput(0, std::move(value));
  context.SetOutput(1, std::move(lengths));
  return OkStatus();
}

Result<Shape> TensorArraySplitV3::InferShape(const Shape&, const Shape& value, const Shape& lengths,
                                             const Shape& flow_in) const {
  TRY(CheckRankAtLeast(value, 1, "value"));
  TRY(CheckVector(lengths, "lengths"));
  return flow_in;
}

void TensorArraySplitV3::Gradient(Gradients& g) const {
  const Expr flow = g.dy();
  const auto [handle, waiting] = GradientsOf(g, flow);
  g.Set(1, Op("TensorArrayConcatV3", handle, waiting, {{"dtype", g.input(1).dtype()}}));
  g.Set(3, flow);
}

Status TensorArraySplitV3::ComputeCpu(CpuContext& context, const Tensor& handle,
                                      const Tensor& value, const Tensor& lengths,
                                      const Tensor& flow_in) const {
  TRY_ASSIGN(const std::shared_ptr<TensorArray> array,
             FindArrayToWrite(context, handle, value.dtype()));
  const std::span<const int64_t> cuts = lengths.values<int64_t>();
  TRY(CheckLengths(cuts, value.shape()));
  const int64_t count = static_cast<int64_t>(cuts.size());
  if (count > INT32_MAX) return InvalidArgument("at most 2^31 - 1 lengths may come, got {}", count);
  TRY(array->CheckCount(count));
  TRY_ASSIGN(const Tensor kept, KeepInput(context, 1));
  std::vector<Tensor> pieces;
  int64_t at = 0;
  for (const int64_t length : cuts) {
    pieces.push_back(kept.Rows(at, at + length));
    at += length;
  }
  TRY(array->WriteMany(context, FirstIndices(count), std::move(pieces)));
  context.SetOutput(0, flow_in);
  return OkStatus();
}

Status TensorArraySizeV3::ComputeCpu(CpuContext& context, const Tensor& handle, const Tensor&,
                                     std::span<int32_t> size) const {
  TRY_ASSIGN(const std::shared_ptr<TensorArray> array, FindArray(context, handle));
  TRY_ASSIGN(const int64_t count, array->Size());
  size[0] = static_cast<int32_t>(count);  // indices are int32: it fits
  return OkStatus();
}

Status TensorArrayCloseV3::ComputeCpu(CpuContext& context, const Tensor& handle) const {
  TRY_ASSIGN(const std::shared_ptr<TensorArray> array, FindArray(context, handle));
  array->Close();
  return OkStatus();
}

void RegisterTensorArray(Registrar& registrar) {
  registrar
      .AddAll<TensorArrayV3, TensorArrayGradV3, TensorArrayGradWithShape, TensorArrayWriteV3,
              TensorArrayReadV3, TensorArrayGatherV3, TensorArrayScatterV3, TensorArrayConcatV3,
              TensorArraySplitV3, TensorArraySizeV3, TensorArrayCloseV3>();
}

}  // namespace penstock::ops
