#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "penstock/client/error.h"
#include "penstock/core/log.h"
#include "penstock/train/data/testing/temp_folder.h"

namespace penstock::testing_data {

// What `body` throws, or nothing.
inline std::string ErrorOf(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// A folder for files, and a log that nobody hears.
class DataTest : public testing::Test {
 protected:
  DataTest() {
    SetLogSink([](LogLevel, std::string_view) {});
  }
  ~DataTest() override { SetLogSink({}); }
  TempFolder folder;
};

}  // namespace penstock::testing_data
