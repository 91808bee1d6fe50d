#include "penstock/train/zoo/class_head.h"

#include <cmath>

#include "penstock/train/nn/body.h"

namespace penstock::zoo {
namespace {

class HeadBody final : public nn::Body {
 public:
  HeadBody(int64_t classes, int64_t units, const std::string& name, CallSite site)
      : Body("ClassHead", "softmax", name, site), classes_(classes), units_(units) {
    RequirePositive("the number of classes", classes);
    RequirePositive("the number of units", units);
  }

  // The logits of x; without x the variables alone. Their handles are further results.
  Expr Apply(nn::Context& context, const std::vector<Expr>& inputs) override {
    const float spread = static_cast<float>(1 / std::sqrt(double(units_)));
    const NodeId weights =
        context.Handle("weights", {classes_, units_}, nn::TruncatedNormal(0, spread));
    const NodeId biases = context.Handle("biases", {classes_}, nn::Zeros());
    for (const NodeId handle : {weights, biases})
      context.AddResult(Expr(&context.scope(), {handle, 0}));
    if (!inputs[0].valid()) return context.Read(biases);
    context.RequireRank(inputs[0], 2, "[rows, units]");
    const Expr product = Op("MatMul", inputs[0], context.Read(weights), {{"transpose_b", true}});
    return Op("BiasAdd", product, context.Read(biases));
  }

 private:
  int64_t classes_, units_;
};

}  // namespace

ClassHead::ClassHead(int64_t classes, int64_t units, std::string name, CallSite site)
    : Layer(std::make_shared<HeadBody>(classes, units, name, site)) {}

ClassHead::Variables ClassHead::VariablesIn(Graph& graph, CallSite site) const {
  const std::vector<OutputRef> results =
      nn::RunBody(*body(), graph, {OutputRef{}}, nn::Mode::kInfer, site, /*nested=*/false);
  return {Variable<float>::Of(graph, results[1].node, site),
          Variable<float>::Of(graph, results[2].node, site)};
}

}  // namespace penstock::zoo
