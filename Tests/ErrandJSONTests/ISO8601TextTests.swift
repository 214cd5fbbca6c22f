import ErrandJSON
import Foundation
import Testing

struct ISO8601TextTests {
  static let encodings: [@Sendable (JSONEncoder.DateEncodingStrategy) -> JSONEncoding] = [
    { JSONEncoding(dates: $0) }, { .fast(dates: $0) },
    { dates in
      JSONEncoding {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = dates
        return encoder
      }
    },
    { dates in
      let encoder = JSONEncoder()
      encoder.dateEncodingStrategy = dates
      encoder.outputFormatting = .prettyPrinted
      return .fast(by: encoder)
    },
  ]

  /// A type for which Errand's own encoder uses `JSONEncoder`, because it writes a key twice.
  struct Twice: Encodable {
    enum Keys: CodingKey { case x }
    let date: Date

    func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: Keys.self)
      try members.encode(0, forKey: .x)
      try members.encode([date], forKey: .x)
    }
  }

  @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300, -1e300, 1e15, -1e15])
  func `date without a text is an error`(seconds: Double) {
    let date = Date(timeIntervalSince1970: seconds)
    for encoding in Self.encodings {
      for dates in [JSONEncoder.DateEncodingStrategy.iso8601, .iso8601WithFractionalSeconds] {
        let error = #expect(throws: JSONEncodingError.self) { try encoding(dates).encode(["x": [date]]) }
        #expect(error?.path == "x[0]")
        let twice = #expect(throws: JSONEncodingError.self) { try encoding(dates).encode(Twice(date: date)) }
        #expect(twice?.path == "x[0]")
      }
    }
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (1_763_740_800.25, "2025-11-21T16:00:00.250Z"),
    (-0.001, "1969-12-31T23:59:59.999Z"), (0.9996, "1970-01-01T00:00:01.000Z"), (0.0004, "1970-01-01T00:00:00.000Z"),
    (1_763_740_800.007, "2025-11-21T16:00:00.007Z"), (253_402_300_799.999, "9999-12-31T23:59:59.999Z"),
  ])
  func `fractions of a second are written`(seconds: Double, text: String) throws {
    let date = Date(timeIntervalSince1970: seconds)
    for encoding in Self.encodings {
      let data = try encoding(.iso8601WithFractionalSeconds).encode(["at": date])
      #expect(try JSONValue(parsing: data)["at"]?.stringValue == text)
      let read = try JSONDecoding.fast(dates: .iso8601).decode(Date.self, from: data, at: "at")
      #expect(abs(read.timeIntervalSince(date)) < 0.001)
    }
  }

  @Test(arguments: [-62_167_219_200.001, 253_402_300_799.9996])
  func `year without four digits has no RFC 3339 text`(seconds: Double) {
    let date = Date(timeIntervalSince1970: seconds)
    let error = #expect(throws: JSONEncodingError.self) {
      try JSONEncoding.fast(dates: .iso8601WithFractionalSeconds).encode(["at": date])
    }
    #expect(error?.reason.contains("years 0 to 9999") == true)
  }

  @Test func `whole seconds stay as Foundation writes them`() throws {
    let dates = [0, -0.5, 1_763_740_800.75, 1e12].map { Date(timeIntervalSince1970: $0) }
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    let due = try encoder.encode(dates)
    #expect(try JSONEncoding(dates: .iso8601).encode(dates) == due)
    #expect(try JSONEncoding { encoder }.encode(dates) == due)
  }
}
