import Errand
import ErrandCore
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ExampleLedger

struct LedgerTests {
  let ledger: Ledger
  var server: LedgerServer { ledger.server }

  init() throws {
    ledger = try Ledger(LedgerServer(), client: APIClient(baseURL: ""), console: Console(prints: false))
  }

  private func logIn() async throws { try await ledger.session.logIn("ada", password: "open sesame") }

  /// The error that the work throws. Any other error is rethrown.
  private func failure<Value>(of work: () async throws -> Value) async throws -> APIError {
    try await #require(throws: APIError.self) { _ = try await work() }
  }

  // MARK: - Login and logout

  @Test func `login sets headers on all requests`() async throws {
    try await logIn()
    _ = try await ledger.bookings.all()
    _ = try await ledger.reports.rates()
    for request in server.requests.dropFirst() {
      #expect(request.headers["Authorization"] == "Bearer ada-1")
      #expect(request.headers["X-Branch"] == "north")
    }
    let hosts = server.requests.map { LedgerServer.host(of: $0) }
    #expect(hosts.suffix(2) == ["api.ledger.example", "reports.ledger.example"])
  }

  @Test func `logout removes the headers`() async throws {
    try await logIn()
    try await ledger.session.logOut()
    let error = try await failure { try await ledger.bookings.all() }
    let (farewell, later) = (server.requests[1], server.requests[2])
    #expect(farewell.path == "/logout" && farewell.headers["Authorization"] == "Bearer ada-1")
    #expect(farewell.headers["X-Branch"] == "north")
    #expect(later.headers["Authorization"] == nil && later.headers["X-Branch"] == nil)
    #expect(error.status == 401 && Ledger.words(of: error) == "Log in first.")
  }

  @Test func `each login uses its own token`() async throws {
    try await logIn()
    try await logIn()
    _ = try await ledger.bookings.all()
    #expect(server.requests.map { $0.headers["Authorization"] } == [nil, nil, "Bearer ada-2"])
  }

  @Test func `wrong password does not log in`() async throws {
    let error = try await failure { try await ledger.session.logIn("ada", password: "sesame") }
    #expect(error.status == 401 && Ledger.words(of: error) == "Name and password do not fit.")
    #expect(ledger.accounts.account == nil)
    _ = try await failure { try await ledger.bookings.all() }
    #expect(server.requests.last?.headers["X-Branch"] == nil)
  }

  @Test func `logout cancels running calls`() async throws {
    try await logIn()
    let booking = Task { try await ledger.bookings.booking(4) }
    try await server.slowBooking.reached()
    try await ledger.session.logOut()
    let error = try await failure { try await booking.value }
    #expect(error.stage == .cancelled && error.code == .loggedOut)
  }

  @Test func `logout counts even if the server fails`() async throws {
    try await logIn()
    server.next(.status(503))
    let error = try await failure { try await ledger.session.logOut() }
    #expect(error.status == 503 && ledger.accounts.account == nil)
    _ = try await failure { try await ledger.bookings.all() }
    #expect(server.requests.last?.headers["Authorization"] == nil)
    #expect(server.requests.last?.headers["X-Branch"] == nil)
  }

  @Test func `CDN receives no token`() async throws {
    try await logIn()
    _ = try await ledger.receipts.picture("rent-1")
    let request = try #require(server.requests.last)
    #expect(LedgerServer.host(of: request) == "img.cdn.ledger.example")
    #expect(request.headers["Authorization"] == nil)
  }

  // MARK: - Messages

  @Test func `login is sent as a Protobuf message`() async throws {
    try await logIn()
    let request = try #require(server.requests.first)
    #expect(request.body == [0x0A, 3] + Array("ada".utf8) + [0x12, 11] + Array("open sesame".utf8))
    #expect(request.headers["Content-Type"] == "application/x-protobuf")
    #expect(request.headers["Accept"] == "application/x-protobuf")
    #expect(request.headers["X-App"] == "ledger" && request.headers["Authorization"] == nil)
  }

  @Test func `booking takes sixteen bytes`() async throws {
    try await logIn()
    let booking = try await ledger.bookings.add("Paper & ink", cents: -1_245)
    #expect(server.requests.last?.body == [0x12, 11] + Array("Paper & ink".utf8) + [0x18, 0xB9, 0x13])
    #expect(booking == Booking(id: 3, text: "Paper & ink", amount: Decimal(-1_245) / 100, receipt: nil))
  }

  @Test func `booking of zero is not sent`() async throws {
    try await logIn()
    let error = try await failure { try await ledger.bookings.add("Nothing", cents: 0) }
    #expect(error.stage == .build && error.code == .parameter && server.requests.count == 1)
  }

  @Test func `booking is not retried`() async throws {
    try await logIn()
    server.next(.status(503))
    let error = try await failure { try await ledger.bookings.add("Nails", cents: -399) }
    #expect(error.status == 503 && error.attempts == 1 && server.requests.count == 2)
  }

  @Test func `truncated message fails to decode`() async throws {
    try await logIn()
    server.next(.data([0x0A, 0x0C, 0x08], contentType: "application/x-protobuf"))
    let error = try await failure { try await ledger.bookings.all() }
    #expect(error.stage == .decode && error.code == .decoding && error.cause is WireReader.Broken)
  }

  @Test func `HTML page is not a message`() async throws {
    try await logIn()
    server.next(.status(200, headers: ["Content-Type": "text/html"], body: "<h1>Hotel</h1>"))
    let error = try await failure { try await ledger.bookings.all() }
    #expect(error.stage == .validate && error.code == .contentType)
  }

  @Test func `message without a model fails`() async throws {
    try await logIn()
    server.next(LedgerServer.message(BookingMessage(text: "Ghost", cents: 1)))
    let error = try await failure { try await ledger.bookings.booking(9) }
    #expect(error.code == .reform && error.cause is NoModel)
  }

  // MARK: - Types, time and cache

  @Test func `each report requests its format`() async throws {
    try await logIn()
    #expect(try await ledger.reports.statement(month: 3).hasPrefix("March"))
    #expect(try await ledger.reports.rates() == ["SEK": 1130, "USD": 108])
    server.slowYear.open()
    #expect(try await ledger.reports.year().count == 2)
    let accepts = server.requests.dropFirst().map { $0.headers["Accept"] ?? "" }
    #expect(accepts == ["text/*, */*;q=0.5", "application/json", "application/x-protobuf"])
  }

  @Test func `request's time-out overrides the default`() async throws {
    try await logIn()
    async let year = ledger.reports.year()
    try await server.slowYear.reached()
    ledger.client.configure { $0.timeouts.total = .milliseconds(50) }
    let error = try await failure { try await ledger.reports.statement(month: 13) }
    #expect(error.stage == .deadline)
    server.slowYear.open()
    #expect(try await year.count == 2)
  }

  @Test func `new default spares running calls`() async throws {
    try await logIn()
    let booking = Task { try await ledger.bookings.booking(4) }
    try await server.slowBooking.reached()
    ledger.client.configure { $0.timeouts.total = .milliseconds(50) }
    #expect(try await failure { try await ledger.reports.statement(month: 13) }.stage == .deadline)
    server.slowBooking.open()
    let error = try await failure { try await booking.value }
    #expect(error.code == .contentType, "the response arrived, with text instead of a message")
  }

  @Test func `envelope applies only to JSON`() async throws {
    try await logIn()
    ledger.client.configure { $0.validation.envelope = Envelope(value: "rates") }
    server.wrapRates()
    #expect(try await ledger.reports.rates() == ["SEK": 1131])
    #expect(try await ledger.bookings.all().count == 2)
    #expect(try await ledger.reports.statement(month: 3).hasPrefix("March"))
  }

  @Test func `default format spares declared types`() async throws {
    try await logIn()
    ledger.client.configure { $0.formats.response = PropertyListFormat() }
    #expect(try await ledger.reports.rates() == ["SEK": 1132])
    #expect(try await ledger.bookings.all().count == 2)
    #expect(try await ledger.reports.statement(month: 3).hasPrefix("March"))
    ledger.client.configure { $0.formats.response = nil }
    #expect(try await ledger.reports.rates() == ["SEK": 1130, "USD": 108])
    let accepts = server.requests.dropFirst().map { $0.headers["Accept"] ?? "" }
    let list = PropertyListFormat().accept
    #expect(accepts == [list, "application/x-protobuf", "text/*, */*;q=0.5", "application/json"])
  }

  @Test func `only CDN responses are cached`() async throws {
    try await logIn()
    #expect(try await ledger.receipts.picture("rent-1").origin == .network)
    #expect(try await ledger.receipts.picture("rent-1").origin == .cacheFresh)
    for _ in 1...2 { _ = try await ledger.bookings.all() }
    let paths = server.requests.map(\.path)
    #expect(paths == ["/login", "/receipts/rent-1.png", "/bookings", "/bookings"])
  }

  @Test func `redirect to the CDN is cached`() async throws {
    struct Scan: LedgerRequest {
      var path: Path { "/scans/1" }
    }
    try await logIn()
    let place = "http://img.cdn.ledger.example:\(server.port)/receipts/rent-1.png"
    for _ in 1...2 {
      server.next(.redirect(to: place))
      #expect(try await ledger.client.send(Scan()).count == 4)
    }
    #expect(server.requests.map(\.path) == ["/login", "/scans/1", "/receipts/rent-1.png", "/scans/1"])
  }

  @Test func `logout removes cached receipts`() async throws {
    try await logIn()
    _ = try await ledger.receipts.picture("rent-1")
    try await ledger.session.logOut()
    #expect(try await ledger.receipts.picture("rent-1").origin == .network)
  }

  // MARK: - The program

  @Test func `program prints its story`() async throws {
    let run = try await BuiltProgram("ExampleLedger").run()
    #expect(run.text == Self.story)
    #expect(run.status == 0 && run.error == "")
  }
}

struct LedgerWireTests {
  @Test(arguments: [0, 1, -1, 63, -64, .max, .min] as [Int64])
  func `amounts round-trip`(cents: Int64) throws {
    let booking = BookingMessage(id: .max, text: "猫 & Öberg", cents: cents, receipt: "r")
    #expect(try BookingMessage(wire: booking.wire()) == booking)
    #expect(try BookingsMessage(wire: BookingsMessage([booking, booking]).wire()).bookings == [booking, booking])
  }

  @Test(
    arguments: [
      [0x0A], [0x0A, 0x05, 0x61], [0x08], [0x08, 0x80], [0x0D, 0, 0, 0, 0],
      [0x12, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
      [0x08] + [UInt8](repeating: 0xFF, count: 11),
    ] as [[UInt8]])
  func `invalid bytes are refused`(bytes: [UInt8]) {
    #expect(throws: WireReader.Broken.self) { try BookingMessage(wire: Data(bytes)) }
  }

  @Test func `unknown fields are skipped`() throws {
    let bytes = try BookingMessage(id: 7, text: "x", cents: 1).wire() + [0x28, 0x05, 0x32, 0x01, 0x61]
    #expect(try BookingMessage(wire: bytes) == BookingMessage(id: 7, text: "x", cents: 1))
  }
}
