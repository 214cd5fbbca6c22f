import ErrandCore
import ErrandXML
import Foundation
import Testing

struct XMLValueTests {
  static func failure(
    _ body: Data, charset: String? = nil, limits: XMLLimits = XMLLimits()
  ) -> FormatFailure? {
    do {
      _ = try XMLValue(parsing: body, charset: charset, limits: limits)
      return nil
    } catch {
      return error
    }
  }

  static func failure(_ text: String, limits: XMLLimits = XMLLimits()) -> FormatFailure? {
    failure(Data(text.utf8), limits: limits)
  }

  static func value(_ text: String) throws -> XMLValue { try XMLValue(parsing: Data(text.utf8)) }

  @Test func `document keeps names, order and text`() throws {
    let value = try Self.value(
      "<?xml version='1.0'?>\n<!-- c --><a x='1' y='&lt;&#65;\"'>one &amp; <b/>two<!-- no --><?no no?> <b z=''>é</b></a>\n"
    )
    #expect(value.name == "a" && value.attributes == ["x": "1", "y": "<A\""] && value.namespace == nil)
    #expect(
      value.content == [
        .text("one & "), .element(XMLValue("b")), .text("two "),
        .element(XMLValue("b", attributes: ["z": ""], content: [.text("é")])),
      ])
    #expect(value.text == "one & two " && value["b"] == XMLValue("b") && value.children("b").count == 2)
    #expect(value["c"] == nil)
  }

  @Test func `CDATA is text`() throws {
    #expect(try Self.value("<a>x<![CDATA[<y>&amp;]]>z</a>").content == [.text("x<y>&amp;z")])
    #expect(try Self.value("<a><![CDATA[]]></a>").content.isEmpty)
  }

  @Test func `namespaces distinguish names`() throws {
    let value = try Self.value("<a xmlns='urn:d' xmlns:p='urn:p' p:x='1'><p:b>1</p:b><b>2</b><c xmlns=''/></a>")
    #expect(value.namespace == "urn:d" && value.attributes == ["p:x": "1"])
    #expect(value["b"]?.text == "1" && value["{urn:d}b"]?.text == "2" && value["{urn:p}b"]?.text == "1")
    #expect(value["{}c"]?.namespace == nil && value["{}c"] != nil && value["{urn:d}c"] == nil)
  }

  @Test(arguments: [
    ("<?xml version='1.0' encoding='ISO-8859-1'?><a>\u{E9}</a>", String.Encoding.isoLatin1, String?.none),
    ("<?xml version='1.0' encoding='utf-8'?><a>\u{E9}</a>", .isoLatin1, "iso-8859-1"),
    ("<a>\u{E9}</a>", .utf16, nil), ("<?xml version='1.0'?><a>\u{E9}</a>", .utf16LittleEndian, nil),
    ("<?xml version=\"1.0\" encoding=\"UTF-16\"?><a>\u{E9}</a>", .utf16, nil), ("<a>\u{E9}</a>", .utf8, nil),
  ])
  func `encoding is detected`(text: String, encoding: String.Encoding, charset: String?) throws {
    let body = try #require(text.data(using: encoding))
    #expect(try XMLValue(parsing: body, charset: charset).text == "é")
  }

  @Test func `Chinese encoding is read`() throws {
    let body = Data("<?xml version='1.0' encoding='GBK'?><a>".utf8) + Data([0xD6, 0xD0]) + Data("</a>".utf8)
    #expect(try XMLValue(parsing: body).text == "中")
  }

  @Test(arguments: ["<?x?><a>t</a><?y?>", "<a><?x?>t<?y ?></a>", "<a>t<?x y?></a>", "<a>t<!----></a>"])
  func `processing instructions are ignored`(text: String) throws {
    #expect(try Self.value(text) == XMLValue("a", content: [.text("t")]))
  }

  @Test(arguments: ["<a><??></a>", "<a><? ?></a>", "<a><?1?></a>", "<a><?xml version='1.0'?></a>"])
  func `nameless instructions are errors`(text: String) {
    #expect(Self.failure(text)?.kind == .malformed)
  }

  @Test func `line ends are normalised`() throws {
    #expect(try Self.value("<a>x\r\ny</a>").text == "x\ny")
  }

  @Test(arguments: [
    "", " \n", "<", "<a>", "<a", "x", "<a></a", "<a></b>", "<a><b></a></b>", "<a/><b/>", "<a/>x", "<a x='1' x='2'/>",
    "<a x=1/>", "<a x/>", "<a x='<'/>", "<p:a/>", "<a p:x=''/>", "<a>&nbsp;</a>", "<a x='&nbsp;'/>", "<a>&#0;</a>",
    "<a>&#xD800;</a>", "<a>&#x110000;</a>", "<a>&amp</a>", "<a>]]></a>", "<a>\u{1}</a>", "<a>x\0y</a>", "<a/>\0",
    "\0<a/>", "<a>\0", "<1/>", "<a b='1'c='2'/>", "</a>", "<a xmlns:x='u' xmlns:y='u' x:a='' y:a=''/>", "{}",
    "<html><br></html>",
  ])
  func `malformed documents are errors`(text: String) {
    let failure = Self.failure(text)
    #expect(failure?.kind == (text.isEmpty ? .empty : .malformed), "\(String(describing: failure))")
  }

  @Test func `invalid bytes are errors`() {
    #expect(Self.failure(Data([0x3C, 0x61, 0x3E, 0xFF, 0x3C, 0x2F, 0x61, 0x3E]))?.kind == .malformed)
    #expect(Self.failure(Data("<a/>".utf8), charset: "klingon")?.reason == "the charset \"klingon\" is unknown")
  }

  @Test func `error has line and remedy`() {
    #expect(
      Self.failure("<a>\n  <b>&euro;</b></a>")?.description
        == "line 2, column 12: an entity is unknown; "
        + "XML defines only &lt; &gt; &amp; &apos; &quot; and numeric references")
    #expect(Self.failure("<a>\n<b></c></a>")?.line == 2)
    #expect(Self.failure("<?xml version='1.0'?>\n<!DOCTYPE a\n>\n<a>&x;</a>")?.line == 4)
  }

  @Test(arguments: [1, 2, 17, 100, 1 << 20]) func `unclosed elements are errors`(depth: Int) {
    let text = String(repeating: "<a>", count: depth)
    #expect(Self.failure(text)?.kind == (depth > 100 ? .limit : .malformed))
  }

  @Test func `truncated documents are errors`() throws {
    let text = "<?xml version='1.0'?><!DOCTYPE a><a x='1'>é<b><![CDATA[x]]></b><!-- c --><?p i?>&amp;</a>"
    let whole = Data(text.utf8)
    #expect(try XMLValue(parsing: whole).text == "é&")
    for count in 0..<whole.count { #expect(Self.failure(whole.prefix(count)) != nil, "\(count)") }
  }

  @Test func `changed bytes never crash`() {
    let whole = Data("<a x='1' p:y=\"2\" xmlns:p='u'>é<b><![CDATA[x]]></b><!-- c --><?p i?>&amp;</a>".utf8)
    for place in whole.indices {
      for value: UInt8 in [0, 0x20, 0x26, 0x27, 0x2F, 0x3C, 0x3E, 0x5B, 0x5D, 0xFF] {
        var damaged = whole
        damaged[place] = value
        if let failure = Self.failure(damaged) { #expect(!failure.reason.isEmpty) }
      }
    }
  }
}
