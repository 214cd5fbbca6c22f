import Errand
import ErrandCore
import Foundation

/// `message Booking { uint64 id = 1; string text = 2; sint64 cents = 3; string receipt = 4; }`
struct BookingMessage: WireMessage, Equatable {
  var id: UInt64 = 0
  var text = ""
  var cents: Int64 = 0
  var receipt = ""

  init(id: UInt64 = 0, text: String, cents: Int64, receipt: String = "") {
    (self.id, self.text, self.cents, self.receipt) = (id, text, cents, receipt)
  }

  init(wire bytes: Data) throws {
    var reader = WireReader(bytes)
    while let (field, value) = try reader.next() {
      switch field {
      case 1: id = value.number
      case 2: text = value.text
      case 3: cents = value.signed
      case 4: receipt = value.text
      default: break  // a field of a newer server
      }
    }
  }

  func wire() throws -> Data {
    var writer = WireWriter()
    writer.number(1, id)
    writer.text(2, text)
    writer.signed(3, cents)
    writer.text(4, receipt)
    return writer.bytes
  }
}

/// `message Bookings { repeated Booking booking = 1; }`
struct BookingsMessage: WireMessage {
  var bookings: [BookingMessage] = []

  init(_ bookings: [BookingMessage]) { self.bookings = bookings }

  init(wire bytes: Data) throws {
    var reader = WireReader(bytes)
    while let (field, value) = try reader.next() {
      if field == 1 { bookings.append(try BookingMessage(wire: value.content)) }
    }
  }

  func wire() throws -> Data {
    var writer = WireWriter()
    for booking in bookings { writer.message(1, try booking.wire()) }
    return writer.bytes
  }
}
