import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

/// A large file of a test's own among those that nginx serves, a folder for what comes of it, and clients that note
/// what they send.
final class NginxDownload: Sendable {
  /// One exchange as nginx answered it.
  struct Seen: Sendable {
    let range: String?
    let ifRange: String?
    let status: Int
    let version: ResponseHead.Version
    let entityTag: String?
  }

  /// Notes each exchange that brought a head.
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

  /// - Parameter variable: Which of nginx's ports, `ERRAND_NGINX` or `ERRAND_NGINX_TLS`.
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

  /// The file that is wanted.
  var file: URL { folder.appending(path: "film.bin") }

  /// Where it comes from.
  var url: String { base + "/" + served.lastPathComponent }

  /// What lies in the folder, in order.
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }

  /// What was exchanged so far, in the order of the ends.
  var seen: [Seen] { exchanges.all }

  /// How long the part is.
  var partBytes: Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: file.path + ".part")
    return attributes?[.size] as? Int ?? 0
  }

  /// How much is kept of the file; 0 where there is no record of it.
  var keptBytes: Int { get throws { Int(try InterruptedDownload.all(in: folder).first?.bytes ?? 0) } }

  /// What is kept of the file.
  func kept() throws -> InterruptedDownload {
    try #require(try InterruptedDownload.all(in: folder).first)
  }

  /// Puts a version in the place of the one that is served, changed so many seconds after the first: nginx makes its
  /// entity tag of length and second.
  func serve(_ resource: RangeResource, changed seconds: TimeInterval = 0) throws {
    try resource.bytes(in: 0..<resource.size).write(to: served, options: .atomic)
    let date = Date(timeIntervalSince1970: 1_700_000_000 + seconds)
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: served.path)
  }

  /// A client.
  func client(_ clock: ManualClock? = nil) throws -> APIClient {
    var curl = CurlConfiguration()
    curl.certificateAuthority = .file(path: try Servers.address("ERRAND_NGINX_CA"))
    curl.httpVersion = .http2
    let transport = try CurlTransport(curl)
    var configuration = ClientConfiguration(baseURL: base)
    configuration.transport = .own(transport)
    configuration.timers = clock
    configuration.exchangeInterceptors = [Watch(seen: exchanges)]
    return APIClient(configuration)
  }

  /// Asks for the file.
  func request(_ change: (inout Download) -> Void = { _ in }) -> FileDownload {
    var download = Download.to(file)
    change(&download)
    return FileDownload("/" + served.lastPathComponent, download)
  }

  /// Whether the file is a resource, byte for byte.
  func holds(_ resource: RangeResource) -> Bool {
    (try? Data(contentsOf: file)) == resource.bytes(in: 0..<resource.size)
  }
}
