package import ErrandCore
package import Foundation

extension Download {
  /// A download that goes on with the part of a file, and keeps the file as the one that began it chose. Where the
  /// server was to name it, it still does, if the part lies where such a one does.
  package static func goingOn(with file: URL, from url: HTTPURL, _ choices: RecordedChoices?) -> Download {
    let named = Download.into(file.deletingLastPathComponent(), named: .fromServer)
    let isNamed = choices?.isNamedByServer == true && (try? named.target(for: url)) == file.path(percentEncoded: false)
    var download = isNamed ? named : .to(file)
    if let choices {
      download.permissions = choices.permissions
      download.replaces = choices.replaces
      download.maximumBytes = choices.maximumBytes
    }
    return download
  }

  /// The path of the file, as far as it is known before the server has answered.
  func target(for url: HTTPURL) throws(APIError) -> String {
    switch place {
    case .file(let file): return try Self.path(of: file)
    case .folder(let folder, let naming):
      guard let name = FileName.of(url) ?? (naming == .fromServer ? Self.nameless : nil) else {
        throw APIError(
          .transfer, .file, "The URL \(url) ends in no name for a file; say which file by `Download.to`.")
      }
      return try Self.path(of: folder.appending(path: name, directoryHint: .notDirectory))
    }
  }

  /// What a file is called that the server has to name and does not.
  private static let nameless = "download"

  /// Whether its name is known only when the server has answered.
  var isNamedByServer: Bool {
    if case .folder(_, .fromServer) = place { true } else { false }
  }

  /// The path by the server's own words; nil where they do not count or say nothing.
  func target(saidBy fields: HTTPFields) -> String? {
    guard case .folder(let folder, .fromServer) = place, let name = FileName.of(fields) else { return nil }
    return try? Self.path(of: folder.appending(path: name, directoryHint: .notDirectory))
  }

  private static func path(of url: URL) throws(APIError) -> String {
    guard url.isFileURL, !url.path(percentEncoded: false).isEmpty else {
      throw APIError(.transfer, .file, "\(url) is no place for a file; make the URL with `URL(filePath:)`.")
    }
    let path = url.path(percentEncoded: false)
    guard !path.utf8.contains(0) else {
      throw APIError(.transfer, .file, "The name of the file has a NUL in it, which no file system takes.")
    }
    return path
  }
}
