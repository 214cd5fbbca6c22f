import Errand
import Foundation

/// The parsed arguments of `errand upload`.
struct UploadOptions: Sendable {
  /// The paths of the files to send. Only a form may have more than one file.
  var files: [String] = []
  var url = ""
  /// The method; nil for the default: PUT, or POST for a form.
  var method: String?
  /// Whether the files are sent as parts of a multipart form.
  var isForm = false
  /// The fields of the form that precede the files.
  var items: [SendOptions.Item] = []
  /// The field name of the parts with files.
  var partName = "file"
  /// The media type of the files; nil to derive it from the extension of each file name.
  var type: String?
  var isCompressed = false
  /// Whether the server may reject the request before the body is sent (`Expect: 100-continue`).
  var asksFirst = false
  var fields: [SendOptions.Field] = []
  var credential = RequestCredential.none
  var timeout: Duration?
  var isVerbose = false
  var isQuiet = false
  var usesProxy = true

  /// The paths of the files as file URLs.
  var fileURLs: [URL] { files.map { URL(filePath: $0, directoryHint: .notDirectory) } }

  /// The name under which the progress of the upload is displayed.
  var name: String {
    guard let first = fileURLs.first else { return url }
    return fileURLs.count == 1 ? first.lastPathComponent : "\(fileURLs.count) files"
  }
}
