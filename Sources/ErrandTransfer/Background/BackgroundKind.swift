import ErrandCore

/// What goes through the background room.
enum BackgroundKind: String, Sendable, Hashable {
  case download
  case upload

  /// Which body its progress is told of.
  var direction: TransferProgress.Direction {
    switch self {
    case .download: .download
    case .upload: .upload
    }
  }

  /// What it brings.
  var product: String {
    switch self {
    case .download: "file"
    case .upload: "answer"
    }
  }

  /// What the name of a record ends in. No two kinds have one in common.
  var recordSuffix: String { "." + rawValue }

  /// What the name of the file ends in that an answer came in.
  var fileSuffix: String {
    switch self {
    case .download: ".bytes"
    case .upload: ".answer"
    }
  }

  /// The names of all files beside a record.
  var fileSuffixes: [String] {
    switch self {
    case .download: [fileSuffix]
    case .upload: [fileSuffix, Self.bodySuffix]
    }
  }

  /// What the name of a body ends in that the library has written.
  static let bodySuffix = ".body"
}
