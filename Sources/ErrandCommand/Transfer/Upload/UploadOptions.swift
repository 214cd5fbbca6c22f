import Errand
import Foundation

/// The parsed arguments of `errand upload`.
struct UploadOptions: Sendable {
  /// The files to send; more than one only in a form.
  var files: [String] = []
  var url = ""
  /// The method; nil for the default: PUT, or POST for a form.
  var method: String?
  /// Whether the files are parts of a form.
  var isForm = false
  /// The fields of the form that precede the files.
  var items: [SendOptions.Item] = []
  /// The field name of the parts with files.
  var partName = "file"
  /// The media type of the files; nil to derive it from the extension of each file name.
  var type: String?
  var isCompressed = false
  /// Whether to ask the server before sending the body.
  var asksFirst = false
  var fields: [SendOptions.Field] = []
  var credential = RequestCredential.none
  var timeout: Duration?
  var isVerbose = false
  var isQuiet = false
  var usesProxy = true

  /// The URLs of the files.
  var places: [URL] { files.map { URL(filePath: $0, directoryHint: .notDirectory) } }

  /// The name of the upload to display.
  var name: String {
    guard let first = places.first else { return url }
    return places.count == 1 ? first.lastPathComponent : "\(places.count) files"
  }
}
