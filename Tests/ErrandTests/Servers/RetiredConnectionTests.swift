import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// A server that closes its HTTP/2 connections gracefully (GOAWAY) while requests are in flight, as every server does
/// at times.
struct RetiredConnectionTests {
  private struct Relayed: APIRequest {
    typealias Response = String
    let port: Int
    let number: Int
    var method = HTTPMethod.post
    var body: RequestBody?
    var path: Path { "/relay" }
    var formats: Formats { Formats(arguments: .query) }
    var arguments: Arguments { ["port": port, "name": "n\(number)"] }
  }

  /// Sends many requests at once. Returns the number that reached the server, and the number that reached it twice.
  private func send(
    _ method: HTTPMethod, _ body: RequestBody?, over carrier: TrustCarrier
  ) async throws -> (reached: Int, twice: Int) {
    let server = try LoopbackServer { request in .ok(request.path) }
    let client = try Servers.tls("ERRAND_NGINX_RETIRING", over: carrier) { $0.httpVersion = .http2 }
    let requests = (0..<400).map { Relayed(port: server.port, number: $0, method: method, body: body) }
    let outcomes = await client.outcomes(of: requests, width: 32)
    for case .failure(let error) in outcomes { Issue.record("\(error)") }
    let paths = server.requests.map(\.path)
    return (Set(paths).count, paths.count - Set(paths).count)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `writes move to a new connection once`(carrier: TrustCarrier) async throws {
    let (reached, twice) = try await send(.post, .text("hello"), over: carrier)
    #expect(reached == 400 && twice == 0)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `writes without a body move too`(carrier: TrustCarrier) async throws {
    let (reached, twice) = try await send(.delete, nil, over: carrier)
    #expect(reached == 400 && twice == 0)
  }

  @Test(arguments: TrustCarrier.allCases)
  func `long bodies move too`(carrier: TrustCarrier) async throws {
    let (reached, twice) = try await send(.put, .bytes(Data(repeating: 7, count: 40_000)), over: carrier)
    #expect(reached == 400 && twice == 0)
  }
}
