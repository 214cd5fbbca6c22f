import ErrandCore
import Foundation
import Testing

@testable import ErrandTransfer

struct ValidatorTests {
  private static let early = "Sun, 06 Nov 1994 08:49:37 GMT"
  private static let minuteLater = "Sun, 06 Nov 1994 08:50:37 GMT"
  private static let lessThanMinuteLater = "Sun, 06 Nov 1994 08:50:36 GMT"

  @Test(arguments: [
    "\"\"", "\"a\"", "\"!#~'\"", "\"é\"", "\"\u{F7E9}\"", "\"a b\"".replacingOccurrences(of: " ", with: "_"),
  ])
  func `a strong tag is kept as received`(tag: String) {
    let validator = Validator(of: ["ETag": tag, "Last-Modified": Self.early, "Date": Self.minuteLater], now: 0)
    #expect(validator == .entityTag(tag) && validator?.fieldValue == tag)
  }

  @Test(arguments: ["W/\"a\"", "w/\"a\"", "a", "\"a", "\"", "", "\"a\"b\"", "\"a b\"", "\"a\u{7F}b\"", "\"a\", \"b\""])
  func `an unusable tag also forbids the date`(tag: String) {
    let fields: HTTPFields = ["ETag": tag, "Last-Modified": Self.early, "Date": Self.minuteLater]
    #expect(Validator(of: fields, now: 0) == nil)
  }

  @Test func `two tags give no validator`() {
    #expect(Validator(of: ["ETag": "\"a\"", "etag": "\"a\""], now: 0) == nil)
  }

  @Test func `a date is strong after a minute`() {
    let fields: HTTPFields = ["Last-Modified": Self.early, "Date": Self.minuteLater]
    #expect(Validator(of: fields, now: 0) == .lastModified(Self.early))
  }

  @Test(
    arguments: [
      ["Last-Modified": early, "Date": lessThanMinuteLater], ["Last-Modified": early, "Date": early],
      ["Last-Modified": minuteLater, "Date": early], ["Last-Modified": early], ["Date": early],
      ["Last-Modified": "yesterday", "Date": minuteLater], ["Last-Modified": early, "Date": "today"],
      ["Last-Modified": early, "last-modified": early, "Date": minuteLater], [:],
    ] as [HTTPFields])
  func `other dates give no validator`(fields: HTTPFields) { #expect(Validator(of: fields, now: 0) == nil) }

  @Test(arguments: [
    ("{\"kind\":\"etag\",\"value\":\"\\\"a\\\"\"}", true), ("{\"kind\":\"etag\",\"value\":\"W/\\\"a\\\"\"}", false),
    ("{\"kind\":\"etag\",\"value\":\"\\\"a\\r\\nX: y\\\"\"}", false),
    ("{\"kind\":\"last-modified\",\"value\":\"x\"}", false),
    ("{\"kind\":\"other\",\"value\":\"x\"}", false), ("{\"value\":\"x\"}", false),
    ("{\"kind\":\"last-modified\",\"value\":\"Sun, 06 Nov 1994 08:49:37 GMT\"}", true),
  ])
  func `a stored validator is checked again`(text: String, isGood: Bool) {
    let found = try? JSONDecoder().decode(Validator.self, from: Data(text.utf8))
    #expect((found != nil) == isGood)
  }
}
