import ErrandCore
import Testing

@Suite struct HTTPFieldsTests {
  static func raw(_ lines: String) -> HTTPFields {
    HTTPFields(raw: RawFieldBlock(bytes: Array(lines.utf8), count: lines.split(separator: "\n").count))
  }

  @Test func `names are found without case`() {
    for fields in [["X-Name": "a", "x-name": "b", "Y": "c"] as HTTPFields, Self.raw("X-Name:a\nx-name:b\nY:c\n")] {
      #expect(fields["x-NAME"] == "a, b" && fields.values(of: "X-NAME") == ["a", "b"])
      #expect(fields.contains("y") && !fields.contains("X-Nam") && fields["Z"] == nil)
      #expect(fields.count == 3 && fields.all.map(\.value) == ["a", "b", "c"])
    }
  }

  @Test func `raw and listed fields are equal`() {
    let listed: HTTPFields = ["A": "1", "Set-Cookie": "2"]
    #expect(listed == Self.raw("a:1\nset-cookie:2\n") && listed.hashValue == Self.raw("a:1\nset-cookie:2\n").hashValue)
  }

  @Test func `setting replaces, nil removes`() {
    var fields = Self.raw("A:1\nB:2\na:3\n")
    fields["a"] = "9"
    #expect(fields.all.map(\.value) == ["9", "2"])
    fields["B"] = nil
    #expect(fields.all.map(\.value) == ["9"])
  }

  @Test func `a secret stays one when set`() {
    var fields = HTTPFields([HTTPField("X-Key", "old", isSecret: true)])
    fields["x-key"] = "MARKER"
    #expect(fields.all.first?.isSecret == true && fields.description == "x-key: •••")
  }

  @Test(arguments: ["Authorization", "proxy-authorization", "COOKIE", "Set-Cookie"])
  func `some names are born secret`(name: String) {
    #expect(HTTPField(HTTPFieldName(name), "v").isSecret)
    #expect(Self.raw("\(name):MARKER\n").description == "\(name): •••")
  }

  @Test func `opaque bytes are Latin-1`() {
    let fields = HTTPFields(raw: RawFieldBlock(bytes: Array("A:caf".utf8) + [0xE9, 0x0A], count: 1))
    #expect(fields["a"] == "café")
  }

  @Test func `masks hide secrets in dumps`() {
    for fields in [HTTPFields([HTTPField("X-Key", "MARKER", isSecret: true)]), ["Set-Cookie": "MARKER"]] {
      var text = "\(fields) \(String(reflecting: fields))"
      dump(fields, to: &text)
      #expect(!text.contains("MARKER"))
    }
  }
}
