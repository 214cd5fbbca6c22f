import Errand
import ErrandTransfer
import Foundation

/// One download: what is fetched, and where it goes.
struct DownloadJob: Sendable, Equatable {
  /// Where the file goes.
  enum Place: Sendable, Equatable {
    case file(URL)
    case folder(URL, Download.Naming)
    /// A file whose part is there, to be kept as the one that began it chose.
    case begun(URL, RecordedChoices?)
  }

  /// Where it comes from.
  let url: String
  /// Where it goes.
  let place: Place
  /// The file beside which its part lies; nil where no name could be made of the URL.
  let target: URL?
  /// What it must hash to.
  let checksum: Checksum?

  /// A download to a file.
  init(_ url: String, to file: URL, checksum: Checksum? = nil) {
    self.url = url
    place = .file(file)
    target = file
    self.checksum = checksum
  }

  /// A download that goes on with the part of a file.
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

  /// Whether the server names the file: no file that is there can be taken for it.
  var isNamedByServer: Bool {
    switch place {
    case .file: false
    case .folder(_, let naming): naming == .fromServer
    case .begun(_, let choices): choices?.isNamedByServer == true
    }
  }

  /// The same, into the very file, whoever was to name it.
  var underItsName: DownloadJob {
    guard case .begun(let file, var choices?) = place else { return self }
    choices.isNamedByServer = false
    return DownloadJob(url, goingOnWith: file, choices, checksum: checksum)
  }

  /// Where the file goes, and how it is kept.
  var download: Download {
    switch place {
    case .file(let file): return .to(file)
    case .folder(let folder, let naming): return .into(folder, named: naming)
    case .begun(let file, let choices):
      guard let url = try? HTTPURL(url) else { return .to(file) }
      return .goingOn(with: file, from: url, choices)
    }
  }

  /// What people know it by.
  var name: String { target?.lastPathComponent ?? Secrets.maskedTarget(url) }

  /// The record of what an earlier run has left; nil where there is nothing.
  var left: PartRecord? {
    guard let target else { return nil }
    let folder = target.deletingLastPathComponent().path(percentEncoded: false)
    let path = target.path(percentEncoded: false)
    return (try? InterruptedPart.all(in: folder))?.first { $0.target == path }?.record
  }

  /// The bytes that need not be fetched again, those behind a gap among them.
  var kept: Int64 {
    guard let left, left.isResumable else { return 0 }
    return left.finished.count
  }
}
