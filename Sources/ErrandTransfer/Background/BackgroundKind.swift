import ErrandCore

/// The kinds of background transfers.
enum BackgroundKind: String, Sendable, Hashable {
  case download
  case upload

  /// The direction of the body whose progress is reported.
  var direction: TransferProgress.Direction {
    switch self {
    case .download: .download
    case .upload: .upload
    }
  }

  /// What the system delivers at the end of a transfer, in the words of error messages.
  var product: String {
    switch self {
    case .download: "file"
    case .upload: "response"
    }
  }

  /// The suffix of the record's file name, different for each kind.
  var recordSuffix: String { "." + rawValue }

  /// The suffix of the response file's name.
  var fileSuffix: String {
    switch self {
    case .download: ".bytes"
    case .upload: ".answer"
    }
  }

  /// The suffixes of all files that accompany a record.
  var fileSuffixes: [String] {
    switch self {
    case .download: [fileSuffix]
    case .upload: [fileSuffix, Self.bodySuffix]
    }
  }

  /// The suffix of a body file that the library wrote.
  static let bodySuffix = ".body"
}
