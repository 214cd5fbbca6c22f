import ErrandCore

/// The kinds of background transfers.
enum BackgroundKind: String, Sendable, Hashable {
  case download
  case upload

  /// The direction that is stated in the progress reports of a background transfer of this kind.
  var direction: TransferProgress.Direction {
    switch self {
    case .download: .download
    case .upload: .upload
    }
  }

  /// The word that error messages use for the result of a transfer: the file of a download, or the response to an
  /// upload.
  var product: String {
    switch self {
    case .download: "file"
    case .upload: "response"
    }
  }

  /// The advice at the end of an error message: what the app can do if the system lost a transfer or delivered a
  /// damaged file.
  var cure: String {
    switch self {
    case .download: "Start the download again."
    case .upload: "The server may have received the body anyway; ask the server before you start the upload again."
    }
  }

  /// The suffix of the file name of a saved record: `.download` or `.upload`.
  var recordSuffix: String { "." + rawValue }

  /// The suffix of the name of the file that contains the response body.
  var fileSuffix: String {
    switch self {
    case .download: ".bytes"
    case .upload: ".answer"
    }
  }

  /// The suffixes of the names of all files that a transfer may have in addition to its record.
  var fileSuffixes: [String] {
    switch self {
    case .download: [fileSuffix]
    case .upload: [fileSuffix, Self.bodySuffix]
    }
  }

  /// The suffix of the name of the file into which the library wrote a request body.
  static let bodySuffix = ".body"
}
