import ErrandCore
import Foundation
import Testing

struct TextDecodingTests {
  static func text(_ bytes: [UInt8], _ contentType: String?) throws -> String {
    let fields = contentType.map { HTTPFields([HTTPField(.contentType, $0)]) } ?? HTTPFields()
    return try HTTPResponse(
      head: ResponseHead(status: 200, fields: fields), body: Data(bytes), url: try HTTPURL("http://h/")
    ).text()
  }

  static let charsets: [(String, [UInt8], String)] = [
    ("utf-8", [0xE4, 0xB8, 0xAD, 0xF0, 0x9F, 0x98, 0x80], "中😀"), ("UTF8", [0xC3, 0xA9], "é"),
    ("us-ascii", [0x41], "A"), ("iso-8859-1", [0x63, 0x61, 0x66, 0xE9, 0x80], "café\u{80}"), ("latin1", [0xFC], "ü"),
    ("ISO-8859-2", [0xB1], "ą"), ("windows-1250", [0x9E], "ž"), ("windows-1251", [0xCF, 0xF0], "Пр"),
    ("windows-1252", [0x80, 0x93, 0x94], "€“”"), ("cp1252", [0xE9], "é"), ("windows-1253", [0xE1], "α"),
    ("windows-1254", [0xFE], "ş"), ("gbk", [0xD6, 0xD0, 0xCE, 0xC4], "中文"), ("GB2312", [0xC4, 0xE3, 0xBA, 0xC3], "你好"),
    ("gbk", [0xE9, 0x46], "镕"), ("gb18030", [0xD6, 0xD0, 0x95, 0x32, 0x82, 0x36], "中𠀀"),
    ("gb18030", [0xA2, 0xE3], "€"),
    ("gb18030", [0x94, 0x39, 0xFC, 0x36], "😀"), ("big5", [0xA4, 0xA4, 0xA4, 0xE5], "中文"), ("Big5", [0xC1, 0x63], "繁"),
    ("shift_jis", [0x93, 0xFA, 0x96, 0x7B, 0xB6, 0x5C], "日本ｶ\\"), ("Shift-JIS", [0x83, 0x5C], "ソ"),
    ("sjis", [0x82, 0xA0], "あ"),
    ("euc-kr", [0xB0, 0xA1, 0x81, 0x41], "가갂"), ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x1B, 0x28, 0x42], "日"),
    ("euc-kr", [0xC7, 0xD1, 0xB1, 0xDB], "한글"), ("ks_c_5601-1987", [0xC7, 0xD1], "한"),
    ("utf-16", [0x4E, 0x2D, 0xD8, 0x3D, 0xDE, 0x00], "中😀"), ("utf-16be", [0x4E, 0x2D], "中"),
    ("utf-16le", [0x2D, 0x4E, 0x3D, 0xD8, 0x00, 0xDE], "中😀"), ("utf-16", [0xFF, 0xFE, 0x2D, 0x4E], "中"),
    ("utf-16", [0xFE, 0xFF, 0x4E, 0x2D], "中"), ("utf-32", [0, 0, 0x4E, 0x2D], "中"),
    ("utf-32le", [0x2D, 0x4E, 0, 0], "中"),
    ("utf-8", [0xEF, 0xBB, 0xBF, 0x41], "A"), ("gbk", [0xEF, 0xBB, 0xBF, 0xC3, 0xA9], "é"),
    ("iso-8859-1", [0xFF, 0xFE, 0x41, 0x00], "A"), ("utf-8", [], ""), ("utf-16", [], ""), ("gbk", [], ""),
    ("iso-8859-5", [0xDF, 0xE0], "пр"),
    ("iso-8859-7", [0xE3, 0xE5, 0xE9], "γει"),
    ("iso-8859-9", [0xFD, 0xF0, 0xFE], "ığş"),
    ("iso-8859-15", [0x35, 0x20, 0xA4], "5 €"),
    ("koi8-r", [0xD0, 0xD2, 0xC9], "при"),
    ("windows-1255", [0xF9, 0xEC], "של"),
    ("windows-1256", [0xD3, 0xE1, 0xC7], "سلا"),
    ("windows-1257", [0xFE, 0xE0, 0xEB], "žąė"),
    ("windows-1258", [0xF0, 0xF5], "đơ"),
    ("tis-620", [0xCA, 0xC7], "สว"), ("windows-874", [0x80, 0x85], "€…"),
    ("big5", [0xFA, 0x40, 0xC8, 0xFE], "\u{E000}\u{F848}"), ("windows-949", [0xC9, 0xA1], "\u{E000}"),
    ("big5-hkscs", [0x9D, 0xEF, 0x9D, 0xF7], "嘅咗"),
    ("euc-jp", [0xC6, 0xFC, 0xCB, 0xDC], "日本"),
    ("euc-jp", [0x61, 0x8E, 0xB1, 0x20, 0x62, 0x8F, 0xB0, 0xA1], "aｱ b丂"),
    ("x-euc-jp", [0x41], "A"), ("cp1255", [0xF9, 0xEC], "של"), ("cp1256", [0xD3, 0xE1, 0xC7], "سلا"),
    ("cp1257", [0xFE, 0xE0, 0xEB], "žąė"), ("cp1258", [0xF0, 0xF5], "đơ"), ("iso8859-2", [0xB1], "ą"),
    ("iso_8859-5", [0xDF, 0xE0], "пр"), ("iso_8859-15", [0xA4], "€"), ("koi8_r", [0xD0, 0xD2, 0xC9], "при"),
    ("gb_2312", [0xC4, 0xE3, 0xBA, 0xC3], "你好"), ("ms932", [0x83, 0x5C], "ソ"), ("ksc5601", [0xC7, 0xD1], "한"),
  ]

  @Test(arguments: charsets) func `charset selects the decoding`(charset: String, bytes: [UInt8], expected: String)
    throws
  {
    #expect(try Self.text(bytes, "text/plain; charset=\(charset)") == expected)
    #expect(try Self.text(bytes, "text/plain;charset=\"\(charset.uppercased())\"") == expected)
  }

  @Test(arguments: [nil, "text/plain", "nonsense", "application/json", "text/html; charset="])
  func `UTF-8 is the default`(contentType: String?) throws {
    #expect(try Self.text([0xE4, 0xB8, 0xAD], contentType) == "中")
    #expect(throws: HTTPResponse.TextFailure.self) { try Self.text([0xD6, 0xD0], contentType) }
  }

  @Test(arguments: [
    ["text/plain; charset=gbk", "text/plain; charset=gbk"], ["nonsense", "text/plain; charset=gbk"],
    ["text/plain; charset=big5", "text/html; charset=gbk", "nonsense"],
  ])
  func `last valid Content-Type is used`(types: [String]) throws {
    let fields = HTTPFields(types.map { HTTPField(.contentType, $0) })
    let response = HTTPResponse(
      head: ResponseHead(status: 200, fields: fields), body: Data([0xD6, 0xD0]), url: try HTTPURL("http://h/"))
    #expect(try response.text() == "中")
  }

  @Test func `byte order mark replaces missing charset`() throws {
    #expect(try Self.text([0xEF, 0xBB, 0xBF, 0xC3, 0xA9], nil) == "é")
    #expect(try Self.text([0xFF, 0xFE, 0x2D, 0x4E], "text/plain") == "中")
    #expect(try Self.text([0xFE, 0xFF, 0x4E, 0x2D], nil) == "中")
    #expect(try Self.text([0xFF, 0xFE, 0, 0, 0x2D, 0x4E, 0, 0], nil) == "中")
    #expect(try Self.text([0, 0, 0xFE, 0xFF, 0, 0, 0x4E, 0x2D], nil) == "中")
  }

  @Test(
    arguments: [
      ("utf-8", [0xC3]), ("utf-8", [0xED, 0xA0, 0x80]), ("utf-8", [0xC0, 0xAF]), ("utf-8", [0xFF]),
      ("us-ascii", [0x80]), ("big5", [0x80]), ("big5", [0xFF]), ("big5", [0xA4, 0xA4, 0xFF]), ("euc-kr", [0x80]),
      ("euc-kr", [0xC7, 0xD1, 0xFF]), ("tis-620", [0x81]), ("tis-620", [0xDB]), ("tis-620", [0xCA, 0xFF]),
      ("gbk", [0xFF, 0xFF]), ("gbk", [0xD6]), ("big5", [0xA4]), ("shift_jis", [0x81]), ("euc-kr", [0xC7]),
      ("euc-jp", [0xC6]), ("euc-jp", [0x8E]), ("euc-jp", [0x8F, 0xB0]), ("euc-jp", [0xC6, 0x41]), ("euc-jp", [0x80]),
      ("euc-jp", [0x1B, 0x24, 0x42, 0x46, 0x7C]),
      ("utf-16", [0x4E]), ("utf-16", [0xD8, 0x3D]), ("utf-16le", [0x00, 0xDE, 0x41, 0x00]),
      ("utf-32", [0x00, 0x11, 0x00, 0x00]),
    ] as [(String, [UInt8])])
  func `invalid bytes are refused`(charset: String, bytes: [UInt8]) {
    let error = #expect(throws: HTTPResponse.TextFailure.self) {
      try Self.text(bytes, "text/plain; charset=\(charset)")
    }
    #expect(error?.description == "the body is not valid \(charset)")
  }

  @Test func `unknown charset is named`() {
    let error = #expect(throws: HTTPResponse.TextFailure.self) { try Self.text([0x41], "text/plain; charset=klingon") }
    #expect(error?.description == "the charset \"klingon\" is unknown")
  }
}
