#include "penstock/device/cpu/caching_allocator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "penstock/core/tensor.h"
#include "penstock/device/device.h"

namespace penstock {
namespace {

TEST(CachingAllocator, RoundsUpByLittle) {
  size_t last = 0;
  for (size_t bytes = 1; bytes < 100'000; bytes += 7) {
    const size_t rounded = CachingAllocator::RoundUp(bytes);
    EXPECT_GE(rounded, bytes);
    EXPECT_LE(rounded, std::max<size_t>(128, bytes + std::max<size_t>(64, bytes / 16)));
    EXPECT_GE(rounded, last);
    last = rounded;
  }
}

TEST(CachingAllocator, GivesBackTheSameBlockAndCounts) {
  CachingAllocator* allocator = CachingAllocator::New(0);
  void* block = allocator->Allocate(1000);
  std::memset(block, 1, 1000);
  EXPECT_EQ(allocator->stats().bytes_in_use, static_cast<int64_t>(CachingAllocator::RoundUp(1000)));
  allocator->Deallocate(block, 1000);
  EXPECT_EQ(allocator->stats().bytes_in_use, 0);
  EXPECT_GT(allocator->stats().bytes_cached, 0);
  EXPECT_EQ(allocator->Allocate(1001), block);
  allocator->Deallocate(block, 1001);
  allocator->Trim();
  EXPECT_EQ(allocator->stats().bytes_cached, 0);
  allocator->Retire();
}

TEST(CachingAllocator, RefusesWhatPassesTheLimit) {
  CachingAllocator* allocator = CachingAllocator::New(1 << 20);
  EXPECT_EQ(allocator->Allocate(2 << 20), nullptr);
  EXPECT_EQ(allocator->Allocate(SIZE_MAX), nullptr);
  void* half = allocator->Allocate(600 << 10);
  EXPECT_NE(half, nullptr);
  EXPECT_EQ(allocator->Allocate(600 << 10), nullptr);
  allocator->Deallocate(half, 600 << 10);
  EXPECT_EQ(allocator->stats().bytes_in_use, 0);
  allocator->Retire();
}

TEST(CachingAllocator, ATensorMayOutliveItsDevice) {
  Tensor tensor;
  {
    const auto device = MakeCpuDevice({.threads = 1});
    tensor = *Tensor::Make(device->allocator(), DType::kFloat, Shape{100});
    tensor.mutable_data<float>()[99] = 1;
  }
  EXPECT_EQ(tensor.data<float>()[99], 1);
}

TEST(CachingAllocatorConcurrency, ManyThreadsShareIt) {
  CachingAllocator* allocator = CachingAllocator::New(0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([=] {
      for (int i = 0; i < 2000; ++i) {
        const size_t bytes = 64 + static_cast<size_t>(i * 37 % 5000);
        auto* block = static_cast<char*>(allocator->Allocate(bytes));
        block[0] = block[bytes - 1] = static_cast<char>(t);
        EXPECT_EQ(block[0], static_cast<char>(t));
        allocator->Deallocate(block, bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allocator->stats().bytes_in_use, 0);
  allocator->Retire();
}

}  // namespace
}  // namespace penstock
