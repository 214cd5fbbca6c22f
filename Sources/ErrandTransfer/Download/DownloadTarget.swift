package import ErrandCore
package import Foundation

extension Download {
  /// Makes a `Download` that continues the partial file of `file`. Its settings are those of the download that created
  /// the partial file. If the earlier download let the server choose the file name, and if `file` has the provisional
  /// name for this URL, the server chooses the file name again.
  package static func continuing(_ file: URL, from url: HTTPURL, _ choices: RecordedChoices) -> Download {
    let named = Download.into(file.deletingLastPathComponent(), named: .fromServer)
    let isNamed = choices.isNamedByServer && (try? named.partTarget(for: url)) == file.path(percentEncoded: false)
    var download = isNamed ? named : .to(file)
    if isNamed { download.continuedPart = file.path(percentEncoded: false) }
    download.permissions = choices.permissions
    download.replaces = choices.replaces
    download.maximumBytes = choices.maximumBytes
    return download
  }

  /// The target path before the response arrives. If the server chooses the file name, this path is used only if the
  /// response contains no name.
  package func target(for url: HTTPURL) throws(APIError) -> String {
    switch place {
    case .file(let file): return try Self.path(of: file)
    case .folder(let folder, let naming):
      guard let name = FileName.of(url) ?? (naming == .fromServer ? Self.nameless : nil) else {
        throw APIError(
          .transfer, .file, "The URL \(url) does not end in a file name; name the file with `Download.to`.")
      }
      return try Self.path(of: folder.appending(path: name, directoryHint: .notDirectory))
    }
  }

  /// The path whose partial file the download uses. It is the target path, unless the server chooses the file name.
  /// Then the name is not known yet, and the URLs of different files may end in the same name. So the last component of
  /// the path starts with a hash of the URL, or of the name in ``ErrandCore/Download/resource``.
  package func partTarget(for url: HTTPURL) throws(APIError) -> String {
    if let continuedPart { return continuedPart }
    let target = try target(for: url)
    guard isNamedByServer else { return target }
    var hash = StableHash()
    // The URL may contain a secret, such as a signature.
    hash.add(secret: resource ?? url.string)
    let name = PartNames.lastComponent(of: target)
    guard let partName = FileName.safe("\(hash.text.suffix(8))-\(name)") else { return target }
    return String(decoding: target.utf8.dropLast(name.utf8.count), as: UTF8.self) + partName
  }

  /// The file name that is used if the server should choose the name, but neither the response nor the URL contains a
  /// name.
  private static let nameless = "download"

  /// Whether the server chooses the file name, so that the name is known only after the response.
  package var isNamedByServer: Bool {
    if case .folder(_, .fromServer) = place { true } else { false }
  }

  /// The target path with the file name that the server chose. Nil if the caller chose the name, or if the response
  /// contains no name.
  package func target(saidBy fields: HTTPFields) -> String? {
    FileName.of(fields).flatMap { target(named: $0) }
  }

  /// The target path with a file name that the server chose earlier. Nil if the caller chose the name.
  package func target(named name: String) -> String? {
    guard case .folder(let folder, .fromServer) = place else { return nil }
    return try? Self.path(of: folder.appending(path: name, directoryHint: .notDirectory))
  }

  private static func path(of url: URL) throws(APIError) -> String {
    guard url.isFileURL, !url.path(percentEncoded: false).isEmpty else {
      throw APIError(.transfer, .file, "\(url) is not a file URL; make it with `URL(filePath:)`.")
    }
    let path = url.path(percentEncoded: false)
    guard !path.utf8.contains(0) else {
      throw APIError(.transfer, .file, "The file name contains a NUL character, which no file system accepts.")
    }
    return path
  }
}
