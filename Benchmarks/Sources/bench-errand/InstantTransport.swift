import Errand
import ErrandHTTP
import Foundation

/// Responds immediately, so that only the pipeline above it is measured.
struct InstantTransport: Transport {
  private static let body = Data(
    #"{"id":7,"name":"Ada","email":"ada@example.com","age":36,"score":9.5,"active":true,"city":"London","note":"-"}"#
      .utf8)

  var capabilities: TransportCapabilities { .observesStop }
  var contentCodings: [String] { ["gzip", "br", "zstd"] }

  func send(_ exchange: Exchange) async throws -> HTTPResponse {
    HTTPResponse(
      head: ResponseHead(status: 200, fields: ["Content-Type": "application/json"]), body: Self.body,
      url: exchange.request.url)
  }
}
