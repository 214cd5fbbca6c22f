import ErrandCore
import Foundation
import Testing

struct FormValuesTests {
  @Test func `pairs keep order and duplicates`() throws {
    let form = try FormValues(parsing: Data("b=1&a=2&b=3&empty=&bare&=nameless&&x=a=b".utf8))
    #expect(form.entries.map(\.name) == ["b", "a", "b", "empty", "bare", "", "x"])
    #expect(form.entries.map(\.value) == ["1", "2", "3", "", "", "nameless", "a=b"])
    #expect(form["b"] == "1" && form.all("b") == ["1", "3"] && form["none"] == nil)
  }

  @Test func `escapes are decoded`() throws {
    let form = try FormValues(parsing: Data("q=a+b%20c%2B%26%3d&%E4%B8%AD=%F0%9F%98%80".utf8))
    #expect(form["q"] == "a b c+&=" && form["中"] == "😀")
  }

  @Test func `names are compared by bytes`() throws {
    let form = try FormValues(parsing: Data("%C3%A9=1&e%CC%81=2".utf8))
    #expect(form["\u{e9}"] == "1" && form["e\u{301}"] == "2")
    #expect(form.all("\u{e9}") == ["1"] && form.all("e\u{301}") == ["2"])
    #expect(try FormValues(parsing: Data("a=%C3%A9".utf8)) != FormValues(parsing: Data("a=e%CC%81".utf8)))
  }

  @Test func `empty body has no values`() throws {
    #expect(try FormValues(parsing: Data()).entries.isEmpty)
  }

  @Test func `number of pairs is limited`() throws {
    #expect(FormValues.mostEntries == 1_000_000)
    #expect(try FormValues(parsing: Data("&a&&b&".utf8), mostEntries: 2).entries.map(\.name) == ["a", "b"])
    let failure = #expect(throws: FormatFailure.self) {
      try FormValues(parsing: Data("a&b&c".utf8), mostEntries: 2)
    }
    #expect(failure?.kind == .limit && failure?.reason.hasPrefix("the form has more than 2 values; ") == true)
  }

  @Test(arguments: [("a=%", "[0]"), ("a=1&b=%4", "[1]"), ("a=1&%zz=", "[1]"), ("a=1&b=2&c=%FF", "[2]")])
  func `broken escape names its field`(body: String, path: String) {
    #expect {
      try FormValues(parsing: Data(body.utf8))
    } throws: { error in
      let failure = error as? FormatFailure
      return failure?.kind == .malformed && failure?.path == path
    }
  }
}
