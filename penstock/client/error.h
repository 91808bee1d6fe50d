#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "penstock/core/status.h"
#include "penstock/graph/call_site.h"

namespace penstock {

// What the typed API throws: a Status, once, at the user's line.
class Error : public std::runtime_error {
 public:
  explicit Error(Status status, CallSite site = {})
      : std::runtime_error((site.known() ? site.ToString() + ": " : std::string()) +
                           status.ToString()),
        status_(std::move(status)) {}

  const Status& status() const { return status_; }
  Code code() const { return status_.code(); }

 private:
  Status status_;
};

// The value, or the error as an exception.
template <class T>
T OrThrow(Result<T> result, CallSite site = {}) {
  if (!result.ok()) throw Error(result.status(), site);
  return *std::move(result);
}
inline void OrThrow(const Status& status, CallSite site = {}) {
  if (!status.ok()) throw Error(status, site);
}

}  // namespace penstock
