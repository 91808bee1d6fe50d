#include "penstock/io/example.h"

#include <bit>
#include <cstring>

#include "penstock/io/wire_reader.h"

namespace penstock::io {
namespace {

static_assert(std::endian::native == std::endian::little, "floats are copied as they lie");

// The entries of a map from names to messages.
bool ForEachEntry(std::string_view map, NamedMessage each) {
  WireReader reader(map);
  while (reader.Next()) {
    if (!reader.Is(1, WireReader::kBytes)) continue;
    std::string_view name, message;
    WireReader entry(reader.bytes());
    while (entry.Next()) {
      if (entry.Is(1, WireReader::kBytes)) name = entry.bytes();
      if (entry.Is(2, WireReader::kBytes)) message = entry.bytes();
    }
    if (!entry.ok()) return false;
    each(name, message);
  }
  return reader.ok();
}

int64_t CountVarints(std::string_view packed, bool* ok) {
  int64_t count = 0;
  uint64_t value;
  while (!packed.empty()) {
    if (!WireReader::TakeVarint(&packed, &value)) {
      *ok = false;
      return 0;
    }
    ++count;
  }
  return count;
}

}  // namespace

bool ForEachFeature(std::string_view example, NamedMessage each) {
  WireReader reader(example);
  while (reader.Next()) {
    if (reader.Is(1, WireReader::kBytes) && !ForEachEntry(reader.bytes(), each)) return false;
  }
  return reader.ok();
}

bool ForEachSequenceFeature(std::string_view example, NamedMessage context, NamedMessage lists) {
  WireReader reader(example);
  while (reader.Next()) {
    if (reader.Is(1, WireReader::kBytes) && !ForEachEntry(reader.bytes(), context)) return false;
    if (reader.Is(2, WireReader::kBytes) && !ForEachEntry(reader.bytes(), lists)) return false;
  }
  return reader.ok();
}

bool ParseFeatureList(std::string_view message, std::vector<Feature>* steps) {
  WireReader reader(message);
  while (reader.Next()) {
    if (!reader.Is(1, WireReader::kBytes)) continue;
    if (!ParseFeature(reader.bytes(), &steps->emplace_back())) return false;
  }
  return reader.ok();
}

bool ParseFeature(std::string_view message, Feature* feature) {
  constexpr Feature::Kind kKinds[] = {Feature::Kind::kNone, Feature::Kind::kBytes,
                                      Feature::Kind::kFloat, Feature::Kind::kInt64};
  WireReader reader(message);
  while (reader.Next()) {
    if (reader.field() > 3) continue;
    if (!reader.Is(reader.field(), WireReader::kBytes)) return false;
    *feature = {kKinds[reader.field()], reader.bytes()};
  }
  return reader.ok();
}

bool CountValues(const Feature& feature, int64_t* count) {
  *count = 0;
  bool ok = true;
  WireReader reader(feature.list);
  while (ok && reader.Next()) {
    if (reader.field() != 1) continue;
    if (feature.kind == Feature::Kind::kBytes) {
      ok = reader.Is(1, WireReader::kBytes);
      ++*count;
    } else if (feature.kind == Feature::Kind::kFloat) {
      const bool packed = reader.Is(1, WireReader::kBytes);
      ok = packed ? reader.bytes().size() % sizeof(float) == 0 : reader.Is(1, WireReader::kFixed32);
      *count += packed ? static_cast<int64_t>(reader.bytes().size() / sizeof(float)) : 1;
    } else {
      const bool packed = reader.Is(1, WireReader::kBytes);
      ok = packed || reader.Is(1, WireReader::kVarint);
      *count += packed ? CountVarints(reader.bytes(), &ok) : 1;
    }
  }
  return ok && reader.ok();
}

void CopyValues(const Feature& feature, float* out) {
  WireReader reader(feature.list);
  while (reader.Next()) {
    if (reader.Is(1, WireReader::kBytes)) {
      std::memcpy(out, reader.bytes().data(), reader.bytes().size());
      out += reader.bytes().size() / sizeof(float);
    } else if (reader.field() == 1) {
      *out++ = std::bit_cast<float>(static_cast<uint32_t>(reader.number()));
    }
  }
}

void CopyValues(const Feature& feature, int64_t* out) {
  WireReader reader(feature.list);
  while (reader.Next()) {
    if (reader.Is(1, WireReader::kBytes)) {
      std::string_view packed = reader.bytes();
      uint64_t value;
      while (WireReader::TakeVarint(&packed, &value)) *out++ = static_cast<int64_t>(value);
    } else if (reader.field() == 1) {
      *out++ = static_cast<int64_t>(reader.number());
    }
  }
}

void CopyValues(const Feature& feature, std::string* out) {
  WireReader reader(feature.list);
  while (reader.Next())
    if (reader.Is(1, WireReader::kBytes)) *out++ = reader.bytes();
}

}  // namespace penstock::io
