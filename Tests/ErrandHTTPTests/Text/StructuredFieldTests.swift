import ErrandHTTP
import Foundation
import Testing

/// The examples and the grammar of RFC 9651. `DigestFieldsTests` has a table of invalid fields.
struct StructuredFieldTests {
  private typealias Value = StructuredField.Value

  private func values(_ members: [StructuredField.Member]) -> [StructuredField.Value?] { members.map(\.item?.value) }

  private func item(_ text: String) throws -> StructuredField.Item? {
    try StructuredField.list([text]).first?.item
  }

  @Test(
    arguments: [
      ("42", .integer(42)), ("-0", .integer(0)), ("-999999999999999", .integer(-999_999_999_999_999)),
      ("4.5", .decimal(thousandths: 4_500)), ("-12.125", .decimal(thousandths: -12_125)),
      ("-0.25", .decimal(thousandths: -250)), ("\"hello world\"", .string("hello world")),
      ("\"a \\\"b\\\\\"", .string("a \"b\\")), ("foo123/456", .token("foo123/456")), ("*/*", .token("*/*")),
      (":cHJldGVuZCB0aGlzIGlzIGJpbmFyeSBjb250ZW50Lg==:", .bytes(Data("pretend this is binary content.".utf8))),
      ("?1", .boolean(true)), ("?0", .boolean(false)), ("@1659578233", .date(1_659_578_233)),
      ("%\"This is intended for display to %c3%bcsers.\"", .displayString("This is intended for display to üsers.")),
    ] as [(String, StructuredField.Value)])
  func `values have their types`(text: String, value: StructuredField.Value) throws {
    #expect(try item(text)?.value == value)
  }

  @Test func `list of tokens may span lines`() throws {
    let tokens: [Value?] = [.token("sugar"), .token("tea"), .token("rum")]
    #expect(values(try StructuredField.list(["sugar, tea, rum"])) == tokens)
    #expect(values(try StructuredField.list(["sugar, tea", "rum"])) == tokens)
    #expect(try StructuredField.list([]).isEmpty)
  }

  @Test func `inner lists have parameters`() throws {
    let members = try StructuredField.list(["(\"foo\"; a=1;b=2);lvl=5, (\"bar\" \"baz\");lvl=1, ()"])
    guard case .list(let first, let whole) = members[0], case .list(let second, _) = members[1] else {
      Issue.record("inner lists are expected")
      return
    }
    #expect(first.map(\.value) == [.string("foo")] && second.map(\.value) == [.string("bar"), .string("baz")])
    #expect(first[0].parameters["a"] == .integer(1) && first[0].parameters["b"] == .integer(2))
    #expect(whole["lvl"] == .integer(5) && whole["a"] == nil)
    #expect(members.count == 3 && members[2].item == nil)
  }

  @Test func `dictionary members may be Booleans`() throws {
    let members = try StructuredField.dictionary(["a=?0, b, c; foo=bar", "rating=1.5, feelings=(joy sadness)"])
    #expect(members["a"]?.item?.value == .boolean(false) && members["b"]?.item?.value == .boolean(true))
    #expect(members["c"]?.item?.value == .boolean(true) && members["c"]?.item?.parameters["foo"] == .token("bar"))
    #expect(members["rating"]?.item?.value == .decimal(thousandths: 1_500))
    #expect(members["feelings"] != nil && members["feelings"]?.item == nil && members.count == 5)
  }

  @Test func `last of equal keys wins`() throws {
    #expect(try StructuredField.dictionary(["a=1, b=2, a=3"])["a"]?.item?.value == .integer(3))
    let parameters = try item("x;a=1;b=2;a=3")?.parameters
    #expect(parameters?.all.map(\.key) == ["a", "b"] && parameters?["a"] == .integer(3))
  }

  @Test(arguments: [
    "a, ", ",a", "a b", "a;", "a;B", "(a", "(a,b)", "1.", "1.2345", "1234567890123456", "@1.0", "\"é\"", "?2",
  ])
  func `invalid list is no list`(text: String) {
    #expect(throws: StructuredField.ParseError.self) { try StructuredField.list([text]) }
  }
}

/// `Accept-Query`, with the examples of RFC 10008.
struct AcceptQueryTests {
  private func accepted(_ lines: String...) throws -> [MediaType] {
    let fields = HTTPFields(lines.map { HTTPField("Accept-Query", $0) })
    return HTTPResponse(head: ResponseHead(status: 200, fields: fields), url: try HTTPURL("http://h/")).acceptQuery
  }

  @Test func `strings and tokens name types`() throws {
    let types = try accepted("\"application/jsonpath\", application/sql;charset=\"UTF-8\"")
    #expect(types.map(\.essence) == ["application/jsonpath", "application/sql"])
    #expect(types[0].parameters.isEmpty && types[1]["charset"] == "UTF-8")
    #expect(try accepted("application/x-www-form-urlencoded", "application/sql").count == 2)
    #expect(try accepted("*/*, \"text/*\"").map(\.essence) == ["*/*", "text/*"])
  }

  @Test(arguments: ["", "application/sql,", "application/sql; q=", "5, (a/b)", "\"text/plain;charset=x\", \"plain\""])
  func `other fields name no type`(line: String) throws {
    #expect(try accepted(line).isEmpty)
    #expect(try accepted().isEmpty)
  }
}
