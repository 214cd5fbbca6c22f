import Errand
import ErrandChecksum

/// The request of one download that the words ask for.
struct ShellDownload: APIRequest {
  let job: DownloadJob
  let options: DownloadOptions
  /// The limit of speed that all files share.
  let bandwidth: Bandwidth?
  /// Gives another URL where the first is refused.
  let freshURL: (@Sendable (HTTPResponse) async throws -> String)?

  typealias Response = DownloadedFile
  var path: Path { Path(job.url) }
  var credential: RequestCredential { options.credential }
  var timeouts: Timeouts? { options.timeout.map { Timeouts(total: .after($0)) } }
  var headers: RequestHeaders {
    var headers = RequestHeaders()
    headers.say(options.fields)
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
    return download
  }
}
