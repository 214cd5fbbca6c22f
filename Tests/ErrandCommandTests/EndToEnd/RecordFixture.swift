import Errand
import ErrandCore
import ErrandRecord
import ErrandTesting
import Foundation

/// A flight file with recorded calls, whose secrets are a marker.
final class RecordFixture: Sendable {
  /// The secret in every secret place.
  static let marker = "canary-7f3c-marker"

  struct Get: APIRequest {
    var path: RequestPath
    var method: HTTPMethod = .get
    var body: RequestBody?
    typealias Response = String
  }

  let folder = FileManager.default.temporaryDirectory.appending(path: "errand-record-\(UUID().uuidString)")
  var path: String { folder.appending(path: "calls.flight").path(percentEncoded: false) }
  let origin: String

  /// Records three calls: a repeated one, a failed one, and one with a body.
  init(detail: FlightRecording.Detail = .masked) async throws {
    let server = try LoopbackServer { request in
      let headers: LoopbackHeaders = [
        "Set-Cookie": "sid=\(Self.marker)", "Content-Type": "application/json", "X-Echo": Self.marker,
      ]
      if request.number == 1 { return .status(503, headers: headers) }
      return .status(
        request.path.hasPrefix("/missing") ? 404 : 200, headers: headers, body: "{\"token\": \"\(Self.marker)\"}")
    }
    origin = server.url
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.record = .ring(calls: 10, detail: detail, bodyLimit: 1_000)
    configuration.retries = RetryPolicy(firstDelay: .zero, busyDelay: .zero)
    configuration.headers = [
      "X-Api-Key": .secret(Self.marker), "Cookie": "sid=\(Self.marker)", "Authorization": "Bearer \(Self.marker)",
    ]
    let client = APIClient(configuration)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = try FlightFile(at: folder.appending(path: "calls.flight"), recording: client.flightRecord)
    let body = RequestBody.json(JSONValue.object(["password": .string(Self.marker), "city": "Paris"]))
    _ = await client.outcome(of: Get(path: RequestPath(stringLiteral: "/feed?token=\(Self.marker)")))
    _ = await client.outcome(of: Get(path: RequestPath(stringLiteral: "/missing?token=\(Self.marker)")))
    _ = await client.outcome(of: Get(path: "/send", method: .post, body: body))
    withExtendedLifetime(file) {}
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The numbers of the recorded calls.
  func ids() throws -> [String] {
    try HTTPArchive(contentsOf: URL(filePath: path)).calls.map { "\($0.number)" }
  }
}
