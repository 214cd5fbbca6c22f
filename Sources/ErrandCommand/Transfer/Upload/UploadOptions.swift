import Errand
import Foundation

/// What the words behind `errand upload` ask for.
struct UploadOptions: Sendable {
  /// The files to send; several only in a form.
  var files: [String] = []
  var url = ""
  /// The method; nil for PUT, and POST for a form.
  var method: String?
  /// Whether the files are parts of a form.
  var isForm = false
  /// The form's fields beside the files.
  var items: [SendOptions.Item] = []
  /// What the parts with files are called.
  var partName = "file"
  /// The media type of the files; nil for what the extension says.
  var type: String?
  var isCompressed = false
  /// Whether the server is asked before the body is sent.
  var asksFirst = false
  var fields: [SendOptions.Field] = []
  var credential = RequestCredential.none
  var timeout: Duration?
  var isVerbose = false
  var isQuiet = false
  var usesProxy = true

  /// The files' places.
  var places: [URL] { files.map { URL(filePath: $0, directoryHint: .notDirectory) } }

  /// What people know the upload by.
  var name: String {
    guard let first = places.first else { return url }
    return places.count == 1 ? first.lastPathComponent : "\(places.count) files"
  }
}
