import ErrandCore
import Foundation
import Testing

struct PropertyListFormatTests {
  struct Item: Codable, Sendable, Equatable {
    var name: String
    var count: Int
    var when: Date?
    var bytes: Data?
    var inner: [String: [Bool]]
  }

  static let item = Item(
    name: "中 & <", count: -7, when: Date(timeIntervalSince1970: 1_000_000), bytes: Data([0, 255]),
    inner: ["a": [true, false]])

  static let head =
    #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n"
    + #"<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">"#
    + #"<plist version="1.0">"#

  static func response(_ body: Data, type: String? = nil) throws -> HTTPResponse {
    let fields = HTTPFields(type.map { [HTTPField(.contentType, $0)] } ?? [])
    return HTTPResponse(head: ResponseHead(status: 200, fields: fields), body: body, url: try HTTPURL("http://h/"))
  }

  static func read<Value: Decodable>(_ body: Data, as: Value.Type = Value.self) throws -> Value {
    try PropertyListFormat().decode(Value.self, from: body, of: response(body))
  }

  static func failure<Value: Decodable>(_ body: Data, as: Value.Type) -> FormatFailure? {
    do {
      _ = try read(body, as: Value.self)
      return nil
    } catch {
      return error as? FormatFailure
    }
  }

  @Test(arguments: [PropertyListFormat.Form.xml, .binary])
  func `values round-trip in both forms`(form: PropertyListFormat.Form) throws {
    let written = try PropertyListFormat(form).encode(Self.item)
    #expect(written.starts(with: (form == .xml ? "<?xml" : "bplist").utf8))
    #expect(try Self.read(written) == Self.item)
  }

  @Test func `DOCTYPE without subset is skipped`() throws {
    let body = Data((Self.head + "<array><integer>1</integer><integer>2</integer></array></plist>").utf8)
    #expect(try Self.read(body) == [1, 2])
  }

  @Test func `other encodings are decoded`() throws {
    let text = #"<?xml version="1.0" encoding="ISO-8859-1"?><plist version="1.0"><string>"#
    let body = Data(text.utf8) + Data([0xE9]) + Data("</string></plist>".utf8)
    #expect(try Self.read(body) == "é")
    let wide = try #require("<plist version='1.0'><string>é</string></plist>".data(using: .utf16))
    #expect(try Self.read(wide) == "é")
  }

  @Test(arguments: ["", "hello", "{ a = 5; }", "(1, 2)", "[]", "<html></html>", "<plist", "bplist00"])
  func `other bodies are refused`(body: String) {
    let failure = Self.failure(Data(body.utf8), as: [String: String].self)
    #expect(failure?.kind == (body.isEmpty ? .empty : .malformed))
  }

  @Test func `deep nesting is refused`() throws {
    for depth in [99, 100, 200_000] {
      let text = String(repeating: "<array>", count: depth) + String(repeating: "</array>", count: depth)
      let body = Data((Self.head.replacing("<plist version=\"1.0\">", with: "") + text).utf8)
      #expect((Self.failure(body, as: Int.self)?.kind == .limit) == (depth > 100), "\(depth)")
    }
  }

  @Test func `entities are refused`() {
    let bomb = #"<!DOCTYPE plist [<!ENTITY a "b">]><plist version="1.0"><string>&a;</string></plist>"#
    let failure = Self.failure(Data(bomb.utf8), as: String.self)
    #expect(failure?.kind == .forbidden)
    #expect(failure?.line == 1 && failure?.column == 1)
  }

  @Test func `type mismatch names its path`() throws {
    let written = try PropertyListFormat().encode(["items": [["count": 1], ["count": 2]]])
    struct Wrong: Decodable { struct Item: Decodable { let count: String }; let items: [Item] }
    let failure = Self.failure(written, as: Wrong.self)
    #expect(failure?.kind == .mismatch && failure?.path == "items[0].count")
    struct Missing: Decodable { struct Item: Decodable { let name: String }; let items: [Item] }
    #expect(Self.failure(written, as: Missing.self)?.description == "items[0].name: the value is missing")
  }

  @Test func `truncated lists throw and do not trap`() throws {
    for form in [PropertyListFormat.Form.xml, .binary] {
      let whole = try PropertyListFormat(form).encode(Self.item)
      for count in 0..<whole.count where count < whole.count - 1 {
        #expect(throws: FormatFailure.self, "\(form), \(count)") { try Self.read(whole.prefix(count), as: Item.self) }
      }
    }
  }

  @Test func `changed bytes throw a format failure`() throws {
    let whole = try PropertyListFormat(.binary).encode(Self.item)
    var failures = 0
    for place in whole.indices {
      for value: UInt8 in [0, 1, 0x7F, 0x80, 0xA1, 0xDF, 0xFF] {
        var damaged = whole
        damaged[place] = value
        // The result may still be a property list. Any outcome other than a value or this error fails the test.
        do { _ = try Self.read(damaged, as: Item.self) } catch is FormatFailure { failures += 1 }
      }
    }
    #expect(failures > whole.count)
  }
}
