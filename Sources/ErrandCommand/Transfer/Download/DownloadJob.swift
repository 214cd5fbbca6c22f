import Errand
import ErrandSupport
import ErrandTransfer
import Foundation

/// One download: its URL and its target.
struct DownloadJob: Sendable {
  enum Place: Sendable {
    case file(URL)
    case folder(URL, Download.Naming)
    /// A file whose download was interrupted. The file gets the settings of the interrupted download, such as its
    /// permissions.
    case interrupted(URL, RecordedChoices)
  }

  let url: String
  let place: Place
  /// The file to write. If the server names the file, this name is used only if the response contains none. Nil if the
  /// URL contains no file name, and the server does not name the file either.
  let target: URL?
  /// The file whose partial file is written. It differs from ``target`` only if the server names the file.
  let partTarget: URL?
  /// The required checksum; nil if none is required.
  let checksum: Checksum?

  init(_ url: String, to file: URL, checksum: Checksum? = nil) {
    self.url = url
    place = .file(file)
    target = file
    partTarget = file
    self.checksum = checksum
  }

  init(_ url: String, resuming file: URL, _ choices: RecordedChoices, checksum: Checksum? = nil) {
    self.url = url
    place = .interrupted(file, choices)
    target = file
    partTarget = file
    self.checksum = checksum
  }

  /// - Parameter resource: The name that identifies the file if its URL changes; nil if the URL identifies it.
  init(
    _ url: String, into folder: URL, named naming: Download.Naming = .fromURL, resource: String? = nil,
    checksum: Checksum? = nil
  ) {
    self.url = url
    place = .folder(folder, naming)
    var download = Download.into(folder, named: naming)
    download.resource = resource
    let parsed = try? HTTPURL(url)
    target = Self.file(parsed.flatMap { try? download.target(for: $0) })
    partTarget = Self.file(parsed.flatMap { try? download.partTarget(for: $0) })
    self.checksum = checksum
  }

  private static func file(_ path: String?) -> URL? {
    path.map { URL(filePath: $0, directoryHint: .notDirectory) }
  }

  /// A copy of this download that resumes an interrupted download under the same file name. The server no longer
  /// chooses the name.
  var keepingFileName: DownloadJob {
    guard case .interrupted(let file, var choices) = place else { return self }
    choices.isNamedByServer = false
    return DownloadJob(url, resuming: file, choices, checksum: checksum)
  }

  var download: Download {
    switch place {
    case .file(let file): return .to(file)
    case .folder(let folder, let naming): return .into(folder, named: naming)
    case .interrupted(let file, let choices):
      guard let url = try? HTTPURL(url) else { return .to(file) }
      return .continuing(file, from: url, choices)
    }
  }

  /// The name under which the progress of the download is displayed.
  var name: String { target?.lastPathComponent ?? Secrets.maskedTarget(url) }

  /// The saved state of an interrupted download to the same target; nil if there is no saved state.
  var left: PartMetadata? {
    guard let partTarget else { return nil }
    let folder = partTarget.deletingLastPathComponent().path(percentEncoded: false)
    let path = partTarget.path(percentEncoded: false)
    return (try? InterruptedPart.all(in: folder))?.first { $0.target.hasSameBytes(as: path) }?.metadata
  }

  /// The number of bytes that an earlier run received and that need not be fetched again. These include bytes after a
  /// gap, which parallel requests can leave.
  var kept: Int64 {
    guard let left, left.isResumable else { return 0 }
    return left.finished.count
  }
}
