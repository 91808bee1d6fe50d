#pragma once

#include <string>
#include <vector>

#include "penstock/train/data/bad_record.h"
#include "penstock/train/data/dataset.h"

// Labelled images: files of the usual formats, and the data sets that everybody knows.

namespace penstock {

// (image, label): images of floats in [0, 1], labels from 0.
using LabelledImages = DatasetOf<float, int32_t>;

struct LabelOptions {
  int64_t classes = 10;  // labels must be below
  OnBadRecord on_bad = OnBadRecord::kFail;
};

// A pair of IDX files of uint8, plain or compressed by gzip; images are [height, width, 1].
LabelledImages IdxImages(const std::string& images, const std::string& labels,
                         LabelOptions options = {});

// The binary version of CIFAR-10 or, with label_bytes = 2 and classes = 100, CIFAR-100 (its fine
// labels): images are [32, 32, 3]. All of it is read now: what is cut off is left out or an error,
// but not in a reader's stats.
struct CifarOptions {
  int label_bytes = 1;
  LabelOptions labels = {};
};
LabelledImages CifarImages(const std::vector<std::string>& files, CifarOptions options = {});

// Image files (JPEG, PNG, BMP, WebP; the first frame of a GIF) in folders, one a class, by name.
struct ImageFolder {
  std::string path;
  int channels = 3;  // 1 or 3
  OnBadRecord on_bad = OnBadRecord::kFail;
  int threads = 0;  // that decode; 0: the budget of the process

  // The names of the classes: label i is that of folder i.
  std::vector<std::string> Classes() const;
  // Images are [height, width, channels] of uint8, each of its own size.
  DatasetOf<uint8_t, int32_t> Read() const;
};

// 1797 digits of 8 x 8 pixels, from the repository's datasets/optdigits: (image [64], label). Every
// fifth is held out for the test. PENSTOCK_DATASETS names another folder than datasets/.
struct Digits {
  static LabelledImages Train();  // 1438
  static LabelledImages Test();   // 359
};

// MNIST, or sets of the same form, from a folder that has its four files, each perhaps compressed:
// images [28, 28, 1].
struct Mnist {
  std::string folder;
  LabelledImages Train() const;  // 60000
  LabelledImages Test() const;   // 10000
};
using FashionMnist = Mnist;

// Where a file of a data set lies: under PENSTOCK_DATASETS or, without that, ./datasets or the
// datasets/ of the repository that the library was built from. Throws NotFound.
std::string FindDataset(const std::string& name);

}  // namespace penstock
