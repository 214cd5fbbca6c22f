import Errand
import ErrandHTTP
import Foundation

/// A transport without a network, with fixed responses. It declares no capabilities.
struct PocketTransport: Transport {
  func send(_ exchange: Exchange) async throws -> HTTPResponse {
    let isKnown = exchange.request.url.string.hasSuffix("/rates")
    let json = isKnown ? #"{"code": 0, "data": {"EUR": 100}}"# : #"{"code": 1, "message": "The pocket is empty."}"#
    return HTTPResponse(head: ResponseHead(status: 200), body: Data(json.utf8), url: exchange.request.url)
  }
}
