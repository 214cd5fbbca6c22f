import Errand
import ErrandCore
import ErrandTesting
import Foundation

extension Ledger {
  /// Messages on the network, models in the app.
  func book() async throws {
    console.heading("The books")
    let paper = try await bookings.add("Paper & ink", cents: -1_245)
    console.say("booked as number \(paper.id): \(paper.text), \(paper.amount.inEuros)")
    console.say("sent: \(server.requests.last?.bodyLength ?? 0) bytes")
    let all = try await bookings.all()
    for booking in all { console.say("\(booking.id). \(booking.text), \(booking.amount.inEuros)") }
    console.say("balance: \(all.reduce(Decimal(0)) { $0 + $1.amount }.inEuros)")
  }

  /// Failures of different kinds.
  func stumble() async {
    console.heading("Failures")
    await fails("a booking of zero") { try await bookings.add("Nothing", cents: 0) }
    server.next(.status(503, headers: ["Content-Type": "text/plain"]))
    await fails("a busy server") { try await bookings.add("Nails", cents: -399) }
    let cut: [UInt8] = [0x0A, 0x0C, 0x08, 0x01, 0x12]
    server.next(.data(cut, contentType: "application/x-protobuf"))
    await fails("a truncated message") { try await bookings.all() }
    server.next(.status(200, headers: ["Content-Type": "text/html"], body: "<h1>Welcome to the hotel</h1>"))
    await fails("an HTML page instead") { try await bookings.all() }
    server.next(LedgerServer.message(BookingMessage(text: "Ghost", cents: 1)))
    await fails("a message without a model") { try await bookings.booking(9) }
  }

  /// Each report in its own format.
  func readReports() async throws {
    console.heading("A response type for each request")
    console.say("text: \(try await reports.statement(month: 3))")
    let rates = try await reports.rates().sorted { $0.key < $1.key }
    console.say("JSON: \(rates.map { "\($0.key) \($0.value)" }.joined(separator: ", "))")
    console.say("bytes: \(try await receipts.picture("rent-1").value.count) of a picture")
  }

  /// Responses of the CDN are cached for a year, all others are not.
  func lookAtReceipts() async throws {
    console.heading("A year's cache for the CDN, none elsewhere")
    let before = server.requests.count
    for name in ["table-2", "table-2", "rent-1"] {
      let picture = try await receipts.picture(name)
      console.say("\(name): \(picture.origin.rawValue)")
    }
    console.say("requests to the CDN: \(server.requests.count - before)")
    let books = server.requests.count
    for _ in 1...2 { _ = try await bookings.all() }
    console.say("requests for the bookings, read twice: \(server.requests.count - books)")
  }

  /// The shared client gets other defaults; properties that a request sets itself do not change.
  func changeDefaults() async throws {
    console.heading("Other defaults on the shared client")
    async let year = reports.year()
    try await server.slowYear.reached()
    client.configure { $0.timeouts.total = .milliseconds(100) }
    await fails("month 13, by the default") { try await reports.statement(month: 13) }
    server.slowYear.open()
    console.say("the year, by its own time-out: \(try await year.count) bookings")
    client.configure { $0.timeouts.total = .seconds(30) }

    server.wrapRates()
    await fails("rates with an envelope") { try await reports.rates() }
    client.configure { $0.validation.envelope = Envelope(value: "rates") }
    console.say("after setting the envelope: SEK \(try await reports.rates()["SEK"] ?? 0)")
    console.say("messages and texts as before: \(try await bookings.all().count) bookings")

    client.configure { $0.formats.response = PropertyListFormat() }
    console.say("rates as a property list: SEK \(try await reports.rates()["SEK"] ?? 0)")
    console.say("Accept: \(server.requests.last?.headers["Accept"]?.prefix { $0 != "," } ?? "")")
    console.say("messages and texts as before: \(try await bookings.all().count) bookings")
    client.configure { $0.formats.response = nil }
    console.say("rates as JSON again: SEK \(try await reports.rates()["SEK"] ?? 0)")
  }
}
