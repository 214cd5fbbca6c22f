import Testing

@testable import ErrandGenerate

struct SwiftNameTests {
  @Test(arguments: [
    ("list-pets", "ListPets"), ("repos/list-for-user", "ReposListForUser"), ("userId", "UserID"), ("v1.Pod", "V1Pod"),
    ("", "Value"), ("404", "Value404"), ("getHTTPServer", "GetHTTPServer"), ("ITEM_LIST", "ItemList"),
    ("名前", "Value名前"), ("self", "Self"),
  ])
  func `types are in upper camel case`(text: String, name: String) { #expect(SwiftName.type(text) == name) }

  @Test(arguments: [
    ("photo_urls", "photoURLs"), ("ID", "id"), ("X-Trace-Id", "xTraceID"), ("+1", "plus1"), ("-1", "minus1"),
    ("$ref", "ref"), ("50/50", "value5050"), ("größe", "größe"), ("", "value"),
    ("a\u{FE0F}", "a"), ("\u{3164}", "value"),
  ])
  func `members are in lower camel case`(text: String, name: String) { #expect(SwiftName.member(text) == name) }

  @Test(arguments: [
    ("tags", "tag"), ("Categories", "Category"), ("boxes", "box"), ("status", "statusItem"), ("data", "dataItem"),
  ])
  func `lists give names of elements`(text: String, name: String) { #expect(SwiftName.singular(text) == name) }

  @Test(arguments: [
    ("/users/1", "/users/*", true), ("/users", "/users/*", false), ("/a/b/c", "/a/*/c", true), ("/a/b", "/a/b", true),
    ("/a/b", "/a", false), ("/aXb", "*Xb", true), ("/ab", "/ab*b", false),
  ])
  func `patterns choose paths`(path: String, pattern: String, matches: Bool) {
    #expect(PathPattern.matches(path, pattern) == matches)
  }
}
