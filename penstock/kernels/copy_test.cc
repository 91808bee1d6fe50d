#include "penstock/kernels/copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "penstock/core/thread_pool.h"

namespace penstock::kernels {
namespace {

// A copy of `rank` dimensions out of and into larger arrays, described in elements.
struct Case {
  std::vector<int64_t> dims, src_strides, dst_strides;
  int64_t src_first = 0, dst_first = 0;
  int64_t src_size = 0, dst_size = 0;

  // Calls visit(source, destination) with positions of elements.
  template <class F>
  void ForEach(F visit) const {
    std::vector<int64_t> index(dims.size());
    int64_t n = 1;
    for (const int64_t dim : dims) n *= dim;
    for (int64_t i = 0; i < n; ++i) {
      visit(src_first +
                std::inner_product(index.begin(), index.end(), src_strides.begin(), int64_t{0}),
            dst_first +
                std::inner_product(index.begin(), index.end(), dst_strides.begin(), int64_t{0}));
      for (size_t d = dims.size(); d-- > 0;) {
        if (++index[d] < dims[d]) break;
        index[d] = 0;
      }
    }
  }
};

// A source dimension is taken whole, in part, with a step, backwards, or repeated; the destination
// is a part of a dense array whose dimensions may be shuffled.
Case RandomCase(std::mt19937& random, int max_size) {
  const auto pick = [&](int64_t limit) { return static_cast<int64_t>(random() % limit); };
  const int rank = static_cast<int>(pick(9));
  Case x;
  std::vector<int64_t> src_dims, dst_dims, src_start, step;
  for (int d = 0; d < rank; ++d) {
    const int64_t size = pick(30) == 0 ? 0 : 1 + pick(rank > 4 ? 4 : max_size);
    const int64_t kind = pick(6);
    x.dims.push_back(size);
    step.push_back(kind < 2 ? 1 : kind == 2 ? 2 : kind == 3 ? -1 : kind == 4 ? -3 : 0);
    const int64_t reach = std::abs(step[d]) * std::max<int64_t>(size - 1, 0) + 1;
    const int64_t slack = pick(3) == 0 ? pick(3) : 0;
    src_dims.push_back(reach + slack);
    src_start.push_back(step[d] < 0 ? reach - 1 : 0);
    dst_dims.push_back(size + (pick(3) == 0 ? pick(3) : 0));
  }
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (pick(2) == 0) std::shuffle(order.begin(), order.end(), random);
  x.src_strides.resize(rank);
  x.dst_strides.resize(rank);
  x.src_size = x.dst_size = 1;
  for (int d = rank; d-- > 0; x.src_size *= src_dims[d]) {
    x.src_strides[d] = step[d] * x.src_size;
    x.src_first += src_start[d] * x.src_size;
  }
  for (int d = rank; d-- > 0; x.dst_size *= dst_dims[order[d]])
    x.dst_strides[order[d]] = x.dst_size;
  return x;
}

std::string Describe(const Case& x) {
  std::ostringstream text;
  for (size_t d = 0; d < x.dims.size(); ++d) {
    text << " " << x.dims[d] << "(" << x.src_strides[d] << " to " << x.dst_strides[d] << ")";
  }
  return text.str();
}

void ExpectCopied(const Case& x, int64_t bytes, const ParallelFor& each) {
  std::vector<uint8_t> src(x.src_size * bytes), want(x.dst_size * bytes, 0xee);
  for (size_t i = 0; i < src.size(); ++i) src[i] = static_cast<uint8_t>(i * 131 + (i >> 8));
  std::vector<uint8_t> got = want;
  x.ForEach(
      [&](int64_t from, int64_t to) { std::memcpy(&want[to * bytes], &src[from * bytes], bytes); });
  CopyStrided(src.data() + x.src_first * bytes, x.src_strides.data(),
              got.data() + x.dst_first * bytes, x.dst_strides.data(), x.dims.data(),
              static_cast<int>(x.dims.size()), bytes, each);
  EXPECT_EQ(got, want) << bytes << " bytes," << Describe(x);
}

TEST(CopyStrided, RandomShapesAndStrides) {
  ThreadPool pool(3);
  std::mt19937 random(1);
  for (int i = 0; i < 1500; ++i) {
    const Case x = RandomCase(random, i % 10 == 0 ? 90 : 12);
    if (x.src_size > 1 << 18 || x.dst_size > 1 << 18) continue;
    ExpectCopied(x, int64_t{1} << random() % 5, ParallelFor(&pool));
  }
}

TEST(CopyStrided, LargeRunsAndTransposesAreShared) {
  ThreadPool pool(3);
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    ExpectCopied({{70'001}, {1}, {1}, 0, 0, 70'001, 70'001}, bytes, ParallelFor(&pool));
    ExpectCopied({{50'001}, {-1}, {1}, 50'000, 0, 50'001, 50'001}, bytes, ParallelFor(&pool));
    ExpectCopied({{301, 203}, {1, 301}, {203, 1}, 0, 0, 301 * 203, 301 * 203}, bytes,
                 ParallelFor(&pool));
  }
  // Large enough to be written past the caches.
  ExpectCopied({{2048, 2064}, {1, 2048}, {2064, 1}, 0, 0, 2048 * 2064, 2048 * 2064}, 4,
               ParallelFor(&pool));
}

TEST(CopyStrided, Strings) {
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    const Case x = RandomCase(random, 8);
    if (x.src_size > 1 << 12 || x.dst_size > 1 << 12) continue;
    std::vector<std::string> src, want(x.dst_size, "old");
    for (int64_t k = 0; k < x.src_size; ++k)
      src.push_back("a string of some length " + std::to_string(k));
    auto got = want;
    x.ForEach([&](int64_t from, int64_t to) { want[to] = src[from]; });
    CopyStridedObjects(src.data() + x.src_first, x.src_strides.data(), got.data() + x.dst_first,
                       x.dst_strides.data(), x.dims.data(), static_cast<int>(x.dims.size()),
                       ParallelFor());
    EXPECT_EQ(got, want) << Describe(x);
  }
}

template <class Index>
void CheckGather(const GatherShape& s, int64_t bytes, std::mt19937& random) {
  ThreadPool pool(2);
  std::vector<uint8_t> params(s.batch * s.outer * s.gather_dim * s.inner * bytes);
  for (uint8_t& value : params) value = static_cast<uint8_t>(random());
  std::vector<Index> indices(s.batch * s.num_indices);
  for (Index& index : indices) index = static_cast<Index>(random() % s.gather_dim);
  const int64_t row = s.inner * bytes;
  std::vector<uint8_t> got(s.batch * s.outer * s.num_indices * row), want(got.size());
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t o = 0; o < s.outer; ++o) {
      for (int64_t i = 0; i < s.num_indices; ++i) {
        const int64_t block = b * s.outer + o;
        std::copy_n(params.begin() + (block * s.gather_dim + indices[b * s.num_indices + i]) * row,
                    row, want.begin() + (block * s.num_indices + i) * row);
      }
    }
  }
  EXPECT_EQ(GatherRows(params.data(), indices.data(), s, bytes, got.data(), ParallelFor(&pool)),
            -1);
  EXPECT_EQ(got, want);
  if (indices.size() < 3) return;
  indices[indices.size() - 1] = static_cast<Index>(s.gather_dim);
  indices[indices.size() / 2] = -1;
  EXPECT_EQ(GatherRows(params.data(), indices.data(), s, bytes, got.data(), ParallelFor(&pool)),
            static_cast<int64_t>(indices.size() / 2));
}

TEST(GatherRows, AgreesWithNaiveLoops) {
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) {
    const auto pick = [&](int64_t limit) { return static_cast<int64_t>(random() % limit); };
    const GatherShape shape{1 + pick(3), 1 + pick(4), 1 + pick(50), pick(400), 1 + pick(9)};
    const int64_t bytes = int64_t{1} << pick(5);
    CheckGather<int32_t>(shape, bytes, random);
    CheckGather<int64_t>(shape, bytes, random);
  }
  CheckGather<int32_t>({1, 1, 1000, 20'000, 16}, 4, random);
}

TEST(GatherRows, FromNothing) {
  const int32_t index = 0;
  float out = 7;
  EXPECT_EQ(GatherRows<int32_t>(nullptr, &index, {1, 1, 0, 1, 1}, 4, &out, ParallelFor()), 0);
  EXPECT_EQ(GatherRows<int32_t>(nullptr, nullptr, {1, 1, 5, 0, 1}, 4, &out, ParallelFor()), -1);
  EXPECT_EQ(out, 7);
}

TEST(GatherObjects, Strings) {
  const std::vector<std::string> params = {"zero", "zero'", "one", "one'", "two", "two'"};
  const std::vector<int64_t> indices = {2, 0};
  std::vector<std::string> out(4);
  EXPECT_EQ(
      GatherObjects(params.data(), indices.data(), {1, 1, 3, 2, 2}, out.data(), ParallelFor()), -1);
  EXPECT_EQ(out, (std::vector<std::string>{"two", "two'", "zero", "zero'"}));
}

}  // namespace
}  // namespace penstock::kernels
