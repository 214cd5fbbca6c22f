import Errand
import ErrandChecksum
import Foundation

/// The request of `errand download` for one file.
struct ShellDownload: APIRequest {
  let job: DownloadJob
  let options: DownloadOptions
  /// The rate limit that all files share.
  let bandwidth: Bandwidth?
  /// Provides another URL if the server rejects the first URL.
  let freshURL: (@Sendable (HTTPResponse) async throws -> String)?

  typealias Response = DownloadedFile
  var path: Path { Path(job.url) }
  var credential: RequestCredential { options.credential }
  var timeouts: Timeouts { options.timeout.map { Timeouts(total: .after($0)) } ?? .inherited }
  var headers: RequestHeaders {
    var headers = RequestHeaders()
    headers.merge(options.fields)
    return headers
  }

  var download: Download? {
    var download = job.download
    if !options.replaces { download.replaces = false }
    download.resumes = !options.startsOver
    download.resource = options.resource
    download.checksum = job.checksum
    download.digests = .standard
    download.whenBusy = options.waits ? .wait : .fail
    download.parallel = options.parallel
    download.bandwidth = bandwidth
    download.freshURL = freshURL
    if job.left == nil { download.permissions = Self.permissions(inPlaceOf: job.target) }
    return download
  }

  /// The default permissions of a new file of this process.
  private static let permissionsOfNew: UInt16 = {
    let mask = umask(0o077)
    umask(mask)
    return 0o666 & ~UInt16(truncatingIfNeeded: mask)
  }()

  /// The permissions of the existing file that will be replaced. If there is no such file, the default permissions of a
  /// new file.
  private static func permissions(inPlaceOf target: URL?) -> UInt16 {
    let old = target.flatMap { try? FileManager.default.attributesOfItem(atPath: $0.path(percentEncoded: false)) }
    guard old?[.type] as? FileAttributeType == .typeRegular, let mode = old?[.posixPermissions] as? Int else {
      return permissionsOfNew
    }
    return UInt16(truncatingIfNeeded: mode & 0o777)
  }
}
