#include <cmath>

#include "penstock/ops/testing/rows.h"
#include "penstock/ops/text/as_string.h"
#include "penstock/ops/text/bytes.h"
#include "penstock/ops/text/hash_buckets.h"
#include "penstock/ops/text/icu.h"
#include "penstock/ops/text/join.h"
#include "penstock/ops/text/numbers.h"
#include "penstock/ops/text/regex.h"
#include "penstock/ops/text/regex_engine.h"
#include "penstock/ops/text/split.h"
#include "penstock/ops/text/transform.h"
#include "penstock/ops/text/unicode.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;
using Text = std::string;

Value Words(std::initializer_list<Text> words) { return Vector<Text>(words); }
Value Word(Text word) { return Scalar<Text>(std::move(word)); }
Value Ints(std::initializer_list<int32_t> values) { return Vector<int32_t>(values); }
Value Longs(std::initializer_list<int64_t> values) { return Vector<int64_t>(values); }

const OpRows kTransformRows{
    Row(StringLower{})
        .Inputs(Words({"AbC", "", "\xC3\x84"}))
        .Expect(Words({"abc", "", "\xC3\x84"})),
    Row(StringUpper{}).Inputs(Empty<Text>({0, 2})).Expect(Empty<Text>({0, 2})),
    Row(StringUpper{{}, "latin1"}).Inputs(Words({"a"})).Fails(kBad, "encoding"),
    Row(StringStrip{}).Inputs(Words({" a b\t\n", "  "})).Expect(Words({"a b", ""})),
    Row(StringLength{}).Inputs(Words({"\xC3\x84x", ""})).Expect(Ints({3, 0})),
    Row(StringLength{{}, "UTF8_CHAR"}).Inputs(Words({"\xC3\x84x"})).Expect(Ints({2})),
    Row(Substr{})
        .Inputs(Words({"hello", "world"}), Scalar<int32_t>(-3), Scalar<int32_t>(2))
        .Expect(Words({"ll", "rl"})),
    Row(Substr{})
        .Inputs(Values<Text>({2, 1}, {"abc", "def"}), Longs({0, 2}), Longs({1, 1}))
        .Expect(Values<Text>({2, 2}, {"a", "c", "d", "f"}))
        .Named("broadcast"),
    Row(Substr{"UTF8_CHAR"})
        .Inputs(Words({"\xC3\x84\xC3\x96x"}), Scalar<int32_t>(1), Scalar<int32_t>(1))
        .Expect(Words({"\xC3\x96"}))
        .Named("chars"),
    Row(Substr{})
        .Inputs(Empty<Text>({0}), Scalar<int32_t>(0), Scalar<int32_t>(1))
        .Expect(Empty<Text>({0}))
        .Named("empty"),
    Row(Substr{})
        .Inputs(Words({"ab"}), Scalar<int32_t>(3), Scalar<int32_t>(1))
        .Fails(kBad, "pos 3 out of range"),
    Row(Substr{}).Inputs(Words({"ab"}), Ints({0}), Ints({1, 1})).Fails(kBad, "[2]").Named("shapes"),
};

const OpRows kJoinRows{
    Row(StringJoin{"-"})
        .Attr("N", int64_t{2})
        .Inputs(Words({"a", "b"}), Word("x"))
        .Expect(Words({"a-x", "b-x"})),
    Row(StringJoin{})
        .Attr("N", int64_t{2})
        .Inputs(Words({"a"}), Words({"b", "c"}))
        .Fails(kBad, "1"),
    Row(ReduceJoin{false, "."})
        .Inputs(Values<Text>({2, 2}, {"a", "b", "c", "d"}), Ints({0, 1}))
        .Expect(Word("a.c.b.d")),
    Row(ReduceJoin{true, ""})
        .Inputs(Values<Text>({2, 2}, {"a", "b", "c", "d"}), Ints({-1}))
        .Expect(Values<Text>({2, 1}, {"ab", "cd"})),
    Row(ReduceJoin{}).Inputs(Empty<Text>({2, 0}), Ints({1})).Expect(Words({"", ""})).Named("empty"),
    Row(ReduceJoin{}).Inputs(Words({"a"}), Ints({0, -1})).Fails(kBad, "Duplicate"),
    Row(ReduceJoin{}).Inputs(Words({"a"}), Ints({1})).Fails(kBad, "1").Named("axis"),
    Row(UnsortedSegmentJoin{":"})
        .Inputs(Words({"a", "b", "c"}), Ints({1, 0, 1}), Scalar<int32_t>(3))
        .Expect(Words({"b", "a:c", ""})),
    Row(UnsortedSegmentJoin{})
        .Inputs(Words({"a"}), Ints({2}), Scalar<int32_t>(2))
        .Fails(kBad, "[0, 2), got 2"),
    Row(UnsortedSegmentJoin{})
        .Inputs(Words({"a"}), Ints({0, 1}), Scalar<int32_t>(2))
        .Fails(kBad, "[1] vs [2]"),
};

const OpRows kSplitRows{
    Row(StringSplit{})
        .Inputs(Words({"a b,c", "", " d"}), Word(" ,"))
        .Expect(Values<int64_t>({4, 2}, {0, 0, 0, 1, 0, 2, 2, 0}), Words({"a", "b", "c", "d"}),
                Longs({3, 3})),
    Row(StringSplit{false})
        .Inputs(Words({",a"}), Word(","))
        .Expect(Values<int64_t>({2, 2}, {0, 0, 0, 1}), Words({"", "a"}), Longs({1, 2})),
    Row(StringSplit{}).Inputs(Word("a"), Word(" ")).Fails(kBad, "input"),
    Row(StringSplit{}).Inputs(Words({"a"}), Words({" "})).Fails(kBad, "delimiter"),
    Row(StringSplitV2{1})
        .Inputs(Words({" a b c", "a"}), Word(""))
        .Expect(Values<int64_t>({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1}), Words({"a", "b c", "a", ""}),
                Longs({2, 2})),
    Row(StringSplitV2{})
        .Inputs(Empty<Text>({0}), Word("--"))
        .Expect(Empty<int64_t>({0, 2}), Empty<Text>({0}), Longs({0, 0})),
    Row(StringSplitV2{}).Inputs(Word("a"), Word(" ")).Fails(kBad, "input"),
    Row(StringNGrams{" ", {2}, "<", ">", -1, false})
        .Inputs(Words({"a", "b"}), Longs({0, 2, 2}))
        .Expect(Words({"< a", "a b", "b >", "< >"}), Longs({0, 3, 4})),
    Row(StringNGrams{" ", {3}, "", "", 0, true})
        .Inputs(Words({"a", "b"}), Ints({0, 2, 2}))
        .Expect(Words({"a b"}), Ints({0, 1, 1}))
        .Named("short"),
    Row(StringNGrams{" ", {2}, "", "", 0, false})
        .Inputs(Words({"a"}), Longs({0, 2}))
        .Fails(kBad, "at most 1"),
    Row(StringNGrams{" ", {0}, "", "", 0, false})
        .Inputs(Words({"a"}), Longs({0, 1}))
        .Fails(kBad, "ngram_widths"),
    Row(StringNGrams{" ", {1 << 30}, "", "", -1, false})
        .Inputs(Words({"a"}), Longs({0, 1}))
        .Fails(Code::kResourceExhausted, "tokens")
        .Named("huge"),
};

const OpRows kNumberRows{
    Row(StringToNumber{})
        .Attr("out_type", DType::kFloat)
        .Inputs(Words({" 1.5 ", "-0x10", "1e400"}))
        .Expect(Vector<float>({1.5f, -16, INFINITY})),
    Row(StringToNumber{})
        .Attr("out_type", DType::kInt32)
        .Inputs(Words({"+7", "-2147483648"}))
        .Expect(Ints({7, INT32_MIN})),
    Row(StringToNumber{})
        .Attr("out_type", DType::kInt32)
        .Inputs(Words({"2147483648"}))
        .Fails(kBad, "2147483648"),
    Row(StringToNumber{}).Attr("out_type", DType::kDouble).Inputs(Words({""})).Fails(kBad, ""),
    Row(AsString{2, false, false, 8, "0"})
        .Inputs(Vector<float>({1.5f, -2}))
        .Expect(Words({"00001.50", "-0002.00"})),
    Row(AsString{}).Inputs(Vector<bool>({true, false})).Expect(Words({"true", "false"})),
    Row(AsString{}).Inputs(Longs({INT64_MIN})).Expect(Words({"-9223372036854775808"})),
    Row(AsString{.precision = 2}).Inputs(Ints({1})).Fails(kBad, "precision"),
    Row(AsString{.scientific = true, .shortest = true})
        .Inputs(Vector<float>({1}))
        .Fails(kBad, "exclude"),
    Row(AsString{.width = int64_t{1} << 40}).Inputs(Ints({1})).Fails(kBad, "width"),
    Row(StringFormat{"a {} b", "{}", 2})
        .Inputs(Ints({1, 2, 3, 4, 5}))
        .Expect(Word("a [1 2 ... 4 5] b")),
    Row(StringFormat{"{}", "{}"})
        .Inputs(Values<Text>({1, 2}, {"x", "\"\n"}))
        .Expect(Word("[[\"x\" \"\\\"\\n\"]]")),
    Row(StringFormat{"x", "{}"}).Inputs(Ints({1})).Fails(kBad, "0 vs. 1"),
};

const OpRows kHashRows{
    Row(StringToHashBucketFast{1000})
        .Inputs(Words({"", "a", "hello world"}))
        .Expect(Longs({263, 939, 11})),
    Row(StringToHashBucketStrong{10, {1}}).Inputs(Words({"a"})).Fails(kBad, "2 elements, got 1"),
    Row(StringToHashBucket{0}).Inputs(Words({"a"})).Fails(kBad, "num_buckets"),
};

const OpRows kBytesRows{
    Row(EncodeBase64{true})
        .Inputs(Words({"ab", "\xFF\xFE\xFD", ""}))
        .Expect(Words({"YWI=", "__79", ""})),
    Row(DecodeBase64{}).Inputs(Words({"YWI", "__79"})).Expect(Words({"ab", "\xFF\xFE\xFD"})),
    Row(DecodeBase64{}).Inputs(Words({"YW+="})).Fails(kBad, "base64"),
    Row(DecodeBase64{}).Inputs(Words({"Y"})).Fails(kBad, "base64").Named("short"),
    Row(DecodeRaw{true, DType::kInt16})
        .Inputs(Words({"ab", "cd"}))
        .Expect(Values<int16_t>({2, 1}, {0x6261, 0x6463})),
    Row(DecodeRaw{false, DType::kInt16}).Inputs(Word("ab")).Expect(Vector<int16_t>({0x6162})),
    Row(DecodeRaw{true, DType::kInt16}).Inputs(Words({"ab", "c"})).Fails(kBad, "2 and 1"),
    Row(DecodeRaw{true, DType::kInt16}).Inputs(Words({"abc"})).Fails(kBad, "multiple of 2"),
    Row(DecodePaddedRaw{true, DType::kInt16})
        .Inputs(Words({"abcdef", "c"}), Scalar<int32_t>(4))
        .Expect(Values<int16_t>({2, 2}, {0x6261, 0x6463, 0x63, 0})),
    Row(DecodePaddedRaw{true, DType::kInt16})
        .Inputs(Words({"a"}), Scalar<int32_t>(3))
        .Fails(kBad, "multiple"),
    Row(DecodePaddedRaw{true, DType::kInt16})
        .Inputs(Words({"a"}), Scalar<int32_t>(-2))
        .Fails(kBad, "positive"),
    Row(DecodeCompressed{}).Inputs(Words({"x"})).Expect(Words({"x"})),
    Row(DecodeCompressed{"LZ4"}).Inputs(Words({"x"})).Fails(kBad, "LZ4"),
};

const OpRows kUnicodeRows{
    Row(UnicodeTranscode{{"UTF-8"}, "UTF-16-BE"})
        .Inputs(Words({"a\xF0\x9F\x98\x80", "\xE2\x82x"}))
        .Expect(Words({Text("\0a\xD8\x3D\xDE\x00", 6), Text("\xFF\xFD\0x", 4)})),
    Row(UnicodeTranscode{{"UTF-8", "strict"}, "UTF-8"})
        .Inputs(Words({"\xFF"}))
        .Fails(kBad, "Invalid"),
    Row(UnicodeTranscode{{"UTF-8", "replace", 1 << 30}, "UTF-8"})
        .Inputs(Words({"a"}))
        .Fails(kBad, "replacement_char"),
    Row(UnicodeDecode{{"UTF-8", "ignore"}})
        .Attr("Tsplits", DType::kInt32)
        .Inputs(Words({"a\xFF", "", "\xC3\x84"}))
        .Expect(Ints({0, 1, 1, 2}), Ints({97, 0xC4})),
    Row(UnicodeDecode{{"UTF-8", "strict"}})
        .Attr("Tsplits", DType::kInt64)
        .Inputs(Words({"\xED\xA0\x80"}))
        .Fails(kBad, "Invalid"),
    Row(UnicodeDecodeWithOffsets{{"UTF-16-BE"}})
        .Attr("Tsplits", DType::kInt64)
        .Inputs(Words({Text("\0a\0b", 4)}))
        .Expect(Longs({0, 2}), Ints({97, 98}), Longs({0, 2})),
    Row(UnicodeEncode{"replace", "UTF-8"})
        .Inputs(Ints({97, 0xD800, 0x1F600}), Longs({0, 2, 3}))
        .Expect(Words({"a\xEF\xBF\xBD", "\xF0\x9F\x98\x80"})),
    Row(UnicodeEncode{"strict", "UTF-8"}).Inputs(Ints({-1}), Longs({0, 1})).Fails(kBad, "-1"),
    Row(UnicodeEncode{"replace", "UTF-8"}).Inputs(Ints({97}), Longs({0, 2})).Fails(kBad, "0 to 2"),
    Row(UnicodeEncode{"replace", "UTF-8"})
        .Inputs(Ints({97, 98}), Longs({0, 3, 2}))
        .Fails(kBad, "3 after 0"),
};

// What a library does that may be missing.
TEST(Regex, Rows) {
  if (!Regex::Compile("a").ok()) GTEST_SKIP() << "there is no RE2";
  for (const Row& row : {
           Row(StaticRegexReplace{"(\\w+) (\\w+)", "\\2 \\1"})
               .Inputs(Words({"a b"}))
               .Expect(Words({"b a"})),
           Row(RegexReplace{false})
               .Inputs(Words({"aa"}), Word("a"), Word("b"))
               .Expect(Words({"ba"})),
           Row(RegexReplace{}).Inputs(Words({"aa"}), Word("("), Word("b")).Fails(kBad, "missing"),
           Row(RegexReplace{})
               .Inputs(Words({"aa"}), Words({"a"}), Word("b"))
               .Fails(kBad, "pattern"),
           Row(RegexFullMatch{})
               .Inputs(Words({"ab", "b"}), Word("a.*"))
               .Expect(Vector<bool>({true, false})),
           Row(StaticRegexFullMatch{"["}).Inputs(Words({"a"})).Fails(kBad, "["),
       })
    CheckRow(row);
}

TEST(Icu, Rows) {
  if (!ScriptOf('a').ok()) GTEST_SKIP() << "there is no ICU";
  CheckRow(Row(UnicodeScript{}).Inputs(Ints({0x61, 0x416, -5})).Expect(Ints({25, 8, -1})));
  CheckRow(Row(StringLower{{}, "utf-8"}).Inputs(Words({"\xC3\x84"})).Expect(Words({"\xC3\xA4"})));
  CheckRow(Row(UnicodeTranscode{{"windows-1252"}, "UTF-8"})
               .Inputs(Words({"\x80"}))
               .Expect(Words({"\xE2\x82\xAC"})));
  CheckRow(Row(UnicodeTranscode{{"no such"}, "UTF-8"}).Inputs(Words({"a"})).Fails(kBad, "no such"));
}

}  // namespace
}  // namespace penstock::rows
