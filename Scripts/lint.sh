#!/usr/bin/env bash
# Checks the format of every Swift file, or with --fix rewrites it.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mapfile -t folders < <(swift_folders)
if [[ ${1:-} == --fix ]]; then
  swift format format --in-place --parallel --configuration .swift-format --recursive "${folders[@]}" Package.swift
else
  swift format lint --strict --parallel --configuration .swift-format --recursive "${folders[@]}" Package.swift
fi
