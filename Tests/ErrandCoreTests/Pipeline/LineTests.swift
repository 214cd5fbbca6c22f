import ErrandSupport
import Testing

@testable import ErrandCore

/// The interceptors at which a request stops.
struct LineTests {
  @Test func `interceptors without interest are skipped`() async throws {
    let visits = Visits()
    let client = client([
      Choosy("mine", visits) { _ in true }, Choosy("none of mine", visits) { _ in false }, End(),
    ])
    _ = try await client.send(Ask(path: "/a"))
    #expect(visits.names == ["mine"])
  }

  @Test func `interest is judged by rewritten request`() async throws {
    let visits = Visits()
    let client = client([
      Rewriting(to: "http://example.com/b"), Choosy("b", visits) { $0.url.path == "/b" },
      Choosy("a", visits) { $0.url.path == "/a" }, End(),
    ])
    _ = try await client.send(Ask(path: "/a"))
    #expect(visits.names == ["b"])
  }

  @Test func `interest is checked at each attempt`() async throws {
    let visits = Visits()
    let isFirst = Locked(true)
    let client = client([
      Twice(),
      Choosy("odd", visits) { _ in
        isFirst.withLock { isFirst in
          defer { isFirst = false }
          return isFirst
        }
      }, End(),
    ])
    _ = try await client.send(Ask(path: "/a"))
    #expect(visits.names == ["odd"])
  }

  @Test func `pipeline without a transport is named`() async {
    let client = client([Choosy("none of mine", Visits()) { _ in false }])
    await #expect { try await client.send(Ask(path: "/a")) } throws: { "\($0)".contains("no transport at its end") }
  }

  private func client(_ stations: [any Interceptor]) -> APIClient {
    APIClient(
      ClientConfiguration(baseURL: "http://example.com"), order: { _ in stations }, platform: { Unused() })
  }
}

private struct Ask: APIRequest {
  let path: Path
}

private final class Visits: Sendable {
  private let list = Locked<[String]>([])

  var names: [String] { list.withLock { $0 } }

  func note(_ name: String) { list.withLock { $0.append(name) } }
}

/// An interceptor that handles only some requests.
private struct Choosy: SelectiveInterceptor {
  let name: String
  let visits: Visits
  let rule: @Sendable (HTTPRequest) -> Bool

  init(_ name: String, _ visits: Visits, _ rule: @escaping @Sendable (HTTPRequest) -> Bool) {
    (self.name, self.visits, self.rule) = (name, visits, rule)
  }

  func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool { rule(request) }

  func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    visits.note(name)
    return try await next(request)
  }
}

private struct Rewriting: Interceptor {
  let url: String

  init(to url: String) { self.url = url }

  func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    try await next(HTTPRequest(url: url))
  }
}

private struct Twice: Interceptor {
  func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    _ = try await next(request)
    return try await next(request)
  }
}

private struct End: Interceptor {
  func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    HTTPResponse(head: ResponseHead(status: 200), url: request.url)
  }
}

/// The pipeline ends before this transport.
private struct Unused: Transport {
  var capabilities: TransportCapabilities { [] }

  func send(_ exchange: Exchange) async throws -> HTTPResponse {
    throw TransportFailure(.other, "nothing is sent here")
  }
}
