#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "penstock/client/output.h"

// Summaries that the graph itself makes: fetch one and hand it to SummaryWriter::AddSummary.
//
//   auto summary = MergeSummaries({ScalarSummary("loss", loss), HistogramSummary("w", weights)});
//   auto [bytes] = session.Run(feeds, Fetch(summary), step);
//   writer.AddSummary(bytes[0], n);

namespace penstock {

namespace client_internal {
OutputRef AddSummary(Graph& graph, std::string_view op, std::string_view tag, OutputRef values,
                     int64_t max_images, CallSite site);
}  // namespace client_internal

// The value of a scalar of any real type.
template <class A>
Output<std::string> ScalarSummary(std::string_view tag, const A& value,
                                  CallSite site = CallSite::Here()) {
  const Output<typename A::Element> x = value;
  return {x.graph(),
          client_internal::AddSummary(x.graph(), "ScalarSummary", tag, x.ref(), 0, site)};
}
// How often which values occur. The step fails when one is not finite.
template <class A>
Output<std::string> HistogramSummary(std::string_view tag, const A& values,
                                     CallSite site = CallSite::Here()) {
  const Output<typename A::Element> x = values;
  return {x.graph(),
          client_internal::AddSummary(x.graph(), "HistogramSummary", tag, x.ref(), 0, site)};
}
// The first images of a batch [B, height, width, channels], scaled as ops/summary/image_summary.h
// says.
template <class A>
Output<std::string> ImageSummary(std::string_view tag, const A& images, int64_t max_images = 3,
                                 CallSite site = CallSite::Here()) {
  const Output<typename A::Element> x = images;
  return {x.graph(),
          client_internal::AddSummary(x.graph(), "ImageSummary", tag, x.ref(), max_images, site)};
}

// All of them in one. No tag may come twice.
Output<std::string> MergeSummaries(const std::vector<Output<std::string>>& summaries,
                                   CallSite site = CallSite::Here());
// All that the functions above made in this graph so far. Throws when there is none.
Output<std::string> MergeAllSummaries(Graph& graph, CallSite site = CallSite::Here());

}  // namespace penstock
