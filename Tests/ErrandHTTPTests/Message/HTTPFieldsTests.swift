import ErrandHTTP
import Testing

struct HTTPFieldsTests {
  static func raw(_ lines: String) -> HTTPFields {
    HTTPFields(raw: RawFieldBlock(bytes: Array(lines.utf8), count: lines.split(separator: "\n").count))
  }

  @Test func `names are case-insensitive`() {
    for fields in [["X-Name": "a", "x-name": "b", "Y": "c"] as HTTPFields, Self.raw("X-Name:a\nx-name:b\nY:c\n")] {
      #expect(fields["x-NAME"] == "a, b" && fields.values(of: "X-NAME") == ["a", "b"])
      #expect(fields.contains("y") && !fields.contains("X-Nam") && fields["Z"] == nil)
      #expect(fields.count == 3 && fields.all.map(\.value) == ["a", "b", "c"])
    }
  }

  @Test func `raw and parsed fields are equal`() {
    let listed: HTTPFields = ["A": "1", "Set-Cookie": "2"]
    #expect(listed == Self.raw("a:1\nset-cookie:2\n") && listed.hashValue == Self.raw("a:1\nset-cookie:2\n").hashValue)
  }

  @Test func `setting replaces and nil removes`() {
    var fields = Self.raw("A:1\nB:2\na:3\n")
    fields["a"] = "9"
    #expect(fields.all.map(\.value) == ["9", "2"])
    fields["B"] = nil
    #expect(fields.all.map(\.value) == ["9"])
  }

  @Test func `secret field stays secret when set`() {
    var fields = HTTPFields([HTTPField("X-Key", "old", isSecret: true)])
    fields["x-key"] = "MARKER"
    #expect(fields.all.first?.isSecret == true && fields.description == "x-key: •••")
  }

  @Test(arguments: ["Authorization", "proxy-authorization", "COOKIE", "Set-Cookie"])
  func `credential fields are always secret`(name: String) {
    #expect(HTTPField(HTTPFieldName(name), "v").isSecret)
    #expect(Self.raw("\(name):MARKER\n").description == "\(name): •••")
    var field = HTTPField(HTTPFieldName(name), "v")
    field.isSecret = false
    #expect(field.isSecret)
    field = HTTPField("X-Name", "v")
    field.name = HTTPFieldName(name)
    #expect(field.isSecret)
    field.name = "X-Name"
    #expect(field.isSecret)
    field.isSecret = false
    #expect(!field.isSecret)
  }

  @Test func `non-UTF-8 bytes are Latin-1`() {
    let fields = HTTPFields(raw: RawFieldBlock(bytes: Array("A:caf".utf8) + [0xE9, 0x0A], count: 1))
    #expect(fields["a"] == "café")
  }

  @Test(
    arguments: [[0x63, 0xE9], [0xD6, 0xD0, 0x5C], [0xC3, 0xA9], Array("\u{F7E9}".utf8), [0xF0, 0x9F]] as [[UInt8]])
  func `field value keeps its bytes`(value: [UInt8]) {
    var fields = HTTPFields(raw: RawFieldBlock(bytes: Array("Set-Cookie:".utf8) + value + [0x0A], count: 1))
    let text = fields.values(of: .setCookie)
    #expect(text.map { FieldOctets.bytes(of: $0) } == [value] && fields.all.map(\.value) == text)
    #expect(fields.all.map { RawFieldBlock.bytes(of: $0) } == [value])
    // A mutation turns the raw bytes into a list of fields.
    fields.append(HTTPField("A", "1"))
    #expect(fields.values(of: .setCookie) == text)
  }

  @Test(arguments: [
    "ETag", "WWW-Authenticate", "Proxy-Authenticate", "Authentication-Info", "proxy-authentication-info",
  ])
  func `value that is sent back keeps its bytes`(name: String) {
    let value = Array("realm=\"Caf".utf8) + [0xE9, 0x22]
    let fields = HTTPFields(raw: RawFieldBlock(bytes: Array("\(name):".utf8) + value + [0x0A], count: 1))
    #expect(fields[HTTPFieldName(name)].map { FieldOctets.bytes(of: $0) } == value)
    #expect(fields.all.map { RawFieldBlock.bytes(of: $0) } == [value])
  }

  @Test(arguments: ["Location", "Content-Location", "Link"]) func `URL field keeps its bytes`(name: String) {
    let fields = HTTPFields(raw: RawFieldBlock(bytes: Array("\(name):/caf".utf8) + [0xE9, 0x0A], count: 1))
    #expect(fields[HTTPFieldName(name)] == "/caf%E9" && fields.all.map(\.value) == ["/caf%E9"])
  }

  @Test func `octets convert to readable Latin-1`() {
    let fields = HTTPFields(raw: RawFieldBlock(bytes: Array("ETag:caf".utf8) + [0xE9, 0x0A], count: 1))
    #expect(fields["etag"].map { FieldOctets.readable($0) } == "café")
  }

  @Test(arguments: [
    ("X-A", "a\u{1B}[2J\u{202E}", "X-A: a\\u{1b}[2J\\u{202e}"), ("X\nA", "b", "X\\u{a}A: b"),
    ("Link", "</a?b=1&c=2>", "Link: </a?b=•••&c=•••"), ("content-location", "/a?b\r", "content-location: /a?•••"),
    ("X-Link", "/a?b=1", "X-Link: /a?b=1"),
  ])
  func `description is one line without queries`(name: String, value: String, shown: String) {
    #expect(HTTPField(HTTPFieldName(name), value).description == shown)
  }

  @Test func `descriptions and dumps mask secrets`() {
    for fields in [HTTPFields([HTTPField("X-Key", "MARKER", isSecret: true)]), ["Set-Cookie": "MARKER"]] {
      var text = "\(fields) \(String(reflecting: fields))"
      dump(fields, to: &text)
      #expect(!text.contains("MARKER"))
    }
  }

  static let names = (0..<400).map { "X-\($0 * 7 % 400)" } + ["a", "B", "Te", "Date", "ETag", "Vary"]

  @Test func `each of many names is found`() {
    let all = HTTPFields(Self.names.map { HTTPField(HTTPFieldName($0), $0) })
    let raw = Self.raw(Self.names.map { "\($0):\($0)\n" }.joined())
    for name in Self.names {
      for (fields, name) in [(all, name), (raw, name.uppercased()), (all, name.lowercased())] {
        #expect(fields.contains(HTTPFieldName(name)) && fields.values(of: HTTPFieldName(name)).count == 1)
      }
    }
  }

  @Test func `only present names are found`() {
    for name in Self.names {
      let listed: HTTPFields = [HTTPFieldName(name): "v"]
      for fields in [listed, Self.raw("\(name):v\n")] {
        #expect(Self.names.filter { fields[HTTPFieldName($0)] != nil } == [name])
      }
    }
  }

  @Test func `look-ups see changes`() {
    var fields = HTTPFields()
    fields.append(HTTPField("A", "1"))
    fields.replace(HTTPField("B", "2"))
    #expect(fields["a"] == "1" && fields["b"] == "2")
    fields.remove("A")
    fields.removeAll { $0.name == "B" }
    #expect(!fields.contains("A") && !fields.contains("B") && fields["A"] == nil && fields.isEmpty)
    fields["A"] = "3"
    #expect(fields.values(of: "A") == ["3"])
  }

  @Test func `raw field without line feed is ignored`() {
    let fields = HTTPFields(raw: RawFieldBlock(bytes: Array("A:1\nno colon\n:2\nB:3".utf8), count: 2))
    #expect(fields.all.map(\.value) == ["1", "2"] && !fields.contains("B") && fields[""] == "2")
  }
}
