import Errand
import ErrandCore
import ErrandTesting
import Foundation
import Synchronization

/// The firm's embedded servers: three hosts on one port, distinguished by the field `Host`.
final class LedgerServer: Sendable {
  /// Holds the response with the report of the year until it opens.
  let slowYear: Gate
  /// Holds the response with the statement of month 13.
  let slowStatement: Gate
  /// Holds the response with booking 4.
  let slowBooking: Gate
  private let desk: Desk
  private let loopback: LoopbackServer

  init() throws {
    let (slowYear, slowStatement, slowBooking, desk) = (Gate(), Gate(), Gate(), Desk())
    (self.slowYear, self.slowStatement, self.slowBooking) = (slowYear, slowStatement, slowBooking)
    self.desk = desk
    loopback = try LoopbackServer { request in
      switch Self.host(of: request) {
      case Hosts.cdn: Self.picture(request)
      case Hosts.reports: Self.report(request, desk, slowYear, slowStatement)
      default: Self.booking(request, desk, slowBooking)
      }
    }
  }

  var port: Int { loopback.port }
  var requests: [RecordedRequest] { loopback.requests }

  /// The names of the servers' hosts.
  enum Hosts {
    static let api = "api.ledger.example"
    static let reports = "reports.ledger.example"
    static let cdn = "img.cdn.ledger.example"
    static let all = [api, reports, cdn]
  }

  /// The name of the host that a request was sent to.
  static func host(of request: RecordedRequest) -> String {
    String(request.headers["Host"]?.prefix { $0 != ":" } ?? "")
  }

  /// Makes later responses with rates use an envelope.
  func wrapRates() { desk.wrapRates() }

  /// The next request gets this response, whatever its path.
  func next(_ answer: LoopbackAnswer) { loopback.enqueue(answer) }
}

extension LedgerServer {
  private static func booking(_ request: RecordedRequest, _ desk: Desk, _ slowBooking: Gate) -> LoopbackAnswer {
    if (request.method, request.path) == ("POST", "/login") { return desk.logIn(request) }
    guard desk.knows(request) else { return refusal("Log in first.") }
    switch (request.method, request.path) {
    case ("POST", "/logout"): return desk.logOut()
    // The app ignores this server's Cache-Control: it caches no response of this host.
    case ("GET", "/bookings"):
      return message(BookingsMessage(desk.bookings)).setting("Cache-Control", to: "max-age=3600")
    case ("POST", "/bookings"): return desk.add(request)
    case ("GET", "/bookings/4"): return .ok("No such booking.").held(at: slowBooking)
    default: return .status(404)
    }
  }

  private static func report(
    _ request: RecordedRequest, _ desk: Desk, _ slowYear: Gate, _ slowStatement: Gate
  ) -> LoopbackAnswer {
    guard desk.knows(request) else { return refusal("Log in first.") }
    switch request.path {
    case "/rates": return rates(request, desk)
    case "/statements/3": return .ok("March: 2 bookings, balance 1204.50")
    case "/statements/13": return .ok("No such month.").held(at: slowStatement)
    case "/year": return message(BookingsMessage(desk.bookings)).held(at: slowYear)
    default: return .status(404)
    }
  }

  /// The rates in the format that `Accept` names.
  private static func rates(_ request: RecordedRequest, _ desk: Desk) -> LoopbackAnswer {
    if request.headers["Accept"]?.contains("plist") == true {
      let list = #"<plist version="1.0"><dict><key>SEK</key><integer>1132</integer></dict></plist>"#
      return .status(200, headers: ["Content-Type": "application/x-plist"], body: list)
    }
    return .json(desk.wrapsRates ? #"{"rates": {"SEK": 1131}}"# : #"{"SEK": 1130, "USD": 108}"#)
  }

  private static func picture(_ request: RecordedRequest) -> LoopbackAnswer {
    .data([0x89, 0x50, 0x4E, 0x47], contentType: "image/png").setting("Cache-Control", to: "no-cache")
  }

  static func message(_ message: some WireMessage, status: Int = 200) -> LoopbackAnswer {
    guard let bytes = try? message.wire() else { return .status(500) }
    return .data(bytes, contentType: "application/x-protobuf", status: status)
  }

  static func refusal(_ words: String) -> LoopbackAnswer { message(RefusalMessage(words), status: 401) }
}
