import Errand
import ErrandHTTP
import ErrandTesting
import Foundation

/// A file in a new temporary folder, which is removed at the end.
final class RecordingPlace: Sendable {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recording-\(UUID().uuidString)").path
  var path: String { folder + "/kept/calls.json" }

  var bytes: Data { get throws { try Data(contentsOf: URL(fileURLWithPath: path)) } }

  func write(_ text: String) throws {
    try FileManager.default.createDirectory(atPath: folder + "/kept", withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }
}

/// An exchange for a recording that a test creates.
func recorded(
  _ url: String, _ answer: ScriptedAnswer, method: HTTPMethod = .get, body: String? = nil
) throws -> RecordedExchange {
  RecordedExchange(
    request: try HTTPRequest(method: method, url: url, body: body.map { HTTPBody(Data($0.utf8)) }), answer: answer)
}

/// Sends a GET request over a transport, and returns the body of the response.
func get(_ url: String, over transport: any Transport) async throws -> String {
  try await answer(to: HTTPRequest(url: url), over: transport)
}

func answer(to request: HTTPRequest, over transport: any Transport) async throws -> String {
  let response = try await transport.send(Exchange(request: request))
  return String(decoding: response.body, as: UTF8.self)
}

/// The failure of a request; nil if it succeeds.
func failure(of request: HTTPRequest, over transport: any Transport) async -> TransportFailure? {
  do {
    _ = try await transport.send(Exchange(request: request))
    return nil
  } catch {
    return error as? TransportFailure
  }
}

/// A transport that can send a body only as a file, and responds with the bytes of the file.
struct WholeFileTransport: Transport {
  let capabilities: TransportCapabilities = .fileBody
  var afterwards: @Sendable () -> Void = {}

  func send(_ exchange: Exchange) async throws -> HTTPResponse {
    guard let path = exchange.request.body?.filePath else {
      throw TransportFailure(.unsupported, "The body is not a file.")
    }
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    afterwards()
    return HTTPResponse(head: ResponseHead(status: 200), body: bytes, url: exchange.request.url)
  }
}
