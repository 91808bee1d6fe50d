#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "penstock/ops/nn/log_sum.h"

namespace penstock::ops {

// A beam search for the likeliest labels of one sequence. Candidates are prefixes of labels, the
// nodes of a tree; each time gives every candidate a chance to stay as it is or to grow a label.
template <class T>
class CtcBeam {
 public:
  CtcBeam(int64_t width, int64_t classes) : width_(width), blank_(classes - 1) {
    Prefix& root = tree_.emplace_back();
    root.now = {kLogZero<T>, 0, 0};
    leaves_.push_back(&root);
  }

  // Takes the logits of one time.
  void Step(const T* logits) {
    const T largest = *std::max_element(logits, logits + blank_ + 1);
    T sum = 0;
    for (int64_t c = 0; c <= blank_; ++c) sum += std::exp(logits[c] - largest);
    const T offset = largest + std::log(sum);

    Sort(leaves_);
    std::vector<Prefix*> branches = std::exchange(leaves_, {});
    for (Prefix* prefix : branches) prefix->before = prefix->now;
    for (Prefix* prefix : branches) {
      Stay(*prefix, logits, offset);
      Push(prefix);
    }
    for (Prefix* prefix : branches) {
      if (IsCandidate(prefix->before.total)) Grow(*prefix, logits, offset);
    }
  }

  struct Path {
    std::vector<int64_t> labels;
    T score;
  };
  // All candidates, the likeliest first.
  std::vector<Path> Paths(bool merges) {
    Sort(leaves_);
    std::vector<Path> paths;
    for (const Prefix* leaf : leaves_) {
      Path path{{}, leaf->now.total};
      int64_t later = -1;
      for (const Prefix* p = leaf; p->parent != nullptr; p = p->parent) {
        if (!merges || p->label != later) path.labels.push_back(p->label);
        later = p->label;
      }
      std::reverse(path.labels.begin(), path.labels.end());
      paths.push_back(std::move(path));
    }
    return paths;
  }

 private:
  // Logarithms of the probabilities that a prefix ends in its label, in a blank, in either.
  struct Chance {
    T label = kLogZero<T>;
    T blank = kLogZero<T>;
    T total = kLogZero<T>;
  };
  struct Prefix {
    Prefix* parent = nullptr;
    int64_t label = -1;
    Chance before;  // the time before this one
    Chance now;
    std::unordered_map<int64_t, Prefix*> children;
    bool IsActive() const { return now.total != kLogZero<T>; }
    // A label that repeats its parent's needs a blank between them.
    T ChanceToEnter(const Prefix& from) const {
      return label == from.label ? from.before.blank : from.before.total;
    }
  };

  static bool IsLikelier(const Prefix* a, const Prefix* b) { return a->now.total > b->now.total; }
  static void Sort(std::vector<Prefix*>& prefixes) {
    std::stable_sort(prefixes.begin(), prefixes.end(), IsLikelier);
  }
  // The leaves are a heap whose front is the least likely.
  void Push(Prefix* prefix) {
    leaves_.push_back(prefix);
    std::push_heap(leaves_.begin(), leaves_.end(), IsLikelier);
  }
  bool IsFull() const { return static_cast<int64_t>(leaves_.size()) >= width_; }
  bool IsCandidate(T total) const {
    return total > kLogZero<T> && (!IsFull() || total > leaves_.front()->now.total);
  }

  void Stay(Prefix& prefix, const T* logits, T offset) {
    if (prefix.parent != nullptr) {
      if (prefix.parent->IsActive()) {
        prefix.now.label = LogSum(prefix.now.label, prefix.ChanceToEnter(*prefix.parent));
      }
      prefix.now.label += logits[prefix.label] - offset;
    }
    prefix.now.blank = prefix.before.total + (logits[blank_] - offset);
    prefix.now.total = LogSum(prefix.now.blank, prefix.now.label);
  }
  void Grow(Prefix& prefix, const T* logits, T offset) {
    for (int64_t label = 0; label < blank_; ++label) {
      const auto it = prefix.children.find(label);
      if (it != prefix.children.end() && it->second->IsActive()) continue;
      const T from = label == prefix.label ? prefix.before.blank : prefix.before.total;
      const T total = logits[label] - offset + from;
      if (!IsCandidate(total)) continue;
      Prefix* child = it != prefix.children.end() ? it->second : nullptr;
      if (child == nullptr) {
        child = &tree_.emplace_back();
        child->parent = &prefix;
        child->label = label;
        prefix.children.emplace(label, child);
      }
      if (IsFull()) {
        std::pop_heap(leaves_.begin(), leaves_.end(), IsLikelier);
        leaves_.back()->now = {};
        leaves_.pop_back();
      }
      child->before = {};
      child->now = {total, kLogZero<T>, total};
      Push(child);
    }
  }

  const int64_t width_;
  const int64_t blank_;
  std::deque<Prefix> tree_;  // addresses stay
  std::vector<Prefix*> leaves_;
};

}  // namespace penstock::ops
