#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "penstock/train/loop/hook.h"

namespace penstock {

// Shows how far a run is: one line that changes in place on a terminal, a new line now and then
// elsewhere.
//
//   step 120/1000 [===>                ]  12%  loss 0.3450  4210 examples/s  ETA 0:32
struct Progress {
  enum class Terminal { kAsk, kYes, kNo };

  double seconds_between_lines = 10;                      // off a terminal
  double seconds_between_updates = 0.1;                   // on one
  Terminal terminal = Terminal::kAsk;                     // kAsk: whether standard error is one
  std::function<void(std::string_view)> write = nullptr;  // null: to standard error
  std::function<double()> now = nullptr;  // seconds of any clock; null: a steady one
};
std::unique_ptr<Hook> MakeHook(const Progress& settings);

// "0:32", "1:05:10", "3d 4:00:00".
std::string FormatDuration(double seconds);

}  // namespace penstock
