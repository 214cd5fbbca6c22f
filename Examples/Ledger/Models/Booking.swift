import Foundation

/// The app's model of a booking.
struct Booking: Sendable, Equatable {
  let id: Int
  let text: String
  let amount: Decimal
  /// The name of the picture of its receipt, if it has one.
  let receipt: String?
}

extension Decimal {
  /// The amount in a fixed format, independent of the system's locale.
  var inEuros: String {
    let style = FormatStyle.number.precision(.fractionLength(2)).grouping(.never)
    return formatted(style.locale(Locale(identifier: "en_US_POSIX"))) + " EUR"
  }
}

extension BookingMessage: ModelMessage {
  func model() throws -> Booking {
    guard id > 0, let id = Int(exactly: id) else { throw NoModel(description: "a booking has no number") }
    return Booking(
      id: id, text: text, amount: Decimal(cents) / 100, receipt: receipt.isEmpty ? nil : receipt)
  }
}

extension BookingsMessage: ModelMessage {
  func model() throws -> [Booking] { try bookings.map { try $0.model() } }
}
