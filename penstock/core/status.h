#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "penstock/core/format.h"

namespace penstock {

// The codes of gRPC, number for number.
enum class Code : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// "INVALID_ARGUMENT" and so on.
std::string_view ToString(Code code);

// Success, or a code with a message for a person. Success is a null pointer: free to make, copy and
// test; what deals with errors is out of line, since every call in the library is followed by it.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message);
  Status(Code code, std::string_view pattern, std::initializer_list<FormatArg> args);
  Status(const Status& other) : rep_(other.ok() ? nullptr : Copy(other.rep_)) {}
  Status(Status&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
  Status& operator=(const Status& other) { return *this = Status(other); }
  Status& operator=(Status&& other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  ~Status() {
    if (!ok()) [[unlikely]]
      Free(rep_);
  }

  bool ok() const { return rep_ == nullptr; }
  Code code() const { return rep_ ? rep_->code : Code::kOk; }
  const std::string& message() const;

  // The same code with `context` before the message. A success stays a success.
  Status Annotate(std::string_view context) const;
  // "INVALID_ARGUMENT: ..." or "OK".
  std::string ToString() const;

 private:
  struct Rep {
    Code code;
    std::string message;
  };
  static const Rep* Copy(const Rep* rep);
  static void Free(const Rep* rep);

  const Rep* rep_ = nullptr;
};

inline Status OkStatus() { return Status(); }

// A message is at most this long; what a peer or file put into it cannot fill a log.
inline constexpr size_t kMaxMessageBytes = 4096;

#define PENSTOCK_STATUS_MAKER(name)                              \
  template <class... Args>                                       \
  Status name(std::string_view pattern, const Args&... args) {   \
    return Status(Code::k##name, pattern, {FormatArg(args)...}); \
  }
PENSTOCK_STATUS_MAKER(Cancelled)
PENSTOCK_STATUS_MAKER(InvalidArgument)
PENSTOCK_STATUS_MAKER(DeadlineExceeded)
PENSTOCK_STATUS_MAKER(NotFound)
PENSTOCK_STATUS_MAKER(AlreadyExists)
PENSTOCK_STATUS_MAKER(PermissionDenied)
PENSTOCK_STATUS_MAKER(ResourceExhausted)
PENSTOCK_STATUS_MAKER(FailedPrecondition)
PENSTOCK_STATUS_MAKER(Aborted)
PENSTOCK_STATUS_MAKER(OutOfRange)
PENSTOCK_STATUS_MAKER(Unimplemented)
PENSTOCK_STATUS_MAKER(Internal)
PENSTOCK_STATUS_MAKER(Unavailable)
PENSTOCK_STATUS_MAKER(DataLoss)
#undef PENSTOCK_STATUS_MAKER

// A value, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {
    if (status_.ok()) status_ = Internal("a Result was made from an OK status");
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  // REQUIRES: ok().
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }

 private:
  std::optional<T> value_;
  Status status_;
};

namespace internal {
inline Status&& TakeStatus(Status&& status) { return std::move(status); }
inline const Status& TakeStatus(const Status& status) { return status; }
template <class T>
Status TakeStatus(Result<T>&& result) {
  return result.status();
}
}  // namespace internal

}  // namespace penstock

// Returns from the enclosing function when `expr` (a Status or a Result) is an error.
#define TRY(...)                                                                             \
  do {                                                                                       \
    if (auto try_status_ = ::penstock::internal::TakeStatus(__VA_ARGS__); !try_status_.ok()) \
        [[unlikely]]                                                                         \
      return try_status_;                                                                    \
  } while (false)

// Declares or assigns `lhs` from a Result, or returns its error.
#define TRY_ASSIGN(lhs, ...) \
  PENSTOCK_TRY_ASSIGN_(PENSTOCK_CAT_(try_result_, __LINE__), lhs, __VA_ARGS__)
#define PENSTOCK_CAT_(a, b) PENSTOCK_CAT2_(a, b)
#define PENSTOCK_CAT2_(a, b) a##b
#define PENSTOCK_TRY_ASSIGN_(result, lhs, ...) \
  auto result = (__VA_ARGS__);                 \
  if (!result.ok()) [[unlikely]]               \
    return result.status();                    \
  lhs = *std::move(result)
