import Errand
import Foundation

/// The bookings.
struct BookingService: LedgerService {
  let client: APIClient

  struct List: LedgerRequest {
    var path: Path { "/bookings" }
    typealias Response = BookingsMessage
  }

  struct Get: LedgerRequest {
    let id: Int
    var path: Path { "/bookings/\(id)" }
    typealias Response = BookingMessage
  }

  struct Add: MessageRequest {
    let message: BookingMessage
    var path: Path { "/bookings" }
    typealias Response = BookingMessage

    func check() throws {
      guard message.cents != 0 else { throw NoModel(description: "the amount must not be zero") }
    }
  }

  func all() async throws(APIError) -> [Booking] { try await model(List()) }

  func booking(_ id: Int) async throws(APIError) -> Booking { try await model(Get(id: id)) }

  func add(_ text: String, cents: Int64) async throws(APIError) -> Booking {
    try await model(Add(message: BookingMessage(text: text, cents: cents)))
  }
}
