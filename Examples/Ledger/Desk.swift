import ErrandTesting
import Foundation
import Synchronization

/// The state of the servers: the current login and the bookings.
final class Desk: Sendable {
  private struct State: Sendable {
    var token: String?
    var logins = 0
    var wrapsRates = false
    var bookings = [
      BookingMessage(id: 1, text: "Rent of the workshop", cents: -95_000, receipt: "rent-1"),
      BookingMessage(id: 2, text: "Table for Ms. Öberg", cents: 215_450),
    ]
  }

  private let state = Mutex(State())

  var bookings: [BookingMessage] { state.withLock { $0.bookings } }

  var wrapsRates: Bool { state.withLock { $0.wrapsRates } }

  func wrapRates() { state.withLock { $0.wrapsRates = true } }

  func knows(_ request: RecordedRequest) -> Bool {
    state.withLock { state in state.token.map { request.headers["Authorization"] == "Bearer \($0)" } ?? false }
  }

  func logIn(_ request: RecordedRequest) -> LoopbackAnswer {
    guard let login = try? LoginMessage(wire: Data(request.body)), login.password == "open sesame" else {
      return LedgerServer.refusal("Name and password do not fit.")
    }
    let token = state.withLock { state in
      state.logins += 1
      let token = "\(login.user)-\(state.logins)"
      state.token = token
      return token
    }
    return LedgerServer.message(SessionMessage(token: token, branch: "north"))
  }

  func logOut() -> LoopbackAnswer {
    state.withLock { $0.token = nil }
    return .status(204)
  }

  func add(_ request: RecordedRequest) -> LoopbackAnswer {
    guard var booking = try? BookingMessage(wire: Data(request.body)) else { return .status(400) }
    booking = state.withLock { state in
      booking.id = UInt64(state.bookings.count + 1)
      state.bookings.append(booking)
      return booking
    }
    return LedgerServer.message(booking, status: 201)
  }
}
