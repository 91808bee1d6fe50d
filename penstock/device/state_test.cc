#include "penstock/device/state.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

std::shared_ptr<StateVariable> Put(StateRegistry& registry, std::string_view container,
                                   std::string_view name, int64_t elements) {
  auto made = registry.FindOrMake<StateVariable>(
      container, name, [] { return std::make_shared<StateVariable>(DType::kFloat); });
  EXPECT_TRUE(made.ok());
  (*made)->Write(Tensor(DType::kFloat, Shape{elements}));
  return *made;
}

TEST(StateRegistryTest, CountsMemoryByContainer) {
  StateRegistry registry;
  EXPECT_TRUE(registry.MemoryByContainer().empty());
  Put(registry, "", "x", 1);
  Put(registry, "localhost", "y", 2);
  Put(registry, "other", "x", 4);
  EXPECT_EQ(registry.MemoryByContainer(),
            (std::map<std::string, size_t>{{"localhost", 12}, {"other", 16}}));
  registry.Clear("other");
  EXPECT_EQ(registry.MemoryByContainer(), (std::map<std::string, size_t>{{"localhost", 12}}));
}

TEST(StateRegistryTest, WhatWasDroppedIsMarkedAndKeptByItsHolders) {
  StateRegistry registry;
  const auto cleared = Put(registry, "", "cleared", 1);
  const auto removed = Put(registry, "c", "removed", 1);
  const auto kept = Put(registry, "c", "kept", 1);
  const uint64_t generation = registry.generation();
  registry.Clear("");
  EXPECT_TRUE(registry.Remove("c", "removed").ok());
  EXPECT_EQ(registry.Remove("c", "removed").code(), Code::kNotFound);
  EXPECT_NE(registry.generation(), generation);
  EXPECT_TRUE(cleared->dropped());
  EXPECT_TRUE(removed->dropped());
  EXPECT_FALSE(kept->dropped());
  EXPECT_EQ(cleared->Read().num_elements(), 1);
  EXPECT_FALSE(Put(registry, "", "cleared", 2)->dropped());
}

// Resources may look at their registry when they go.
TEST(StateRegistryTest, ResourcesAreDestroyedWithoutTheLock) {
  struct Curious final : Resource {
    explicit Curious(StateRegistry* r) : registry(r) {}
    ~Curious() override { EXPECT_EQ(registry->Find("", "curious"), nullptr); }
    std::string DebugString() const override { return "curious"; }
    StateRegistry* registry;
  };
  StateRegistry registry;
  const auto put = [&] {
    ASSERT_TRUE(registry
                    .FindOrMake<Curious>("", "curious",
                                         [&] { return std::make_shared<Curious>(&registry); })
                    .ok());
  };
  put();
  registry.Clear("");
  put();
  EXPECT_TRUE(registry.Remove("", "curious").ok());
}

}  // namespace
}  // namespace penstock
