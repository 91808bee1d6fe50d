#include "penstock/core/check.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/op_kernel.h"

// One function a family, called in turn: registration is explicit, since a linker drops static
// initialisers of a static archive. They are declared here alone, so that a new family does not
// compile the others again.

// clang-format off
#define PENSTOCK_ELEMENTWISE_FAMILIES(F) \
  F(MathUnary) \
  F(MathFunctions) \
  F(MathBinary) \
  F(MathGradients) \
  F(Division) \
  F(Comparison) \
  F(Logical) \
  F(Activation) \
  F(Complex) \
  F(Special) \
  F(Bessel) \
  F(Select)
#define PENSTOCK_FAMILIES(F) \
  F(Cast) \
  F(AddN) \
  F(Dataflow) \
  F(Fused) \
  F(Variables) \
  F(ResourceVariables) \
  F(Reductions) \
  F(ArgMax) \
  F(Cumulative) \
  F(MatMul) \
  F(Segment) \
  F(Reshape) \
  F(Assertions) \
  F(BroadcastOps) \
  F(Fill) \
  F(Transpose) \
  F(Slice) \
  F(Concat) \
  F(Split) \
  F(Gather) \
  F(ScatterNd) \
  F(Pad) \
  F(MatrixDiag) \
  F(Einsum) \
  F(BandDiag) \
  F(Cross) \
  F(MatrixSolve) \
  F(Spectral) \
  F(Fft) \
  F(Tridiagonal) \
  F(ControlFlow) \
  F(SendRecv) \
  F(QueueMakers) \
  F(QueueOps) \
  F(Barrier) \
  F(Stage) \
  F(MapStage) \
  F(StateScatter) \
  F(StateSlice) \
  F(ResourceGather) \
  F(VariableLists) \
  F(Accumulators) \
  F(SparseAccumulators) \
  F(Mutexes) \
  F(TensorArray) \
  F(Stacks) \
  F(TensorList) \
  F(TensorListJoin) \
  F(TensorListConcat) \
  F(TableMakers) \
  F(TableLookup) \
  F(Functional) \
  F(Optional) \
  F(Ordering) \
  F(EditDistance) \
  F(Ragged) \
  F(SparseCross) \
  F(Sets) \
  F(TopK) \
  F(BiasAdd) \
  F(Softmax) \
  F(RandomFill) \
  F(RandomDraws) \
  F(Resize) \
  F(ScaleAndTranslate) \
  F(CropAndResize) \
  F(ProjectiveTransform) \
  F(SpaceBatch) \
  F(DynamicStitch) \
  F(Unique) \
  F(SparseToDense) \
  F(Conv) \
  F(RandomGenerator) \
  F(RandomStreamState) \
  F(Candidates) \
  F(ParameterizedNormal) \
  F(SpaceToDepth) \
  F(Patches) \
  F(Colour) \
  F(NonMaxSuppression) \
  F(DrawBoxes) \
  F(Glimpse) \
  F(DistortedBox) \
  F(DecodeImage) \
  F(EncodeImage) \
  F(Wav) \
  F(Spectrum) \
  F(SparseSegment) \
  F(SparseMatMul) \
  F(PyFunc) \
  F(Checkpoint) \
  F(DatasetSources) \
  F(DatasetTransforms) \
  F(DatasetMaps) \
  F(DatasetInterleaves) \
  F(DatasetBatches) \
  F(DatasetShuffles) \
  F(DatasetFiles) \
  F(Iterators) \
  F(Dilation2D) \
  F(Pool) \
  F(PoolGradients) \
  F(PoolArgmax) \
  F(PoolPlaces) \
  F(Lrn) \
  F(InTopK) \
  F(BatchNorm) \
  F(BatchNormGrad) \
  F(TrainingUpdates) \
  F(FakeQuant) \
  F(Quantize) \
  F(QuantizeRoundTrip) \
  F(SparseLayout) \
  F(EmptyRows) \
  F(SparseUnion) \
  F(SparseDense) \
  F(SparseReduce) \
  F(FusedConv) \
  F(FusedMatMul) \
  F(GatedMatMul) \
  F(Roll) \
  F(Counting) \
  F(QuantizedProducts) \
  F(TextTransform) \
  F(TextJoin) \
  F(TextSplit) \
  F(TextNumbers) \
  F(TextBytes) \
  F(AsString) \
  F(HashBuckets) \
  F(Regex) \
  F(Unicode) \
  F(Examples) \
  F(Serialize) \
  F(Csv) \
  F(Summaries) \
  F(Lstm) \
  F(Gru) \
  F(CtcLoss) \
  F(CtcDecoder) \
  F(Files) \
  F(Readers) \
  F(TableFiles) \
  F(LayerNorm) \
  F(Sequences) \
  // each line above ends in a backslash
// clang-format on

namespace penstock::ops {
#define DECLARE(Family) void Register##Family(Registrar& registrar, ElementwiseTable& table);
PENSTOCK_ELEMENTWISE_FAMILIES(DECLARE)
#undef DECLARE
#define DECLARE(Family) void Register##Family(Registrar& registrar);
PENSTOCK_FAMILIES(DECLARE)
#undef DECLARE
}  // namespace penstock::ops

namespace penstock {
namespace {

struct Library {
  OpRegistry ops;
  KernelRegistry kernels;
  ElementwiseTable elementwise;

  Library() {
    Registrar registrar(&ops, &kernels);
#define CALL(Family) ops::Register##Family(registrar, elementwise);
    PENSTOCK_ELEMENTWISE_FAMILIES(CALL)
#undef CALL
#define CALL(Family) ops::Register##Family(registrar);
    PENSTOCK_FAMILIES(CALL)
#undef CALL
    CHECK(registrar.status().ok()) << registrar.status().ToString();
  }
};

const Library& StandardLibrary() {
  static const Library* const library = new Library;
  return *library;
}

}  // namespace

const OpRegistry& StandardOps() { return StandardLibrary().ops; }
const KernelRegistry& StandardKernels() { return StandardLibrary().kernels; }
const ElementwiseTable& StandardElementwise() { return StandardLibrary().elementwise; }

}  // namespace penstock
