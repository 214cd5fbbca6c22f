@testable import ErrandTransfer

/// What suites about one part have in common: a folder, and the part of the target `t` in it.
protocol PartSuite {
  var folder: TransferFolder { get }
}

extension PartSuite {
  /// How the records of the part are made.
  var story: Story { Story() }

  func open(_ files: any TransferFiles = SystemFiles()) throws -> PartFile {
    try PartFile.open(target: folder("t"), files: files)
  }

  func append(_ bytes: some Sequence<UInt8>, _ part: PartFile) throws {
    try Array(bytes).withUnsafeBytes { try part.append($0) }
  }

  /// The bytes that are there from the start on.
  func kept(_ part: PartFile) throws -> [UInt8] {
    var kept: [UInt8] = []
    try part.readKept { kept += Array($0) }
    return kept
  }
}
