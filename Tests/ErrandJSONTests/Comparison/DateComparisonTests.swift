import ErrandJSON
import Foundation
import Testing

/// Compares the strategies for dates and data in Foundation's decoder and in `.fast`.
struct DateComparisonTests {
  struct Refusal: Error, CustomStringConvertible { let description: String }

  static let values = [
    "0", "1500", "-1.5", "1e3", "1e400", "\"x\"", "\"\"", "\"1500\"", "null", "true", "[]", "[1]", "{}", "\"2020\"",
    "\"2020-01-01T00:00:00Z\"", "\"2020-01-01T00:00:00+01:00\"", "\"2020-01-01T00:00:00.500Z\"", "\"2020-01-01\"",
    "\"2020-01-01 00:00:00Z\"", "\"2020-13-01T00:00:00Z\"", "\"2020-01-01T00:00:00\"", "\"20200101T000000Z\"",
    "\"2020-01-01T00:00:00Z \"", "\"2020-01-01T00\\u003a00:00Z\"", "\"1969-12-31T23:59:59Z\"",
    "\"2020-06-30T23:59:60Z\"",
  ]

  @Test(arguments: values) func `dates in seconds are read`(text: String) {
    expectAlikeEverywhere(Date.self, text, by: { $0.dateDecodingStrategy = .secondsSince1970 })
  }

  @Test(arguments: values) func `dates in milliseconds are read`(text: String) {
    expectAlikeEverywhere(Date.self, text, by: { $0.dateDecodingStrategy = .millisecondsSince1970 })
  }

  @Test(arguments: values) func `ISO 8601 dates are read`(text: String) {
    expectAlikeEverywhere(Date.self, text, by: { $0.dateDecodingStrategy = .iso8601 })
  }

  @Test func `dates match Foundation's`() throws {
    var texts: [String] = []
    for year in [1583, 1600, 1700, 1899, 1900, 1904, 1969, 1970, 1972, 1999, 2000, 2001, 2024, 2026, 2100, 2400, 9999] {
      for month in 1...12 {
        for day in [1, 28, 29, 30, 31] where day < 29 || !Self.hasFewer(than: day, month, year) {
          texts.append(Self.text(year, month, day, (day * 7) % 24, (day * month) % 60, (year + day) % 60))
        }
      }
    }
    let body = Data("[\(texts.map { "\"\($0)\"" }.joined(separator: ","))]".utf8)
    let foundation = JSONDecoder()
    foundation.dateDecodingStrategy = .iso8601
    let due = try foundation.decode([Date].self, from: body)
    let dates = try JSONDecoding.fast(dates: .iso8601).decode([Date].self, from: body)
    for (text, (date, due)) in zip(texts, zip(dates, due)) { #expect(date == due, "\(text)") }
    #expect(dates.count == texts.count)
  }

  @Test(arguments: [
    text(2026, 0, 1, 0, 0, 0), text(2026, 13, 1, 0, 0, 0), text(2026, 1, 0, 0, 0, 0), text(2026, 1, 32, 0, 0, 0),
    text(2026, 2, 29, 0, 0, 0), text(1900, 2, 29, 0, 0, 0), text(2024, 2, 30, 0, 0, 0), text(2026, 4, 31, 0, 0, 0),
    text(2026, 1, 1, 24, 0, 0), text(2026, 1, 1, 0, 60, 0), text(2026, 1, 1, 0, 0, 60), text(2026, 1, 1, 0, 0, 61),
    text(1582, 10, 10, 0, 0, 0), text(1500, 2, 29, 0, 0, 0), text(1, 1, 1, 0, 0, 0), text(0, 1, 1, 0, 0, 0),
    "2026-01-01T00:00:0:Z", "2026-01-01t00:00:00Z", "2026-01-01T00:00:00z", "2026/01/01T00:00:00Z",
  ]) func `unusual dates match Foundation's`(text: String) {
    expectAlikeEverywhere(Date.self, "\"\(text)\"", by: { $0.dateDecodingStrategy = .iso8601 })
  }

  private static func hasFewer(than day: Int, _ month: Int, _ year: Int) -> Bool {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return month == 2 ? day > (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) && day > 30
  }

  private static func text(_ parts: Int...) -> String {
    let texts = parts.enumerated().map { index, part in
      String(repeating: "0", count: max((index == 0 ? 4 : 2) - String(part).count, 0)) + String(part)
    }
    return texts[0...2].joined(separator: "-") + "T" + texts[3...5].joined(separator: ":") + "Z"
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

  @Test(arguments: values) func `dates are read by custom closures`(text: String) {
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

  @Test(arguments: ["\"x\"", "{\"at\":5}", "[1,2]", "null", "7"]) func `custom closures read any value`(text: String) {
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
  func `data is read from arrays`(text: String) {
    expectAlikeEverywhere(Data.self, text, by: { $0.dataDecodingStrategy = .deferredToData })
  }

  @Test(arguments: ["\"AQI=\"", "\"0a0b\"", "\"\"", "\"zz\"", "[1,2]", "7", "null", "{}"])
  func `data is read by custom closures`(text: String) {
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

  @Test func `Date's own initializer ignores the strategy`() {
    struct Stamp: Decodable, Equatable {
      let at: Date
      init(from decoder: any Decoder) throws { at = try Date(from: decoder) }
    }
    expectSame([Stamp].self, "[5]", by: { $0.dateDecodingStrategy = .iso8601 })
    expectSameFailure([Stamp].self, "[\"2020-01-01T00:00:00Z\"]", by: { $0.dateDecodingStrategy = .iso8601 })
  }
}
