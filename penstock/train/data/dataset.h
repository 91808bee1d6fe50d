#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/train/data/example_type.h"
#include "penstock/train/data/reader.h"
#include "penstock/train/data/stages.h"

namespace penstock {

using DataState = data::State;
using DataStats = data::Stats;

struct MapOptions {
  int threads = 1;  // 0: the budget of the process
};
struct BatchOptions {
  bool drop_remainder = false;
};
using PadOptions = data::Padding;

// Reads a dataset.
//
//   auto reader = dataset.Read();
//   while (auto batch = reader.Next()) { ...; if (...) state = reader.SaveState(); }
//   reader.stats().ToString()
//
// Threads: one at a time. It may be destroyed at any time: its threads are told to stop, and
// joined. Methods throw Error; the error of an element stays, and comes again.
template <class Example>
class DatasetReader {
 public:
  explicit DatasetReader(data::StagePtr stage)
      : reader_(std::make_unique<data::Reader>(std::move(stage))) {}

  // Nothing at the end.
  std::optional<Example> Next() {
    data::Element element;
    if (!OrThrow(reader_->Next(&element))) return std::nullopt;
    return data::FromElement<Example>(std::move(element));
  }

  // Goes to where another reader of the same data stood when it was saved: the elements that follow
  // are bit for bit the same.
  DataState SaveState() const { return reader_->SaveState(); }
  void RestoreState(const DataState& state) { OrThrow(reader_->RestoreState(state)); }
  DataStats stats() const { return reader_->stats(); }

  // for (auto [x, y] : reader)
  class Iterator {
   public:
    Iterator() = default;
    explicit Iterator(DatasetReader* reader) : reader_(reader) { ++*this; }
    Example& operator*() { return *element_; }
    Iterator& operator++() {
      element_ = reader_->Next();
      return *this;
    }
    bool operator!=(std::nullptr_t) const { return element_.has_value(); }

   private:
    DatasetReader* reader_ = nullptr;
    std::optional<Example> element_;
  };
  Iterator begin() { return Iterator(this); }
  std::nullptr_t end() { return nullptr; }

 private:
  std::unique_ptr<data::Reader> reader_;
};

// A sequence of elements, each a tuple or a struct of Arrays, that are made while they are read:
//
//   for (auto [x, y] : Digits::Train().Shuffle(1).Batch(32).Epochs(5)) ...
//
// A value: copying shares. Methods give a new dataset and throw Error on arguments that make no
// sense. Which elements come, and in which order, depends on the dataset alone: not on threads or
// timing, and the same in every run.
template <class Example>
class Dataset {
 public:
  using ElementType = Example;
  explicit Dataset(data::StagePtr stage) : stage_(std::move(stage)) {}

  // What f makes of each element. `f` takes the element, or its fields; it must depend on them
  // alone, and with several threads it is called by all of them at once. What it throws comes out
  // of the reader, with the number of the element.
  template <class F>
  auto Map(F f, MapOptions options = {}, CallSite site = CallSite::Here()) const {
    using To = data::ResultOf<F, Example>;
    return Dataset<To>(
        Function<To>("Map", options, site, [f = std::move(f)](Example example, uint64_t) mutable {
          return data::CallWith(f, std::move(example));
        }));
  }
  // The same for functions that draw random numbers, such as a crop: f(seed, fields...) gets a seed
  // of its own for each element of each epoch.
  template <class F>
  auto MapRandom(uint64_t seed, F f, MapOptions options = {},
                 CallSite site = CallSite::Here()) const {
    auto call = [f = std::move(f)](Example example, uint64_t element_seed) mutable {
      return std::apply([&](auto&&... field) { return f(element_seed, std::move(field)...); },
                        data::FieldsOf(std::move(example)));
    };
    using To = std::remove_cvref_t<decltype(call(std::declval<Example>(), 0))>;
    return Dataset<To>(Function<To>("MapRandom", options, site, std::move(call), seed));
  }
  // Those of which keep(...) is true.
  template <class F>
  Dataset Filter(F keep, MapOptions options = {}, CallSite site = CallSite::Here()) const {
    return Dataset(OrThrow(
        data::MakeFunction(stage_, {data::NameAt("Filter", site),
                                    [keep = std::move(keep)](data::Element* element,
                                                             const data::ElementInfo&) mutable {
                                      return data::Guard([&] {
                                        data::Element copy = *element;
                                        return static_cast<bool>(data::CallWith(
                                            keep, data::FromElement<Example>(std::move(copy))));
                                      });
                                    },
                                    data::NumThreads(options.threads), true}),
        site));
  }

  // All elements in another order, which differs from epoch to epoch. With a buffer of n elements
  // only the next n are mixed: for data that do not fit into memory.
  Dataset Shuffle(uint64_t seed, int64_t buffer = 0) const {
    return Dataset(OrThrow(data::MakeShuffle(stage_, seed, buffer)));
  }
  // Stacks elements along a new first axis. The last batch may be smaller.
  Dataset Batch(int64_t size, BatchOptions options = {}) const {
    return Dataset(OrThrow(data::MakeBatch(stage_, size, options.drop_remainder)));
  }
  // The same for elements of different extents, which are filled up.
  Dataset PaddedBatch(int64_t size, PadOptions options = {}) const {
    return Dataset(OrThrow(data::MakePaddedBatch(stage_, size, options)));
  }
  // Padded batches of elements of similar length: those below limits[0], those below limits[1] and
  // so on, and the others. length(...) returns an integer.
  template <class F>
  Dataset BucketByLength(F length, std::vector<int64_t> limits, int64_t size,
                         PadOptions options = {}) const {
    auto call = [length = std::move(length)](const data::Element& element) mutable {
      return data::Guard([&] {
        data::Element copy = element;
        return static_cast<int64_t>(
            data::CallWith(length, data::FromElement<Example>(std::move(copy))));
      });
    };
    return Dataset(
        OrThrow(data::MakeBuckets(stage_, {std::move(call), std::move(limits), size, options})));
  }

  // Reads the elements from their source once: the first finished pass keeps them, in memory or in
  // a file that later runs find.
  Dataset Cache() const { return Dataset(data::MakeMemoryCache(stage_)); }
  Dataset Cache(std::string path) const {
    return Dataset(OrThrow(data::MakeFileCache(stage_, std::move(path))));
  }
  // Reads all of it now, into memory.
  Dataset Load() const { return Dataset(OrThrow(data::LoadStage(stage_))); }
  // Reads up to `buffer` elements ahead, on a thread of its own.
  Dataset Prefetch(int64_t buffer = 2) const {
    return Dataset(OrThrow(data::MakePrefetch(stage_, buffer)));
  }
  // `count` times; without a count, for ever.
  Dataset Epochs(int64_t count) const { return Repeat(count); }
  Dataset Repeat(int64_t count = -1) const {
    return Dataset(OrThrow(data::MakeRepeat(stage_, count)));
  }

  // Every num_shards-th element, from `index` on.
  Dataset Shard(int64_t num_shards, int64_t index) const {
    return Dataset(OrThrow(data::MakeShard(stage_, num_shards, index)));
  }
  Dataset Take(int64_t count) const { return Dataset(OrThrow(data::MakeTake(stage_, count))); }
  Dataset Skip(int64_t count) const { return Dataset(OrThrow(data::MakeSkip(stage_, count))); }
  Dataset Concatenate(const Dataset& other) const {
    return Dataset(data::MakeConcatenate({stage_, other.stage_}));
  }
  // open(...) makes a dataset of each element; the elements of `cycle` of them are mixed, `block`
  // of each in its turn.
  template <class F>
  auto Interleave(F open, int64_t cycle = 4, int64_t block = 1) const {
    using Inner = data::ResultOf<F, Example>;
    auto call = [open = std::move(open)](data::Element element) mutable {
      return data::Guard([&] {
        return data::CallWith(open, data::FromElement<Example>(std::move(element))).stage();
      });
    };
    return Inner(OrThrow(data::MakeInterleave(stage_, {std::move(call), cycle, block})));
  }

  // The number of elements, where it is known without reading them.
  std::optional<int64_t> Size() const { return stage_->Size(); }
  std::string Describe() const { return stage_->Describe(); }
  DatasetReader<Example> Read() const { return DatasetReader<Example>(stage_); }
  const data::StagePtr& stage() const { return stage_; }

  class Iterator {
   public:
    explicit Iterator(const Dataset& dataset)
        : reader_(std::make_shared<DatasetReader<Example>>(dataset.Read())),
          at_(reader_->begin()) {}
    Example& operator*() { return *at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(std::nullptr_t end) const { return at_ != end; }

   private:
    std::shared_ptr<DatasetReader<Example>> reader_;
    typename DatasetReader<Example>::Iterator at_;
  };
  Iterator begin() const { return Iterator(*this); }
  std::nullptr_t end() const { return nullptr; }

 private:
  template <class To, class F>
  data::StagePtr Function(std::string_view name, MapOptions options, CallSite site, F f,
                          std::optional<uint64_t> seed = std::nullopt) const {
    auto call = [f = std::move(f), seed](data::Element* element,
                                         const data::ElementInfo& info) mutable {
      return data::Guard([&] {
        const uint64_t own = data::ElementSeed(seed.value_or(0), info);
        *element = data::ToElement<To>(f(data::FromElement<Example>(std::move(*element)), own));
        return true;
      });
    };
    return OrThrow(data::MakeFunction(stage_, {data::NameAt(name, site), std::move(call),
                                               data::NumThreads(options.threads), false}),
                   site);
  }

  data::StagePtr stage_;
};

// A dataset whose elements are tuples of arrays of these types.
template <class... Ts>
using DatasetOf = Dataset<std::tuple<Array<Ts>...>>;

// The elements of several datasets side by side, as one tuple, as long as all have one.
template <class... Examples>
auto Zip(const Dataset<Examples>&... datasets) {
  using Tuple = decltype(std::tuple_cat(data::FieldsOf(std::declval<Examples>())...));
  return Dataset<Tuple>(data::MakeZip({datasets.stage()...}));
}

// One dataset of arrays in memory: element i is row i of each.
template <class... Ts>
DatasetOf<Ts...> FromArrays(const Array<Ts>&... arrays) {
  return DatasetOf<Ts...>(data::MemoryOf({arrays.tensor()...}));
}

}  // namespace penstock
