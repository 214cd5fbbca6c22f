import Errand
import ErrandTransfer
import Foundation

/// One download: its URL and its target.
struct DownloadJob: Sendable, Equatable {
  /// The target of a download.
  enum Place: Sendable, Equatable {
    case file(URL)
    case folder(URL, Download.Naming)
    /// A file whose download was interrupted. It is stored with the choices of that download.
    case begun(URL, RecordedChoices?)
  }

  /// The URL to download.
  let url: String
  /// The target.
  let place: Place
  /// The target, next to which the partial file is stored; nil if the URL contains no file name.
  let target: URL?
  /// The required checksum.
  let checksum: Checksum?

  /// A download to a file.
  init(_ url: String, to file: URL, checksum: Checksum? = nil) {
    self.url = url
    place = .file(file)
    target = file
    self.checksum = checksum
  }

  /// A download that continues the partial file of a file.
  init(_ url: String, goingOnWith file: URL, _ choices: RecordedChoices?, checksum: Checksum? = nil) {
    self.url = url
    place = .begun(file, choices)
    target = file
    self.checksum = checksum
  }

  /// A download into a folder.
  init(_ url: String, into folder: URL, named naming: Download.Naming = .fromURL, checksum: Checksum? = nil) {
    self.url = url
    place = .folder(folder, naming)
    target = (try? HTTPURL(url)).flatMap(FileName.of).map {
      folder.appending(path: $0, directoryHint: .notDirectory)
    }
    self.checksum = checksum
  }

  static func == (one: DownloadJob, other: DownloadJob) -> Bool {
    one.url == other.url && one.place == other.place && one.target == other.target
      && one.checksum?.description == other.checksum?.description
  }

  /// Whether the server chooses the name. Then no existing file counts as the finished download.
  var isNamedByServer: Bool {
    switch place {
    case .file: false
    case .folder(_, let naming): naming == .fromServer
    case .begun(_, let choices): choices?.isNamedByServer == true
    }
  }

  /// This download with its present file as the target, even if the server was to choose the name.
  var underItsName: DownloadJob {
    guard case .begun(let file, var choices?) = place else { return self }
    choices.isNamedByServer = false
    return DownloadJob(url, goingOnWith: file, choices, checksum: checksum)
  }

  /// The download options for the target.
  var download: Download {
    switch place {
    case .file(let file): return .to(file)
    case .folder(let folder, let naming): return .into(folder, named: naming)
    case .begun(let file, let choices):
      guard let url = try? HTTPURL(url) else { return .to(file) }
      return .goingOn(with: file, from: url, choices)
    }
  }

  /// The name to display.
  var name: String { target?.lastPathComponent ?? Secrets.maskedTarget(url) }

  /// The record that an earlier run left; nil if there is none.
  var left: PartRecord? {
    guard let target else { return nil }
    let folder = target.deletingLastPathComponent().path(percentEncoded: false)
    let path = target.path(percentEncoded: false)
    return (try? InterruptedPart.all(in: folder))?.first { $0.target == path }?.record
  }

  /// The number of bytes that need not be fetched again, including the bytes after a gap.
  var kept: Int64 {
    guard let left, left.isResumable else { return 0 }
    return left.finished.count
  }
}
