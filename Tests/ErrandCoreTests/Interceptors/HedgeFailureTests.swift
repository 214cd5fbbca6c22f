@testable import ErrandCore
import Testing

/// If both copies of a request fail, the failure with the higher rank is the result.
struct HedgeFailureTests {
  @Test func `failure of the server ranks higher`() throws {
    let url = try HTTPURL("http://h.example")
    let response = HTTPResponse(head: ResponseHead(status: 503), url: url)
    let table: [(Result<HTTPResponse, any Error>, Int)] = [
      (.success(response), 3), (.failure(TransportFailure(.reset, "It was reset.")), 2),
      (.failure(TransportFailure(.refused, "It was refused.", isCertainlyNotSent: true)), 1),
      (.failure(APIError.queueFull(0)), 0), (.failure(APIError.circuitOpen(url.origin, for: .seconds(1))), 0),
      (.failure(CallState.Stopped(reason: .cancelled)), 0),
    ]
    for (result, rank) in table { #expect(result.failureRank == rank) }
  }
}
