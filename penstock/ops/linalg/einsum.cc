#include "penstock/ops/linalg/einsum.h"

#include <algorithm>
#include <array>
#include <vector>

#include "penstock/kernels/reduce.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/linalg/einsum_equation.h"
#include "penstock/ops/matmul.h"
#include "penstock/ops/strided_copy.h"

// Every equation becomes: take diagonals and sum what only one operand has; one batched matrix
// product; move its axes into the output's order and onto its diagonals.

namespace penstock::ops {
namespace {

bool Contains(const EinsumLabels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

EinsumLabels Joined(const EinsumLabels& a, const EinsumLabels& b, const EinsumLabels& c = {}) {
  EinsumLabels all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

// The labels in order of their first place, each once, that `keep` accepts.
template <class Keep>
EinsumLabels Select(const EinsumLabels& labels, Keep keep) {
  EinsumLabels chosen;
  for (const int label : labels) {
    if (!Contains(chosen, label) && keep(label)) chosen.push_back(label);
  }
  return chosen;
}

// A tensor whose axes are labelled. A label may repeat: then the diagonal is meant.
struct Operand {
  Tensor tensor;
  EinsumLabels labels;

  // How far a step along a label goes.
  int64_t StrideOf(int label) const {
    const auto strides = DenseStrides(tensor.shape().dims());
    int64_t sum = 0;
    for (size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] == label) sum += strides[i];
    }
    return sum;
  }
};

std::vector<int64_t> ExtentsOf(const EinsumLabels& labels, const EinsumExtents& extents) {
  std::vector<int64_t> dims;
  for (const int label : labels) dims.push_back(extents.of.at(label));
  return dims;
}

StridedPart PartOf(const Operand& operand, const EinsumLabels& order) {
  StridedPart part;
  for (const int label : order) part.strides.push_back(operand.StrideOf(label));
  return part;
}

// Drops the axes of an ellipsis that are broadcast: of extent 1, they say nothing.
Operand WithoutBroadcastAxes(const Tensor& tensor, const EinsumLabels& labels,
                             const EinsumExtents& extents) {
  Operand operand;
  Shape shape;
  for (int axis = 0; axis < tensor.shape().rank(); ++axis) {
    const int label = labels[static_cast<size_t>(axis)];
    if (tensor.shape()[axis] != extents.of.at(label)) continue;
    operand.labels.push_back(label);
    shape.Append(tensor.shape()[axis]);
  }
  operand.tensor = tensor.Reshaped(shape);
  return operand;
}

// The operand with its axes in this order, diagonals taken. Shares its memory where it can.
Result<Operand> Ordered(CpuContext& context, const Operand& operand, const EinsumLabels& order,
                        const EinsumExtents& extents) {
  if (operand.labels == order) return operand;
  const std::vector<int64_t> dims = ExtentsOf(order, extents);
  TRY_ASSIGN(const Shape shape, Shape::Make(dims));
  Operand result;
  result.labels = order;
  TRY_ASSIGN(result.tensor, context.Allocate(operand.tensor.dtype(), shape));
  CopyElements(operand.tensor, PartOf(operand, order), result.tensor, DensePart(dims), dims,
               context.parallel());
  return result;
}

// Sums over the labels that `keep` refuses.
template <class Keep>
Result<Operand> SummedOver(CpuContext& context, Operand operand, const EinsumExtents& extents,
                           Keep keep) {
  const EinsumLabels kept = Select(operand.labels, keep);
  const EinsumLabels summed = Select(operand.labels, [&](int label) { return !keep(label); });
  if (summed.empty()) return operand;
  if (kept.size() + summed.size() < operand.labels.size()) {
    TRY_ASSIGN(operand, Ordered(context, operand, Joined(kept, summed), extents));
  }
  const std::vector<int64_t> dims = ExtentsOf(operand.labels, extents);
  bool reduced[Shape::kMaxRank];
  for (size_t i = 0; i < dims.size(); ++i) reduced[i] = !keep(operand.labels[i]);
  const kernels::ReduceShape shape(dims.data(), reduced, static_cast<int>(dims.size()));
  Operand result;
  result.labels = kept;
  TRY_ASSIGN(result.tensor,
             context.Allocate(operand.tensor.dtype(), Shape(ExtentsOf(kept, extents))));
  TRY(ForDType(operand.tensor.dtype(), PlainNumbers(), [&]<class T>() {
    kernels::Reduce<T>(kernels::ReduceKind::kSum, operand.tensor.data<T>(), shape,
                       result.tensor.mutable_data<T>(), context.parallel());
    return OkStatus();
  }));
  return result;
}

// A factor of a batched product: batch and matrix, which may be stored transposed.
struct Factor {
  Tensor tensor;
  bool transposed = false;
};

// Rows and columns are groups of labels. A factor that is stored transposed already stays so.
Result<Factor> AsFactor(CpuContext& context, const Operand& operand, const EinsumLabels& batch,
                        const EinsumLabels& rows, const EinsumLabels& cols,
                        const EinsumExtents& extents) {
  Factor factor;
  const EinsumLabels flipped = Joined(batch, cols, rows);
  factor.transposed = operand.labels == flipped && operand.labels != Joined(batch, rows, cols);
  TRY_ASSIGN(
      const Operand ordered,
      Ordered(context, operand, factor.transposed ? flipped : Joined(batch, rows, cols), extents));
  Shape shape;
  auto append = [&](const EinsumLabels& labels) {
    int64_t size = 1;
    for (const int label : labels) size *= extents.of.at(label);
    shape.Append(size);
  };
  append(batch);
  append(factor.transposed ? cols : rows);
  append(factor.transposed ? rows : cols);
  factor.tensor = ordered.tensor.Reshaped(shape);
  return factor;
}

// Moves a result onto the output, whose labels may repeat.
void WriteOutput(CpuContext& context, const Operand& result, const EinsumLabels& labels,
                 const EinsumExtents& extents, Tensor& output) {
  const Operand target{output, labels};
  const EinsumLabels order = Select(labels, [](int) { return true; });
  if (order.size() < labels.size()) ZeroElements(output, context.parallel());
  CopyElements(result.tensor, PartOf(result, order), output, PartOf(target, order),
               ExtentsOf(order, extents), context.parallel());
}

Status MultiplyOperands(CpuContext& context, Operand left, Operand right,
                        const EinsumLabels& labels, const EinsumExtents& extents, Tensor& output) {
  const EinsumLabels batch = Select(labels, [&](int label) {
    return Contains(left.labels, label) && Contains(right.labels, label);
  });
  auto only_in = [&](const Operand& operand, const Operand& other) {
    return Select(labels, [&](int label) {
      return Contains(operand.labels, label) && !Contains(other.labels, label);
    });
  };
  EinsumLabels rows = only_in(left, right), cols = only_in(right, left);
  if (labels == Joined(batch, cols, rows)) {  // the product comes out in order
    std::swap(left, right);
    std::swap(rows, cols);
  }
  const EinsumLabels inner =
      Select(left.labels, [&](int label) { return !Contains(labels, label); });
  TRY_ASSIGN(const Factor a, AsFactor(context, left, batch, rows, inner, extents));
  TRY_ASSIGN(const Factor b, AsFactor(context, right, batch, inner, cols, extents));
  const Shape shape{a.tensor.shape()[0], a.tensor.shape()[a.transposed ? 2 : 1],
                    b.tensor.shape()[b.transposed ? 1 : 2]};
  const EinsumLabels product_labels = Joined(batch, rows, cols);
  if (labels == product_labels) {
    Tensor product = output.Reshaped(shape);
    return MultiplyMatrices(context, a.tensor, b.tensor, a.transposed, b.transposed, product);
  }
  TRY_ASSIGN(Tensor product, context.Allocate(output.dtype(), shape));
  TRY(MultiplyMatrices(context, a.tensor, b.tensor, a.transposed, b.transposed, product));
  const Operand result{product.Reshaped(Shape(ExtentsOf(product_labels, extents))), product_labels};
  WriteOutput(context, result, labels, extents, output);
  return OkStatus();
}

// ---- gradients ----

// The vector of extents [begin, end) of x; `end` counts from the end, 0 being all of it.
Expr ExtentsOfAxes(const Expr& x, int begin, int end) {
  const Scope& s = x.scope();
  return s.Add("StridedSlice",
               {ShapeOf(x), IntVector(s, {begin}), IntVector(s, {end}), IntVector(s, {1})},
               {{"end_mask", end == 0 ? 1 : 0}});
}

Expr ExtentsOfEllipsis(const Expr& x, const EinsumTerm& term) {
  if (!term.has_ellipsis()) return IntVector(x.scope(), {});
  return ExtentsOfAxes(x, term.before(), -term.after());
}

// Repeats `gradient`, whose axes `kept` names, along the labels of `input` that are summed up
// without a trace in the output.
Expr RepeatAlong(const std::string& summed, const EinsumTerm& kept, const Expr& gradient,
                 const EinsumTerm& term, const Expr& input) {
  const Scope& s = input.scope();
  std::vector<Expr> extents;
  for (const char label : summed) {
    const int axis = term.AxisOf(label);
    extents.push_back(ExtentsOfAxes(input, axis, axis + 1));
  }
  extents.push_back(ShapeOf(gradient));
  extents.push_back(IntScalar(s, 0));
  const Expr shape = s.Add("ConcatV2", extents, {{"N", static_cast<int64_t>(extents.size()) - 1}});
  const EinsumTerm repeated(summed + kept.subscripts());
  return s.Add("Einsum", {Op("BroadcastTo", gradient, shape)},
               {{"equation", repeated.ToString() + "->" + term.ToString()}, {"N", 1}});
}

// Sums over the axes of the ellipsis along which input i was broadcast.
Expr SumBroadcast(const Expr& gradient, const EinsumTerm& term, const Expr& input,
                  const EinsumTerm& other_term, const Expr& other) {
  const int offset = term.has_ellipsis() ? term.before() : 0;
  const Expr axes = Op("BroadcastGradientArgs", ExtentsOfEllipsis(input, term),
                       ExtentsOfEllipsis(other, other_term));
  return ReshapeLike(Op("Sum", gradient, axes + static_cast<double>(offset)), input);
}

Expr InputGradient(const EinsumEquation& equation, size_t i, const Gradients& g) {
  const EinsumTerm& term = equation.inputs[i];
  const EinsumTerm* other = equation.inputs.size() == 2 ? &equation.inputs[1 - i] : nullptr;
  const Expr input = g.input(static_cast<int>(i));
  const Scope& s = g.scope();
  std::string kept, summed;
  for (const char label : term.subscripts()) {
    if (label == EinsumTerm::kEllipsis || equation.output.Has(label) ||
        (other != nullptr && other->Has(label))) {
      kept += label;
    } else if (summed.find(label) == std::string::npos) {
      summed += label;
    }
  }
  const bool broadcasts = other != nullptr && other->has_ellipsis();
  if (broadcasts && !term.has_ellipsis()) kept.insert(kept.begin(), EinsumTerm::kEllipsis);
  const EinsumTerm kept_term(kept);
  std::vector<Expr> factors{g.dy()};
  std::string text = equation.output.ToString();
  if (other != nullptr) {
    factors.push_back(Conj(g.input(1 - static_cast<int>(i))));
    text += "," + other->ToString();
  }
  Expr gradient = s.Add("Einsum", factors,
                        {{"equation", text + "->" + kept_term.ToString()},
                         {"N", static_cast<int64_t>(factors.size())}});
  if (!summed.empty()) {
    // An ellipsis that only broadcasting brought in stays in front until it is summed.
    EinsumTerm whole = term;
    if (broadcasts && !term.has_ellipsis()) {
      whole = EinsumTerm(EinsumTerm::kEllipsis + term.subscripts());
    }
    gradient = RepeatAlong(summed, kept_term, gradient, whole, input);
  }
  if (!broadcasts) return gradient;
  return SumBroadcast(gradient, term, input, *other, g.input(1 - static_cast<int>(i)));
}

}  // namespace

Status Einsum::CheckAttrs() const { return EinsumEquation::Parse(equation).status(); }

Result<Shape> Einsum::InferShape(std::span<const Known> inputs) const {
  TRY_ASSIGN(const EinsumEquation parsed, EinsumEquation::Parse(equation));
  std::vector<const Shape*> shapes;
  for (const Known& input : inputs) shapes.push_back(input.shape);
  TRY_ASSIGN(const EinsumExtents extents, EinsumExtents::Make(parsed, shapes));
  if (extents.ellipsis_rank < 0 && parsed.output.has_ellipsis()) return Shape::Unknown();
  return Shape::Make(ExtentsOf(parsed.output.Labels(std::max(extents.ellipsis_rank, 0)), extents));
}

void Einsum::Gradient(Gradients& g) const {
  const auto parsed = EinsumEquation::Parse(equation);
  if (!parsed.ok()) return g.scope().Fail(parsed.status());
  for (size_t i = 0; i < parsed->inputs.size(); ++i) {
    g.Set(static_cast<int>(i), InputGradient(*parsed, i, g));
  }
}

Status Einsum::ComputeCpu(CpuContext& context, std::span<Tensor* const> inputs,
                          Tensor& output) const {
  TRY_ASSIGN(const EinsumEquation parsed, EinsumEquation::Parse(equation));
  std::vector<const Shape*> shapes;
  for (const Tensor* input : inputs) shapes.push_back(&input->shape());
  TRY_ASSIGN(const EinsumExtents extents, EinsumExtents::Make(parsed, shapes));
  const EinsumLabels labels = parsed.output.Labels(extents.ellipsis_rank);
  std::array<Operand, 2> operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const EinsumTerm& term = parsed.inputs[i];
    const int ellipsis_rank = shapes[i]->rank() - term.num_letters();
    operands[i] = WithoutBroadcastAxes(*inputs[i], term.Labels(ellipsis_rank), extents);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const EinsumLabels others = inputs.size() == 2 ? operands[1 - i].labels : EinsumLabels();
    TRY_ASSIGN(operands[i], SummedOver(context, std::move(operands[i]), extents, [&](int label) {
                 return Contains(labels, label) || Contains(others, label);
               }));
  }
  if (inputs.size() == 1) {
    WriteOutput(context, operands[0], labels, extents, output);
    return OkStatus();
  }
  return MultiplyOperands(context, std::move(operands[0]), std::move(operands[1]), labels, extents,
                          output);
}

void RegisterEinsum(Registrar& registrar) { registrar.Add<Einsum>(); }

}  // namespace penstock::ops
