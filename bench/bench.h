#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::bench {

struct Options {
  int threads = 2;
  int batch = 16;
  std::string device = "cpu";
  std::string trace;  // where to write the trace of a step of the cases that train; empty: nowhere
};

// One measured figure. A unit that ends in "/s" is better when higher, any other when lower.
struct Figure {
  double value = 0;
  std::string unit;
};

struct Case {
  std::string name;
  std::string what;
  std::function<Figure(const Options&)> run;
};

// The median time of `steps` calls in milliseconds, after `warm` that do not count.
double MedianMs(const std::function<void()>& call, int steps, int warm);

// The cases, in the order they are run. One function a file.
void AddExecutorCases(std::vector<Case>& cases);
void AddKernelCases(std::vector<Case>& cases);
void AddCompileCases(std::vector<Case>& cases);
void AddFlowCases(std::vector<Case>& cases);
void AddQueueCases(std::vector<Case>& cases);
void AddInputCases(std::vector<Case>& cases);
void AddStateCases(std::vector<Case>& cases);
void AddArrayCases(std::vector<Case>& cases);
void AddFunctionCases(std::vector<Case>& cases);
void AddRandomCases(std::vector<Case>& cases);
void AddConvCases(std::vector<Case>& cases);
void AddNnCases(std::vector<Case>& cases);
void AddCheckpointCases(std::vector<Case>& cases);
void AddTrainCases(std::vector<Case>& cases);
void AddTrainLstmCases(std::vector<Case>& cases);

}  // namespace penstock::bench
