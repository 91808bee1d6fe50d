#pragma once

#include <algorithm>

namespace penstock::ops {

// The part of the union of two boxes [y1, x1, y2, x2] that both cover; 0 where one has no area.
// Corners may come in any order.
template <class T>
float BoxOverlap(const T* a, const T* b) {
  struct Edges {
    float top, left, bottom, right, area;
    explicit Edges(const T* box)
        : top(std::min<float>(box[0], box[2])),
          left(std::min<float>(box[1], box[3])),
          bottom(std::max<float>(box[0], box[2])),
          right(std::max<float>(box[1], box[3])),
          area((bottom - top) * (right - left)) {}
  };
  const Edges p(a), q(b);
  if (p.area <= 0 || q.area <= 0) return 0;
  const float height = std::min(p.bottom, q.bottom) - std::max(p.top, q.top);
  const float width = std::min(p.right, q.right) - std::max(p.left, q.left);
  const float both = std::max(height, 0.0f) * std::max(width, 0.0f);
  return both / (p.area + q.area - both);
}

}  // namespace penstock::ops
