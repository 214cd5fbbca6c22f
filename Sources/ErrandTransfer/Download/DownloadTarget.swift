import ErrandCore
import Foundation

extension Download {
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
