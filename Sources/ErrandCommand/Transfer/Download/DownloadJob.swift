import Errand
import ErrandTransfer
import Foundation

/// One download: what is fetched, and where it goes.
struct DownloadJob: Sendable, Equatable {
  /// Where the file goes.
  enum Place: Sendable, Equatable {
    case file(URL)
    case folder(URL)
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

  /// A download into a folder.
  init(_ url: String, into folder: URL, checksum: Checksum? = nil) {
    self.url = url
    place = .folder(folder)
    target = (try? HTTPURL(url)).flatMap(FileName.of).map {
      folder.appending(path: $0, directoryHint: .notDirectory)
    }
    self.checksum = checksum
  }

  static func == (one: DownloadJob, other: DownloadJob) -> Bool {
    one.url == other.url && one.place == other.place && one.target == other.target
      && one.checksum?.description == other.checksum?.description
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
