#pragma once

#include <string>
#include <string_view>

#include "penstock/train/data/stage.h"

// An element as bytes, for cache files.
//
//   element = count:varint tensor*
//   tensor  = dtype:varint rank:varint extent:varint* (length:varint)* data:byte*
//
// The lengths are there for strings alone: one for each, before the bytes of all.

namespace penstock::data {

// InvalidArgument for elements that hold handles.
Result<std::string> ElementToBytes(const Element& element);
// DataLoss when the bytes are none. Nothing is allocated that the bytes do not fill.
Result<Element> ElementFromBytes(std::string_view bytes);

}  // namespace penstock::data
