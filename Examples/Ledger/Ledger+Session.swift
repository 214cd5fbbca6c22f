import Errand
import ErrandTesting

extension Ledger {
  /// Before the login: every area rejects requests, and so does the login with a wrong password.
  func stayOutside() async {
    console.heading("Without a login")
    await fails("the bookings") { try await bookings.all() }
    showLast()
    await fails("ada, with a wrong password") { try await session.logIn("ada", password: "sesame") }
  }

  /// After one login the requests of every area carry the token.
  func logIn() async throws {
    console.heading("Ada logs in")
    try await session.logIn("ada", password: "open sesame")
    _ = try await bookings.all()
    showLast()
    _ = try await reports.rates()
    showLast()
    _ = try await receipts.picture("rent-1")
    showLast()
  }

  /// A logout cancels pending calls, tells the server, and removes the token from later calls.
  func logOut() async throws {
    console.heading("Ada logs out while a booking is loading")
    async let booking = bookings.booking(4)
    try await server.slowBooking.reached()
    try await session.logOut()
    showLast()
    do {
      console.say("booking \(try await booking.id) arrived")
    } catch {
      console.say("the booking: \(Self.words(of: error))")
    }
    await fails("the bookings") { try await bookings.all() }
    showLast()
    let again = server.requests.count
    _ = try await receipts.picture("rent-1")
    console.say("her receipt left the cache, and is requested again: \(server.requests.count > again ? "yes" : "no")")
  }
}
