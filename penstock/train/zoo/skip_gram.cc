#include "penstock/train/zoo/skip_gram.h"

#include "penstock/client/array_ops.h"
#include "penstock/client/constant.h"
#include "penstock/client/operators.h"
#include "penstock/client/ops.h"

namespace penstock::zoo {
namespace {

// Rows of length 1.
Output<float> Unit(const Output<float>& rows) {
  return rows * Rsqrt(Sum(Square(rows), {-1}, /*keep_dims=*/true) + 1e-12f);
}

}  // namespace

SkipGram::SkipGram(const SkipGramOptions& options, CallSite site)
    : embedding_(options.vocabulary, options.units, {.table = nn::Uniform(-1, 1)}, site),
      head_(options.vocabulary, options.units, "nce", site),
      vocabulary_(options.vocabulary) {}

Output<float> SkipGram::Similarity(const Output<int32_t>& words, CallSite site) const {
  Graph& graph = words.graph();
  std::vector<int32_t> all(static_cast<size_t>(vocabulary_));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
  const Output<float> some = embedding_(words, nn::Mode::kInfer, site);
  const Output<float> table =
      embedding_(Constant(graph, Array<int32_t>(all), site), nn::Mode::kInfer, site);
  return MatMul(Unit(some), Unit(table), {.transpose_b = true}, site);
}

}  // namespace penstock::zoo
