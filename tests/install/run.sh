#!/usr/bin/env bash
# Installs a build into a temporary prefix, then compiles and runs examples/hello.cc against it,
# once by find_package and once by pkg-config.
#   run.sh BUILD_DIR CXX GENERATOR
set -euo pipefail
build=$(cd "$1" && pwd)
export CXX=$2
generator=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d "$build/install.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/first" >"$scratch/log"
mv "$scratch/first" "$scratch/prefix"  # an installed tree may be moved

echo "find_package:"
cmake -G "$generator" -S "$here/consumer" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix"
cmake --build "$scratch/build"
"$scratch/build/hello"

echo "pkg-config:"
pc=$(find "$scratch/prefix" -name penstock.pc)
export PKG_CONFIG_PATH=${pc%/*}${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
# shellcheck disable=SC2046  # the flags are words
"$CXX" -std=c++20 "$root/examples/hello.cc" -o "$scratch/hello" $(pkg-config --cflags --libs penstock)
LD_LIBRARY_PATH=$(pkg-config --variable=libdir penstock) "$scratch/hello"
