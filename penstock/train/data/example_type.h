#pragma once

#include <array>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "penstock/client/array.h"
#include "penstock/train/data/stage.h"

// How a C++ type is an element: a tuple or a plain struct of Arrays and Tensors, or one of them.

namespace penstock::data {

template <class T>
struct FieldType {
  static constexpr bool kIsField = false;
};
template <class T>
struct FieldType<Array<T>> {
  static constexpr bool kIsField = true;
  static constexpr DType kDType = kDTypeOf<T>;
};
template <>
struct FieldType<Tensor> {
  static constexpr bool kIsField = true;
  static constexpr DType kDType = DType::kInvalid;  // any
};

template <class T>
inline constexpr bool kIsTuple = false;
template <class... Ts>
inline constexpr bool kIsTuple<std::tuple<Ts...>> = true;

// Fits any field of an aggregate: to find out how many it has.
struct AnyField {
  template <class T>
  operator T() const;
};
template <class T, class... Fields>
constexpr size_t CountFields() {
  if constexpr (requires { T{Fields{}..., AnyField{}}; }) {
    return CountFields<T, Fields..., AnyField>();
  } else {
    return sizeof...(Fields);
  }
}

// The fields of an element as a tuple.
template <class T>
auto FieldsOf(T value) {
  if constexpr (kIsTuple<T>) {
    return value;
  } else if constexpr (FieldType<T>::kIsField) {
    return std::tuple<T>(std::move(value));
  } else {
    static_assert(std::is_aggregate_v<T>, "an element is an Array, a tuple or a plain struct");
    constexpr size_t kCount = CountFields<T>();
    static_assert(kCount >= 1 && kCount <= 6, "an element that is a struct has 1 to 6 fields");
    if constexpr (kCount == 1) {
      auto& [a] = value;
      return std::tuple(std::move(a));
    } else if constexpr (kCount == 2) {
      auto& [a, b] = value;
      return std::tuple(std::move(a), std::move(b));
    } else if constexpr (kCount == 3) {
      auto& [a, b, c] = value;
      return std::tuple(std::move(a), std::move(b), std::move(c));
    } else if constexpr (kCount == 4) {
      auto& [a, b, c, d] = value;
      return std::tuple(std::move(a), std::move(b), std::move(c), std::move(d));
    } else if constexpr (kCount == 5) {
      auto& [a, b, c, d, e] = value;
      return std::tuple(std::move(a), std::move(b), std::move(c), std::move(d), std::move(e));
    } else {
      auto& [a, b, c, d, e, f] = value;
      return std::tuple(std::move(a), std::move(b), std::move(c), std::move(d), std::move(e),
                        std::move(f));
    }
  }
}
template <class T>
using FieldsTuple = decltype(FieldsOf(std::declval<T>()));

template <class T>
Element ToElement(T value) {
  Element element;
  std::apply(
      [&](auto&&... field) {
        static_assert((FieldType<std::remove_cvref_t<decltype(field)>>::kIsField && ...),
                      "the fields of an element are Arrays or Tensors");
        (element.push_back(static_cast<const Tensor&>(field)), ...);
      },
      FieldsOf(std::move(value)));
  return element;
}

template <class Tuple, size_t... I>
Tuple MakeFields(Element&& element, std::index_sequence<I...>) {
  return Tuple(std::tuple_element_t<I, Tuple>(std::move(element[I]))...);
}

// Throws InvalidArgument when the element has other fields.
template <class T>
T FromElement(Element&& element) {
  using Tuple = FieldsTuple<T>;
  constexpr size_t kCount = std::tuple_size_v<Tuple>;
  if (element.size() != kCount)
    throw Error(InvalidArgument("an element must have {} fields, got {}", kCount, element.size()));
  Tuple fields = MakeFields<Tuple>(std::move(element), std::make_index_sequence<kCount>());
  if constexpr (kIsTuple<T>) {
    return fields;
  } else if constexpr (FieldType<T>::kIsField) {
    return std::get<0>(std::move(fields));
  } else {
    return std::apply([](auto&&... field) { return T{std::move(field)...}; }, std::move(fields));
  }
}

// Calls `f` with an element as a whole, or with its fields.
template <class F, class T>
decltype(auto) CallWith(F& f, T value) {
  if constexpr (std::is_invocable_v<F&, T>) {
    return f(std::move(value));
  } else {
    return std::apply(f, FieldsOf(std::move(value)));
  }
}
template <class F, class T>
using ResultOf = std::remove_cvref_t<decltype(CallWith(std::declval<F&>(), std::declval<T>()))>;

// What `body` returns; what it throws as a Status.
template <class Body>
auto Guard(Body body) -> Result<decltype(body())> {
  try {
    return body();
  } catch (const Error& error) {
    return error.status();
  } catch (const std::exception& error) {
    return Status(Code::kUnknown, error.what());
  } catch (...) {
    return Status(Code::kUnknown, "something that is no std::exception was thrown");
  }
}

}  // namespace penstock::data
