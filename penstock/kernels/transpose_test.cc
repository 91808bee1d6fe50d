#include "penstock/kernels/transpose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "penstock/core/thread_pool.h"

namespace penstock::kernels {
namespace {

struct Case {
  std::vector<int64_t> dims;
  std::vector<int> permutation;
};

std::vector<Case> Cases() {
  std::vector<Case> cases = {{{}, {}},
                             {{5}, {0}},
                             {{0, 3}, {1, 0}},
                             {{40, 70}, {1, 0}},
                             {{64, 64}, {1, 0}},
                             {{33, 129}, {1, 0}},
                             {{2, 3, 40, 50}, {0, 2, 3, 1}},
                             {{2, 40, 50, 3}, {0, 3, 1, 2}},
                             {{4, 5, 6, 64}, {0, 2, 1, 3}},
                             {{20, 30, 40}, {2, 1, 0}},
                             {{500, 2}, {1, 0}},
                             {{2, 500}, {1, 0}},
                             {{700, 300}, {1, 0}},
                             {{2, 3, 2, 3, 2, 3, 2, 3}, {7, 0, 6, 1, 5, 2, 4, 3}}};
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    const int rank = static_cast<int>(random() % 9);
    Case x;
    for (int d = 0; d < rank; ++d) x.dims.push_back(1 + random() % (rank > 4 ? 4 : 20));
    x.permutation.resize(rank);
    std::iota(x.permutation.begin(), x.permutation.end(), 0);
    std::shuffle(x.permutation.begin(), x.permutation.end(), random);
    cases.push_back(x);
  }
  return cases;
}

// For each element of the result in order, its position in the source.
std::vector<int64_t> Positions(const Case& x) {
  const size_t rank = x.dims.size();
  std::vector<int64_t> strides(rank, 1), index(rank);
  for (size_t d = rank; d-- > 1;) strides[d - 1] = strides[d] * x.dims[d];
  int64_t n = 1;
  for (const int64_t dim : x.dims) n *= dim;
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < n; ++i) {
    int64_t position = 0;
    for (size_t d = 0; d < rank; ++d) position += index[d] * strides[x.permutation[d]];
    positions.push_back(position);
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < x.dims[x.permutation[d]]) break;
      index[d] = 0;
    }
  }
  return positions;
}

TEST(Transpose, AgreesWithNaiveLoops) {
  ThreadPool pool(3);
  for (const Case& x : Cases()) {
    const std::vector<int64_t> positions = Positions(x);
    for (const int64_t bytes : {1, 2, 4, 8, 16}) {
      std::vector<uint8_t> in(positions.size() * bytes), want(in.size()), got(in.size());
      for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i * 37 + (i >> 8) * 11);
      for (size_t i = 0; i < positions.size(); ++i) {
        std::memcpy(&want[i * bytes], &in[positions[i] * bytes], bytes);
      }
      Transpose(in.data(), x.dims.data(), x.permutation.data(), static_cast<int>(x.dims.size()),
                bytes, got.data(), ParallelFor(&pool));
      EXPECT_EQ(got, want) << ::testing::PrintToString(x.dims) << " by "
                           << ::testing::PrintToString(x.permutation) << ", " << bytes << " bytes";
    }
  }
}

TEST(Transpose, Strings) {
  for (const Case& x : Cases()) {
    const std::vector<int64_t> positions = Positions(x);
    std::vector<std::string> in, want, got(positions.size());
    for (size_t i = 0; i < positions.size(); ++i) in.push_back(std::to_string(i));
    for (const int64_t position : positions) want.push_back(in[position]);
    TransposeObjects(in.data(), x.dims.data(), x.permutation.data(),
                     static_cast<int>(x.dims.size()), got.data(), ParallelFor());
    EXPECT_EQ(got, want);
  }
}

}  // namespace
}  // namespace penstock::kernels
