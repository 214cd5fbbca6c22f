/// What a run changes in the folder of generated files.
package struct FilePlan: Sendable, Equatable {
  /// Files to write, because they are missing or differ.
  package var writes: [GeneratedFile] = []
  /// The paths of files that an earlier run generated from the same document, and that are no longer needed.
  package var removals: [String] = []
  /// The paths of files that were not generated, but have the name of a generated file. They are never replaced.
  package var conflicts: [String] = []
  /// The number of files that are as they should be.
  package var unchanged = 0

  /// Compares generated files with the Swift files in the folder. `source` is the name of the document.
  package init(_ generated: [GeneratedFile], existing: [String: String], source: String) {
    for file in generated {
      switch existing[file.path] {
      case nil: writes.append(file)
      case file.text?: unchanged += 1
      case let text? where text.hasPrefix(RequestGenerator.mark): writes.append(file)
      case _?: conflicts.append(file.path)
      }
    }
    let needed = Set(generated.map(\.path))
    let header = RequestGenerator.header(source)
    removals = existing.filter { !needed.contains($0.key) && $0.value.hasPrefix("\(header)\n") }.keys.sorted()
  }

  /// Whether the folder contains exactly what was generated.
  package var isEmpty: Bool { writes.isEmpty && removals.isEmpty && conflicts.isEmpty }
}
