import ErrandJSON
import Foundation
import Testing

/// Compares how Foundation's decoder and `.fast` read Foundation's types and `JSONValue`.
struct FoundationTypeComparisonTests {
  @Test(arguments: [
    "\"http://h/\"", "\"http:\\/\\/h\\/a?b=c#d\"", "\"\"", "\"http://a b\"", "\"http://[\"", "\"a\"", "\"http://中文/é\"",
    "1", "null",
    "{}", "[]", "\"mailto:a@b\"", "\" \"", "\"http://h/%zz\"", #"{"relative":"x"}"#, "true",
  ]) func `URLs are validated`(text: String) {
    expectAlikeEverywhere(URL.self, text)
  }

  @Test(arguments: [
    "\"00000000-0000-0000-0000-000000000001\"", "\"0000ABcd-0000-0000-0000-000000000001\"", "\"x\"", "\"\"", "1",
    "null", "{}",
  ]) func `UUIDs are validated`(text: String) {
    expectAlikeEverywhere(UUID.self, text)
  }

  @Test(arguments: [
    "\"AQI=\"", "\"\"", "\"AQI\"", "\"!!\"", "\"A Q==\"", "\"AQ\\u003d=\"", "\"_-A=\"", "\"AQI=\\n\"", "1", "null",
    "[1,2]", "{}", "true",
  ]) func `data is read from Base64`(text: String) {
    expectAlikeEverywhere(Data.self, text)
  }

  @Test(arguments: ["0", "1.5", "-1e9", "700000000.123456", "\"x\"", "null", "true", "[]", "{}", "1e400"])
  func `default dates count from 2001`(text: String) {
    expectAlikeEverywhere(Date.self, text)
  }

  struct Mixed: Decodable, Equatable { let id: Int, extra: JSONValue, more: JSONValue?, list: [JSONValue]? }

  @Test(arguments: [
    #"{"id":1,"extra":{"a":[1,-2,1.5,"x\n",true,null,{"b":{}}],"c":18446744073709551615}}"#, #"{"id":1,"extra":null}"#,
    #"{"id":1,"extra":[],"more":{"x":1e300},"list":[1,"a",[null]]}"#, #"{"id":1,"extra":"x","more":null,"list":[]}"#,
    #"{"id":1}"#, #"{"id":1,"extra":0,"list":{}}"#, #"{"id":1,"extra":0,"list":null}"#, #"{"id":"x","extra":{}}"#,
  ]) func `JSON values are read inside types`(text: String) {
    expectAlike(Mixed.self, text)
    expectAlike([Mixed].self, "[\(text)]")
    expectAlike([String: JSONValue].self, text)
    expectAlike([String: [String: JSONValue]].self, "{\"a\":\(text)}")
    expectAlike([JSONValue?].self, "[\(text),null,1]")
  }

  @Test func `JSON values are read with key strategies`() {
    expectAlike(JSONBox<JSONValue>.self, #"{"value":{"a":1}}"#, by: { $0.keyDecodingStrategy = .convertFromSnakeCase })
  }

  @Test func `other Foundation types are read`() {
    expectSame(DateInterval.self, #"{"start":0,"duration":5}"#)
    expectSame(IndexPath.self, #"{"indexes":[1,2]}"#)
    expectSame(Locale.self, #"{"identifier":"en_US"}"#)
    expectSame(DateComponents.self, #"{"year":2026,"month":1}"#)
    expectSameFailure(DateInterval.self, #"{"start":0}"#)
  }
}
