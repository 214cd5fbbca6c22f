import Errand
import ErrandTesting

extension Ledger {
  /// Before the login: no area answers, and a wrong password opens none.
  func stayOutside() async {
    console.heading("Nobody is logged in")
    await fails("the bookings") { try await bookings.all() }
    showLast()
    await fails("ada, with a wrong password") { try await session.logIn("ada", password: "sesame") }
  }

  /// One login, and every area's requests carry it.
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

  /// One logout: what is under way ends, the server is told, and nothing is carried any more.
  func logOut() async throws {
    console.heading("Ada logs out while a booking is on its way")
    async let booking = bookings.booking(4)
    try await server.slowBooking.reached()
    try await session.logOut()
    showLast()
    do {
      console.say("booking \(try await booking.id) came")
    } catch {
      console.say("the booking: \(Self.words(of: error))")
    }
    await fails("the bookings") { try await bookings.all() }
    showLast()
    let again = server.requests.count
    _ = try await receipts.picture("rent-1")
    console.say("her receipt went with her, and is asked for again: \(server.requests.count > again ? "yes" : "no")")
  }
}
