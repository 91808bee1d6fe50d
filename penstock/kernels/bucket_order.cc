#include "penstock/kernels/bucket_order.h"

#include <algorithm>

namespace penstock::kernels {

void OrderByBucket(const int64_t* buckets, int64_t n, int64_t num_buckets, int64_t* starts,
                   int64_t* order) {
  // Counts one place further on than they belong, so that after the second pass, which moves each
  // start to its end, every start is where it should be.
  std::fill_n(starts, num_buckets + 1, 0);
  for (int64_t i = 0; i < n; ++i) {
    if (buckets[i] >= 0 && buckets[i] + 2 <= num_buckets) ++starts[buckets[i] + 2];
  }
  for (int64_t b = 2; b <= num_buckets; ++b) starts[b] += starts[b - 1];
  for (int64_t i = 0; i < n; ++i) {
    if (buckets[i] >= 0) order[starts[buckets[i] + 1]++] = i;
  }
}

}  // namespace penstock::kernels
