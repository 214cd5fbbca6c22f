@testable import ErrandTransfer

/// The common part of suites about a part: a folder with the part of the target `t`.
protocol PartSuite {
  var folder: TransferFolder { get }
}

extension PartSuite {
  /// Makes the records of the part.
  var story: Story { Story() }

  func open(_ files: any TransferFiles = SystemFiles()) throws -> PartFile {
    try PartFile.open(target: folder("t"), files: files)
  }

  func append(_ bytes: some Sequence<UInt8>, _ part: PartFile) throws {
    try Array(bytes).withUnsafeBytes { try part.append($0) }
  }

  /// The bytes before the first gap.
  func kept(_ part: PartFile) throws -> [UInt8] {
    var kept: [UInt8] = []
    try part.readKept { kept += Array($0) }
    return kept
  }
}
