#pragma once

#include <cstdint>

namespace penstock::kernels {

// Sorts the items [0, n) by their bucket and leaves those of one bucket in order: the items of
// bucket b become order[starts[b]] to order[starts[b + 1]]. `starts` has num_buckets + 1 places;
// items of a negative bucket are left out. REQUIRES: buckets below num_buckets.
void OrderByBucket(const int64_t* buckets, int64_t n, int64_t num_buckets, int64_t* starts,
                   int64_t* order);

}  // namespace penstock::kernels
