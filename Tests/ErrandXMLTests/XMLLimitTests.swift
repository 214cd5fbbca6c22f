import ErrandCore
import ErrandXML
import Foundation
import Testing

struct XMLLimitTests {
  static func nested(_ depth: Int) -> String {
    String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
  }

  @Test func `depth is limited`() {
    #expect(XMLValueTests.failure(Self.nested(100)) == nil)
    let failure = XMLValueTests.failure(Self.nested(101))
    #expect(failure?.kind == .limit && failure?.line == 1 && failure?.column == 301)
    #expect(
      failure?.reason
        == "the document is nested deeper than 100 levels; let the server send a document with fewer levels")
    #expect(XMLValueTests.failure(Self.nested(3), limits: XMLLimits(depth: 2))?.kind == .limit)
  }

  @Test func `depth limit has a maximum`() {
    let limits = XMLLimits(depth: .max)
    #expect(limits.depth == 500)
    #expect(XMLValueTests.failure(Self.nested(500), limits: limits) == nil)
    #expect(XMLValueTests.failure(Self.nested(501), limits: limits)?.kind == .limit)
  }

  @Test func `later depth limit has a maximum`() {
    var limits = XMLLimits()
    limits.depth = .max
    #expect(XMLValueTests.failure(Self.nested(500), limits: limits) == nil)
    #expect(XMLValueTests.failure(Self.nested(501), limits: limits)?.kind == .limit)
  }

  @Test func `number of nodes is limited`() {
    let limits = XMLLimits(nodes: 3)
    #expect(XMLValueTests.failure("<a x=''><b/></a>", limits: limits) == nil)
    #expect(XMLValueTests.failure("<a x=''><b/><b/></a>", limits: limits)?.kind == .limit)
    #expect(XMLValueTests.failure("<a x='' y='' z=''/>", limits: limits)?.kind == .limit)
  }

  @Test func `number of bytes is limited`() {
    let limits = XMLLimits(bytes: 8)
    #expect(XMLValueTests.failure("<a>1</a>", limits: limits) == nil)
    #expect(
      XMLValueTests.failure("<a>12</a>", limits: limits)?.description
        == "the document has 9 bytes; the limit is 8 bytes (`XMLLimits.bytes`)")
  }

  @Test func `many attributes are rejected fast`() {
    let attributes = (0..<300_000).map { " a\($0)=''" }.joined()
    #expect(XMLValueTests.failure("<a\(attributes)/>")?.kind == .limit)
  }

  @Test func `many entities in text are read`() throws {
    let text = String(repeating: "&amp;", count: 200_000)
    #expect(try XMLValueTests.value("<a>\(text)</a>").text.utf8.count == 200_000)
  }

  /// Each text looks like UTF-32 in one of its byte orders, with which the parser on Linux would end the process.
  @Test(arguments: ["\0\0\0<a/>", "<\0\0\0a/>", "\0\0<\0a/>", "\0<\0\0a/>", "<a>\0</a>"])
  func `NUL never reaches the parser`(text: String) {
    #expect(XMLValueTests.failure(text)?.kind == .malformed)
    let reason =
      "NUL characters are not allowed (XML 1.0, part 2.2); let the server send no NUL characters, or name the charset if the text is in UTF-16 or UTF-32"
    #expect(XMLValueTests.failure("\0\0\0<a/>")?.description == "line 1, column 1: \(reason)")
  }

  @Test(arguments: [("utf-32be", String.Encoding.utf32BigEndian), ("utf-32le", .utf32LittleEndian)])
  func `UTF-32 is read by charset`(name: String, encoding: String.Encoding) throws {
    let body = try #require("<a>é</a>".data(using: encoding))
    #expect(try XMLValue(parsing: body, charset: name).text == "é")
  }

  @Test func `entity expansion is rejected`() {
    let bomb = """
      <?xml version="1.0"?>
      <!DOCTYPE lolz [
        <!ENTITY a "ha">
        <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
        <!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">
      ]>
      <lolz>&c;</lolz>
      """
    let failure = XMLValueTests.failure(bomb)
    #expect(failure?.kind == .forbidden)
    #expect(
      failure?.description
        == "line 2, column 1: a document type that declares entities or elements is always rejected; "
        + "the server must omit the document type")
  }

  @Test func `external files are never read`() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "errand-xml-\(UUID().uuidString)")
    try Data("<!ENTITY e 'MARKER'>".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let url = file.absoluteString
    let inner = "<!DOCTYPE a [<!ENTITY e SYSTEM \"\(url)\">]><a>&e;</a>"
    #expect(XMLValueTests.failure(inner)?.kind == .forbidden)
    // An external document type is skipped, so the entity that it declares is unknown.
    #expect(XMLValueTests.failure("<!DOCTYPE a SYSTEM \"\(url)\"><a>&e;</a>")?.kind == .malformed)
    #expect(try XMLValueTests.value("<!DOCTYPE a SYSTEM \"\(url)\"><a>x</a>").text == "x")
    let include = "<a xmlns:xi='http://www.w3.org/2001/XInclude'><xi:include href='\(url)' parse='text'/></a>"
    #expect(try XMLValueTests.value(include).children.first?.content.isEmpty == true)
  }
}
