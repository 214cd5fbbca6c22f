import Errand
import Foundation

/// Answers out of its pocket, for a show without a network. It can do nothing special, and says so by saying nothing.
struct PocketTransport: Transport {
  func send(_ exchange: Exchange) async throws -> HTTPResponse {
    let isKnown = exchange.request.url.string.hasSuffix("/rates")
    let json = isKnown ? #"{"code": 0, "data": {"EUR": 100}}"# : #"{"code": 1, "message": "The pocket is empty."}"#
    return HTTPResponse(head: ResponseHead(status: 200), body: Data(json.utf8), url: exchange.request.url)
  }
}
