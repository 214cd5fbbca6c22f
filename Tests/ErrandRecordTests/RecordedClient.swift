import Errand
import ErrandCore
import ErrandTesting
import Foundation

/// A client with a loopback server whose calls are recorded, and requests for it.
struct RecordedClient {
  struct Get: APIRequest {
    var path: RequestPath = "/a"
    var method: HTTPMethod = .get
    var body: RequestBody?
    var headers: RequestHeaders = [:]
    typealias Response = String
  }

  let server: LoopbackServer
  let client: APIClient

  init(
    bodyLimit: Int = 1_000, detail: FlightRecording.Detail = .masked,
    _ answer: @escaping @Sendable (RecordedRequest) -> LoopbackAnswer = { _ in .ok("done") }
  ) throws {
    server = try LoopbackServer { answer($0) }
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.record = .ring(calls: 1_000, detail: detail, bodyLimit: bodyLimit)
    configuration.retries = RetryPolicy(firstDelay: .zero, busyDelay: .zero)
    client = APIClient(configuration)
  }

  func call(_ path: String = "/a") async { _ = await client.outcome(of: Get(path: RequestPath(stringLiteral: path))) }
}

/// A folder that is removed at the end of the test.
final class Folder: Sendable {
  let url = FileManager.default.temporaryDirectory.appending(path: "errand-record-\(UUID().uuidString)")
  init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
  deinit { try? FileManager.default.removeItem(at: url) }
  var file: URL { url.appending(path: "calls.flight") }
  var older: URL { url.appending(path: "calls.flight.1") }

  /// The size of the newer part of the flight file.
  var newerSize: Int {
    ((try? FileManager.default.attributesOfItem(atPath: file.path)[.size]) as? NSNumber)?.intValue ?? 0
  }

  /// The size of both parts of the flight file.
  var size: Int {
    [file, older].reduce(0) { $0 + ((try? Data(contentsOf: $1))?.count ?? 0) }
  }
}
