import Foundation
import Testing

/// Strategies for dates and data in Foundation's decoder and in `.fast`.
@Suite struct DateComparisonTests {
  struct Refusal: Error, CustomStringConvertible { let description: String }

  static let values = [
    "0", "1500", "-1.5", "1e3", "1e400", "\"x\"", "\"\"", "\"1500\"", "null", "true", "[]", "[1]", "{}", "\"2020\"",
    "\"2020-01-01T00:00:00Z\"", "\"2020-01-01T00:00:00+01:00\"", "\"2020-01-01T00:00:00.500Z\"", "\"2020-01-01\"",
    "\"2020-01-01 00:00:00Z\"", "\"2020-13-01T00:00:00Z\"", "\"2020-01-01T00:00:00\"", "\"20200101T000000Z\"",
    "\"2020-01-01T00:00:00Z \"", "\"2020-01-01T00\\u003a00:00Z\"", "\"1969-12-31T23:59:59Z\"",
    "\"2020-06-30T23:59:60Z\"",
  ]

  @Test(arguments: values) func `dates are seconds since 1970`(text: String) {
    expectAlikeEverywhere(Date.self, text, by: { $0.dateDecodingStrategy = .secondsSince1970 })
  }

  @Test(arguments: values) func `dates are milliseconds since 1970`(text: String) {
    expectAlikeEverywhere(Date.self, text, by: { $0.dateDecodingStrategy = .millisecondsSince1970 })
  }

  @Test(arguments: values) func `dates are ISO 8601`(text: String) {
    expectAlikeEverywhere(Date.self, text, by: { $0.dateDecodingStrategy = .iso8601 })
  }

  @Test(arguments: values) func `dates are read by formatters`(text: String) {
    expectAlikeEverywhere(
      Date.self, text,
      by: { decoder in
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyy"
        decoder.dateDecodingStrategy = .formatted(formatter)
      })
  }

  @Test(arguments: values) func `dates are read by closures`(text: String) {
    expectAlikeEverywhere(
      Date.self, text,
      by: { decoder in
        decoder.dateDecodingStrategy = .custom { decoder in
          let single = try decoder.singleValueContainer()
          if let number = try? single.decode(Int.self) { return Date(timeIntervalSince1970: Double(number)) }
          let place = JSONFailure.names(decoder.codingPath).joined(separator: "/")
          if try single.decode(String.self) == "x" { throw Refusal(description: "no date at \(place)") }
          throw DecodingError.dataCorruptedError(in: single, debugDescription: "no date")
        }
      })
  }

  @Test(arguments: ["\"x\"", "{\"at\":5}", "[1,2]", "null", "7"]) func `closures read any value`(text: String) {
    struct Wrapped: Decodable { let at: Int }
    expectAlikeEverywhere(
      Date.self, text,
      by: { decoder in
        decoder.dateDecodingStrategy = .custom { decoder in
          if let list = try? [Int](from: decoder) { return Date(timeIntervalSince1970: Double(list.count)) }
          return Date(timeIntervalSince1970: Double(try Wrapped(from: decoder).at))
        }
      })
  }

  @Test(arguments: ["\"AQI=\"", "\"\"", "[1,2]", "[]", "[1,300]", "[1,\"x\"]", "[-1]", "[1.5]", "7", "null", "{}"])
  func `data stands in lists`(text: String) {
    expectAlikeEverywhere(Data.self, text, by: { $0.dataDecodingStrategy = .deferredToData })
  }

  @Test(arguments: ["\"AQI=\"", "\"0a0b\"", "\"\"", "\"zz\"", "[1,2]", "7", "null", "{}"])
  func `data is read by closures`(text: String) {
    expectAlikeEverywhere(
      Data.self, text,
      by: { decoder in
        decoder.dataDecodingStrategy = .custom { decoder in
          let single = try decoder.singleValueContainer()
          let text = try single.decode(String.self)
          let place = JSONFailure.names(decoder.codingPath).joined(separator: "/")
          if text == "zz" { throw Refusal(description: "no data at \(place)") }
          guard let first = UInt8(text.prefix(2), radix: 16) else {
            throw DecodingError.dataCorruptedError(in: single, debugDescription: "no hexadecimal digits")
          }
          return Data([first])
        }
      })
  }

  @Test func `a date decodes its own way`() {
    struct Stamp: Decodable, Equatable {
      let at: Date
      init(from decoder: any Decoder) throws { at = try Date(from: decoder) }
    }
    expectSame([Stamp].self, "[5]", by: { $0.dateDecodingStrategy = .iso8601 })
    expectSameFailure([Stamp].self, "[\"2020-01-01T00:00:00Z\"]", by: { $0.dateDecodingStrategy = .iso8601 })
  }
}
