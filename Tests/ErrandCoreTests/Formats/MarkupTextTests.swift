@testable import ErrandCore
import Foundation
import Testing

struct MarkupTextTests {
  static func failure(_ text: String, depth: Int = 5, nodes: Int = 10) -> FormatFailure? {
    do {
      _ = try MarkupText(Data(text.utf8), charset: nil).checked(MarkupLimits(depth: depth, nodes: nodes))
      return nil
    } catch {
      return error
    }
  }

  static func text(_ body: Data, charset: String? = nil) throws -> String {
    String(decoding: try MarkupText(body, charset: charset).bytes, as: UTF8.self)
  }

  @Test func `declarations are replaced by blanks`() throws {
    let text = "<?xml version='1.0'\n?>\n<!DOCTYPE a PUBLIC '>' \"x\n\"><!--[--><a/>"
    let blanked = try Self.text(Data(text.utf8))
    #expect(blanked.utf8.count == text.utf8.count && blanked.hasSuffix("<!--[--><a/>"))
    #expect(blanked.count { $0 == "\n" } == 3 && !blanked.contains("DOCTYPE") && !blanked.contains("xml"))
  }

  @Test func `encoding sources have a precedence`() throws {
    let declared = Data("<?xml version='1.0' encoding='windows-1251'?><a>".utf8) + Data([0xE9]) + Data("</a>".utf8)
    #expect(try Self.text(declared).contains("й"))
    #expect(try Self.text(declared, charset: "iso-8859-1").contains("é"))
    #expect(try Self.text(Data([0xEF, 0xBB, 0xBF]) + Data("<a>é</a>".utf8), charset: "big5") == "<a>é</a>")
    #expect(try Self.text(Data("<a>é</a>".utf8)) == "<a>é</a>")
  }

  @Test func `UTF-16 is detected without byte order mark`() throws {
    let text = "<?xml version='1.0' encoding='utf-16'?><a>é</a>"
    for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian] {
      #expect(try Self.text(try #require(text.data(using: encoding))).hasSuffix("<a>é</a>"))
    }
    #expect(try Self.text(Data(text.utf8)).hasSuffix("<a>é</a>"))
  }

  @Test func `unknown charset is named`() {
    let failure = Self.failure("<?xml version='1.0' encoding='klingon'?><a/>")
    #expect(failure?.reason == "the charset \"klingon\" is unknown")
  }

  @Test(arguments: [
    "<!DOCTYPE a [<!ENTITY x 'y'>]><a/>", "<!DOCTYPE a [ ]><a/>", "<!-- x --><!DOCTYPE a SYSTEM 'u' [<a/>",
    "<?xml version='1.0'?>\n<?p?><!DOCTYPE a PUBLIC \"p\" \"]\" [<!ATTLIST a b CDATA 'c'>]><a/>",
  ])
  func `internal DTD subset is refused`(text: String) {
    #expect(Self.failure(text)?.kind == .forbidden)
  }

  @Test(arguments: [
    ("<a><b><c><d><e><f/>", FormatFailure.Kind.limit, 16),
    ("<a><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/></a>", .limit, 40),
    ("<a b='' c='' d='' e='' f='' g='' h='' i='' j='' k=''/>", .limit, 1), ("<a>\u{1F600}</a><", .malformed, 12),
    ("<a", .malformed, 1), ("<a b='", .malformed, 1), ("<a b='<c>'/>", .malformed, 7), ("</a>", .malformed, 1),
    ("<a/><!ELEMENT a>", .malformed, 5), ("<a><!-- ", .malformed, 4), ("<a><![CDATA[x", .malformed, 4),
    ("<a><?x", .malformed, 4), ("  <?xml version='1.0'?><a/>", .malformed, 3), ("<!-- ", .malformed, 1),
    ("<!DOCTYPE a", .malformed, 1), ("<?xml ", .malformed, 1), ("<a><b></b>", .malformed, 10), ("<", .malformed, 1),
  ])
  func `failure has kind and column`(text: String, kind: FormatFailure.Kind, column: Int) {
    let failure = Self.failure(text)
    #expect(failure?.kind == kind && failure?.line == 1 && failure?.column == column, "\(String(describing: failure))")
  }

  @Test func `document within limits passes`() {
    for text in [
      "<a><b><c><d><e/></d></c></b></a>", "<a b='>' c=\"'\"/>", "<a><![CDATA[<x><y><z>]]><!--<x>--><?p <x>?></a>",
      "<a/>", "", "text", "<a></a >",
    ] where !text.isEmpty {
      #expect(Self.failure(text) == nil, "\(text)")
    }
  }

  @Test func `attributes and texts are limited`() {
    let attributes = (0...1000).map { " a\($0)=''" }.joined()
    #expect(Self.failure("<a\(attributes)/>", nodes: 10_000)?.kind == .limit)
    let text = String(repeating: "x", count: 10_000_001)
    for body in ["<a>\(text)</a>", "<a b='\(text)'/>", "<a><![CDATA[\(text)]]></a>"] {
      #expect(Self.failure(body)?.kind == .limit)
    }
  }

  private static func element(_ name: String, _ count: Int, _ content: String) -> String {
    let declarations = (0..<count).map { $0 == 0 ? " xmlns = 'n'" : " xmlns:\(name)\($0)='n'" }.joined()
    return "<\(name)\(declarations)>\(content)</\(name)>"
  }

  @Test(arguments: [(500, 500, true), (500, 501, false), (1, 1_000, false), (1_000, 0, true)])
  func `nested namespace declarations are limited`(outer: Int, inner: Int, isRead: Bool) {
    let text = Self.element("a", outer, "<x/>" + Self.element("b", inner, "<x/>"))
    let failure = Self.failure(text, nodes: 10_000)
    let expected: FormatFailure.Kind? = isRead ? nil : .limit
    #expect(failure?.kind == expected, "\(String(describing: failure))")
    #expect(isRead || failure?.reason.contains("namespace declarations") == true)
  }

  @Test func `ended elements declare no namespaces`() {
    let siblings = String(repeating: Self.element("b", 600, ""), count: 3) + "<c xmlns:c='n'/><d xmlns:d='n'/>"
    #expect(Self.failure("<a>\(siblings)</a>", nodes: 10_000) == nil)
  }

  @Test func `other attributes declare no namespaces`() {
    let attributes = (0..<900).map { " xmlnsx\($0)='a xmlns:b'" }.joined()
    #expect(Self.failure("<a\(attributes)><xmlns\(attributes)/></a>", nodes: 10_000) == nil)
  }

  @Test(arguments: [
    ("<?x?><a><?yy ?></a><?z d?>", "<?x .?><a><?yy  .?></a><?z d?>"), ("<a>?></a>", "<a>?></a>"),
    ("<a><!--<?x?>--><![CDATA[<?y?>]]></a>", "<a><!--<?x?>--><![CDATA[<?y?>]]></a>"),
  ])
  func `bare processing instruction gets content`(text: String, safe: String) throws {
    let limits = MarkupLimits(depth: 5, nodes: 10)
    #expect(try MarkupText(Data(text.utf8), charset: nil).checked(limits) == Data(safe.utf8))
  }

  @Test func `break names element and line`() {
    let failure = Self.failure("<a>\n<item x='1'>\n  text")
    #expect(failure?.description == "line 3, column 6: the element <item> is not closed; the document is incomplete")
  }
}
