import Errand
import ErrandCurl
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

/// A large file of one test in the folder that nginx serves, a folder for the download, and clients that record their
/// exchanges.
final class NginxDownload: Sendable {
  /// One exchange with nginx.
  struct Seen: Sendable {
    let range: String?
    let ifRange: String?
    let status: Int
    let version: ResponseHead.Version
    let entityTag: String?
  }

  /// Records each exchange that got response headers.
  private struct Watch: Interceptor {
    let seen: Recorded<Seen>

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      let fields = request.fields
      seen.append(
        Seen(
          range: fields["Range"], ifRange: fields["If-Range"], status: response.status,
          version: response.head.version, entityTag: response.fields[.eTag]))
      return response
    }
  }

  private let base: String
  private let served: URL
  private let folder: URL
  private let exchanges = Recorded<Seen>()

  /// - Parameter variable: The variable of one of nginx's ports, `ERRAND_NGINX` or `ERRAND_NGINX_TLS`.
  init(_ variable: String) throws {
    base = try Servers.address(variable)
    let name = "download-\(UUID().uuidString)"
    served = URL(filePath: try Servers.address("ERRAND_NGINX_FILES")).appending(path: name)
    folder = URL.temporaryDirectory.appending(path: "errand-\(name)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    for url in [served, folder] { try? FileManager.default.removeItem(at: url) }
  }

  /// The target file.
  var file: URL { folder.appending(path: "film.bin") }

  /// The URL of the served file.
  var url: String { base + "/" + served.lastPathComponent }

  /// The sorted names in the folder.
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }

  /// The exchanges so far, in the order in which they ended.
  var seen: [Seen] { exchanges.all }

  /// The length of the part file.
  var partBytes: Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: file.path + ".part")
    return attributes?[.size] as? Int ?? 0
  }

  /// The number of kept bytes; 0 if the file has no record.
  var keptBytes: Int { get throws { Int(try InterruptedDownload.all(in: folder).first?.bytes ?? 0) } }

  /// The interrupted download of the file.
  func kept() throws -> InterruptedDownload {
    try #require(try InterruptedDownload.all(in: folder).first)
  }

  /// Replaces the served version by one that is modified a number of seconds after the first. nginx derives its entity
  /// tag from the length and the second of the modification.
  func serve(_ resource: RangeResource, changed seconds: TimeInterval = 0) throws {
    try resource.bytes(in: 0..<resource.size).write(to: served, options: .atomic)
    let date = Date(timeIntervalSince1970: 1_700_000_000 + seconds)
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: served.path)
  }

  /// A client that records its exchanges.
  func client(_ clock: ManualClock? = nil) throws -> APIClient {
    var curl = CurlConfiguration()
    curl.certificateAuthority = .file(path: try Servers.address("ERRAND_NGINX_CA"))
    curl.httpVersion = .http2
    let transport = try CurlTransport(curl)
    var configuration = ClientConfiguration(baseURL: base)
    configuration.transport = .own(transport)
    configuration.timers = clock
    configuration.interceptors.exchanges = [Watch(seen: exchanges)]
    return APIClient(configuration)
  }

  /// A request for the file.
  func request(_ change: (inout Download) -> Void = { _ in }) -> FileDownload {
    var download = Download.to(file)
    change(&download)
    return FileDownload("/" + served.lastPathComponent, download)
  }

  /// Whether the file equals a resource, byte for byte.
  func holds(_ resource: RangeResource) -> Bool {
    (try? Data(contentsOf: file)) == resource.bytes(in: 0..<resource.size)
  }
}
