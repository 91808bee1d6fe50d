#pragma once

#include <string_view>

namespace penstock::io {

// True when a pattern of the shell matches all of `name`, neither of which is a path:
//
//   pattern = item*
//   item    = "*"                         any bytes, or none
//           | "?"                         any byte
//           | "[" "!"? (c | c "-" c)+ "]" a byte of the set, or none of it; "]" may come first
//           | "\" c                       c itself
//           | c
//
// Time grows with |pattern| * |name| at most.
bool GlobMatches(std::string_view pattern, std::string_view name);

// True when a pattern matches more than its own text.
bool IsGlob(std::string_view pattern);

}  // namespace penstock::io
