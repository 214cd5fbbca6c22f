#!/usr/bin/env bash
# Compiles and tests ErrandAdapters with all of its traits enabled, without the internet.
#
#   Scripts/with-packages.sh            with the stand-ins in Tests/StandIns
#   Scripts/with-packages.sh FOLDER     with the packages in FOLDER: FOLDER/swift-log, swift-metrics,
#                                       swift-distributed-tracing, swift-service-lifecycle, swift-http-types and
#                                       swift-openapi-runtime, and the packages that these need:
#                                       swift-service-context, swift-async-algorithms, swift-collections
#
# The build is in .build-adapters; ERRAND_ADAPTERS_BUILD names another folder.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

STAND_INS="$ROOT/Tests/StandIns"
folder=$(cd "${1:-$STAND_INS}" && pwd)
others=""
for name in swift-service-context swift-async-algorithms swift-collections; do
  if [[ -e $folder/$name/Package.swift ]]; then others+="$name "; fi
done

export ERRAND_PACKAGES=$folder ERRAND_OTHER_PACKAGES=$others
say "with-packages: $folder"
swift test --package-path Tests/Adapters --scratch-path "${ERRAND_ADAPTERS_BUILD:-$ROOT/.build-adapters}" \
  -Xswiftc -driver-batch-size-limit -Xswiftc 64
