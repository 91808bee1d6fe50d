#include "penstock/train/zoo/lstm_lm.h"

#include "penstock/client/array_ops.h"
#include "penstock/train/nn/dropout.h"

namespace penstock::zoo {

LstmLm::LstmLm(const LstmLmOptions& options, CallSite site)
    : options_(options),
      embedding_(options.vocabulary, options.units, {.table = nn::Uniform(-0.1f, 0.1f)}, site),
      head_(options.vocabulary, options.units, "softmax", site) {
  if (options.layers < 1)
    throw Error(InvalidArgument("LstmLm: at least one layer is needed, got {}", options.layers),
                site);
  for (int i = 0; i < options.layers; ++i) {
    layers_.push_back(
        nn::LSTM(options.units, {.sequences = true, .time_major = options.time_major}, site));
    dropouts_.push_back(nn::Dropout(options.dropout, {}, site));
  }
}

LstmLm::Result LstmLm::Hidden(const Output<int32_t>& ids, nn::Mode mode,
                              const std::vector<std::vector<Output<float>>>& state,
                              CallSite site) const {
  if (!state.empty() && state.size() != layers_.size())
    throw Error(InvalidArgument("LstmLm: expected the states of {} layers, got {}", layers_.size(),
                                state.size()),
                site);
  Output<float> x = embedding_(ids, mode, site);
  Result result;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const nn::Recurrent::Start start{.state =
                                         state.empty() ? std::vector<Output<float>>() : state[i]};
    const nn::Recurrent::Steps steps =
        layers_[i].Run(dropouts_[i](x, mode, site), start, mode, site);
    x = steps.output;
    result.state.push_back(steps.state);
  }
  result.rows = Reshape(x, {-1, options_.units}, site);
  return result;
}

}  // namespace penstock::zoo
