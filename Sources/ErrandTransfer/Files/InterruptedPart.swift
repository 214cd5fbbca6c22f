/// A download that was begun in a folder and is not done.
package struct InterruptedPart: Sendable, Hashable {
  /// The file that is wanted.
  package let target: String
  /// What is known of the part.
  package let record: PartRecord

  /// The downloads in a folder that have a usable record and a part, in the order of their names. Whether one is under
  /// way is seen when its part is opened. What cannot be read is left out.
  package static func all(in folder: String, files: any TransferFiles = SystemFiles()) throws -> [InterruptedPart] {
    let suffix = PartNames.recordSuffix
    let all = Set(try files.names(in: folder))
    return all.filter { $0.utf8.count > suffix.utf8.count && $0.hasSuffix(suffix) }.sorted().compactMap { name in
      let name = String(name.dropLast(suffix.count))
      let names = PartNames(folder.hasSuffix("/") ? folder + name : folder + "/" + name)
      guard all.contains(name + PartNames.partSuffix),
        case .success(let record)? = try? PartFile.readRecord(names, files)
      else { return nil }
      return InterruptedPart(target: names.target, record: record)
    }
  }
}
