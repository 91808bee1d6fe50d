#include "penstock/io/crc32c.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

namespace penstock::io {
namespace {

// Known values: the check value of CRC-32C, and the examples of RFC 3720, B.4.
TEST(Crc32c, KnownValues) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string up(32, '\0');
  std::iota(up.begin(), up.end(), '\0');
  EXPECT_EQ(Crc32c(up), 0x46dd794eu);
  EXPECT_EQ(Crc32c(std::string(up.rbegin(), up.rend())), 0x113fdb5cu);
}

TEST(Crc32c, ContinuesAtAnySplit) {
  const std::string text = "eight bytes at a time, then the rest, at any alignment";
  const uint32_t whole = Crc32c(text);
  for (size_t i = 0; i <= text.size(); ++i) {
    EXPECT_EQ(Crc32c(std::string_view(text).substr(i), Crc32c(std::string_view(text).substr(0, i))),
              whole)
        << i;
  }
}

TEST(Crc32c, Mask) {
  EXPECT_EQ(MaskCrc(0), 0xa282ead8u);
  // 0xe3069283 turned right by 15 bits is 0x2507c60d.
  EXPECT_EQ(MaskedCrc32c("123456789"), 0x2507c60du + 0xa282ead8u);
}

}  // namespace
}  // namespace penstock::io
