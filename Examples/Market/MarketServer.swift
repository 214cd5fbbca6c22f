import ErrandTesting

/// The market's embedded server: real HTTP on a port of this machine. Every response has an envelope.
final class MarketServer: Sendable {
  /// Holds the response with the brass lamp until it opens.
  let slowOffer: Gate
  /// Holds the response to every search for "lam".
  let slowSearch: Gate
  /// Holds the responses to all other searches.
  let quickSearch: Gate
  private let loopback: LoopbackServer

  init() throws {
    let (slowOffer, slowSearch, quickSearch) = (Gate(), Gate(), Gate())
    (self.slowOffer, self.slowSearch, self.quickSearch) = (slowOffer, slowSearch, quickSearch)
    loopback = try LoopbackServer { request in
      switch (request.method, request.path) {
      case ("GET", "/offers"): Self.page(request.query ?? "")
      case ("GET", "/offers/7"): Self.data(Stock.lamp).held(at: slowOffer)
      case ("GET", "/offers/8"): Self.data(Stock.chair)
      case ("GET", "/offers/9"): .json(#"{"code": 17, "message": "This offer is sold."}"#)
      case ("GET", "/rates"): Self.data(#"{"EUR": 100, "SEK": 1130}"#)
      case ("GET", "/search"): Self.found.held(at: request.target.contains("q=lam&") ? slowSearch : quickSearch)
      case ("POST", "/offers/7/pictures"): Self.picture(request)
      default: .status(404)
      }
    }
  }

  var url: String { loopback.url }
  var requests: [RecordedRequest] { loopback.requests }
  var connectionCount: Int { loopback.connectionCount }

  /// Returns when the server's record meets the condition.
  func wait(until condition: @escaping @Sendable (LoopbackRecord) -> Bool) async throws {
    try await loopback.wait(until: condition)
  }

  /// The next request fails with 503.
  func stumble() { loopback.enqueue(.status(503, body: "The market is being swept.")) }

  // MARK: - Responses

  private static func data(_ json: String) -> LoopbackAnswer { .json(#"{"code": 0, "data": \#(json)}"#) }

  private static func page(_ query: String) -> LoopbackAnswer {
    switch query {
    case "page=1": data(#"{"offers": [\#(Stock.lamp), \#(Stock.chair)], "pages": 2}"#)
    case "page=2": data(#"{"offers": [\#(Stock.clock)], "pages": 2}"#)
    default: .status(404)
    }
  }

  private static var found: LoopbackAnswer { data(#"{"titles": ["Brass lamp"]}"#) }

  private static func picture(_ request: RecordedRequest) -> LoopbackAnswer {
    guard request.bodyLength < 2 << 20 else {
      return .json(#"{"message": "Pictures may have 2 MiB at most."}"#, status: 413)
    }
    return data(#"{"pictures": 2}"#)
  }
}

/// The offers of the market.
private enum Stock {
  static let lamp = #"{"id": 7, "title": "Brass lamp", "cents": 4500, "seller": {"name": "Ada", "sales": 12}}"#
  static let chair = #"{"id": 8, "title": "Red chair", "cents": null, "seller": {"name": "Bo", "sales": 0}}"#
  static let clock = #"{"id": 5, "title": "Wall clock", "cents": 1990, "seller": {"name": "Cleo", "sales": 1}}"#
}
