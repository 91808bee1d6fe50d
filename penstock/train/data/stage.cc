#include "penstock/train/data/stage.h"

#include <algorithm>

#include "penstock/train/data/rows.h"

namespace penstock::data {

Result<int64_t> Cursor::Skip(int64_t n) {
  Element element;
  for (int64_t i = 0; i < n; ++i) {
    TRY_ASSIGN(const bool more, Next(&element));
    if (!more) return i;
  }
  return n;
}

Result<int64_t> Cursor::NextRows(int64_t n, Element* rows) {
  RowStack stack(n);
  Element element;
  while (stack.size() < n) {
    TRY_ASSIGN(const bool more, Next(&element));
    if (!more) break;
    TRY(stack.Add(element));
  }
  if (stack.size() > 0) *rows = stack.Take();
  return stack.size();
}

Status Cursor::Seek(const Position& position) {
  if (position.epoch != 0)
    return InvalidArgument("the data have one epoch, the position is in epoch {}", position.epoch);
  TRY_ASSIGN(const int64_t passed, Skip(position.index));
  if (passed != position.index)
    return OutOfRange("the data end after {} elements, the position is {}", passed, position.index);
  return OkStatus();
}

}  // namespace penstock::data
