#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "penstock/client/session.h"
#include "penstock/train/loop/feeds.h"

namespace penstock {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// What a run needs, besides its variables, to go on where it was. A checkpoint keeps it as
//
//   training/position        int64 [3]  steps done, epoch, batches read of it
//   training/random_streams  string     where the nodes that draw random numbers stand
struct TrainingPlace {
  int64_t step = 0;
  FeedPosition position = {};
  std::string random_streams = {};

  NamedTensors ToTensors() const;
  // InvalidArgument when one is not as above, NotFound when one is missing.
  static Result<TrainingPlace> FromTensors(const NamedTensors& tensors);
  // The names above.
  static std::vector<std::string> Names();
};

// The random streams of a session as a value.
// Threads: as the session.
class RandomStreamState {
 public:
  // Adds the nodes that read and write them to the graph.
  explicit RandomStreamState(Graph& graph);

  std::string Take(Session& session) const;
  // Streams that were first drawn from after the state was taken are left alone.
  void Put(Session& session, const std::string& state) const;

 private:
  Output<std::string> read_;
  Output<std::string> fed_;
  Operation write_;
};

}  // namespace penstock
