import ErrandCore
import Foundation
import Testing

@testable import ErrandTransfer

struct PartMetadataTests {
  static let choices = RecordedChoices(permissions: 0o644, replaces: true)
  private static let choicesText = #"{"isNamedByServer":false,"permissions":420,"replaces":true}"#

  static func metadata(_ finished: [Range<Int64>] = [0..<1_048_576]) throws -> PartMetadata {
    let request = RequestIdentity(
      method: "GET", url: "https://h/a.zip", variant: "6c62272e07bb014262b821756295c58d")
    var metadata = PartMetadata(
      request: request, validator: .entityTag("\"v/1\""), total: 4_194_304,
      checksum: RecordedChecksum(algorithm: "SHA-256", hex: "ABCD"), choices: choices, now: 1_700_000_000_000)
    metadata.updated = 1_700_000_001_000
    metadata.finished = try #require(ByteRanges(finished))
    return metadata
  }

  /// The bytes of a record with a changed body and a matching checksum.
  static func forged(_ change: (String) -> String) throws -> Data {
    let text = String(decoding: try metadata().encoded(), as: UTF8.self)
    let end = try #require(text.range(of: ",\"crc32\""))
    let body = change(String(text[..<end.lowerBound]))
    let sum = String(CRC32.of(body.utf8), radix: 16)
    return Data("\(body),\"crc32\":\"\(String(repeating: "0", count: 8 - sum.count))\(sum)\"}\n".utf8)
  }

  /// The text is fixed: a change needs a new format number.
  @Test func `the format is as documented`() throws {
    let text = String(decoding: try Self.metadata().encoded(), as: UTF8.self)
    #expect(
      text == """
        {"checksum":{"algorithm":"sha-256","hex":"abcd"},\
        "choices":{"isNamedByServer":false,"permissions":420,"replaces":true},\
        "committed":1048576,"created":1700000000000,"format":1,\
        "request":{"method":"GET","url":"https://h/a.zip","variant":"6c62272e07bb014262b821756295c58d"},\
        "total":4194304,"updated":1700000001000,"validator":{"kind":"etag","value":"\\"v/1\\""},"crc32":"1b128950"}

        """)
    #expect(try JSONSerialization.jsonObject(with: Data(text.utf8)) is [String: Any])
  }

  private static let otherChoices = RecordedChoices(
    permissions: 0o600, replaces: false, maximumBytes: 5_000_000, isNamedByServer: true)

  /// The text is fixed too.
  @Test func `the choices are stored`() throws {
    var metadata = try Self.metadata()
    metadata.choices = Self.otherChoices
    let text = String(decoding: try metadata.encoded(), as: UTF8.self)
    let choices = #"{"isNamedByServer":true,"maximumBytes":5000000,"permissions":384,"replaces":false}"#
    #expect(text.contains(",\"choices\":\(choices),\"committed\":1048576,"), "\(text)")
    let forged = try Self.forged { $0.replacingOccurrences(of: Self.choicesText, with: choices) }
    #expect(PartMetadata.read(forged) == metadata)
  }

  @Test(arguments: [
    "7", "null", "{}", #"{"isNamedByServer":true,"permissions":384}"#,
    #"{"isNamedByServer":true,"permissions":-1,"replaces":true}"#,
    #"{"isNamedByServer":true,"permissions":4096,"replaces":true}"#,
    #"{"isNamedByServer":true,"permissions":99999,"replaces":true}"#,
    #"{"isNamedByServer":true,"permissions":384,"replaces":"yes"}"#,
    #"{"isNamedByServer":1,"permissions":384,"replaces":true}"#,
    #"{"isNamedByServer":true,"maximumBytes":-1,"permissions":384,"replaces":true}"#,
  ])
  func `invalid choices count as damage`(choices: String) throws {
    let bytes = try Self.forged { $0.replacingOccurrences(of: Self.choicesText, with: choices) }
    #expect(PartMetadata.read(bytes) == nil)
  }

  @Test func `the server's name is stored`() throws {
    var metadata = try Self.metadata()
    metadata.name = "book.txt"
    let text = String(decoding: try metadata.encoded(), as: UTF8.self)
    #expect(text.contains(#","format":1,"name":"book.txt","request":"#), "\(text)")
    #expect(PartMetadata.read(Data(text.utf8)) == metadata)
  }

  @Test(
    arguments: [(#""../../book.txt""#, "book.txt"), (#"".part""#, nil), (#""..""#, nil), ("null", nil)]
      as [(String, String?)])
  func `a stored name is made safe`(json: String, name: String?) throws {
    let bytes = try Self.forged { $0.replacingOccurrences(of: "\"request\"", with: "\"name\":\(json),\"request\"") }
    let metadata = try #require(PartMetadata.read(bytes))
    #expect(metadata.name == name)
  }

  @Test func `a name that is no text is damage`() throws {
    let bytes = try Self.forged { $0.replacingOccurrences(of: "\"request\"", with: "\"name\":7,\"request\"") }
    #expect(PartMetadata.read(bytes) == nil)
  }

  /// Foundation's decoder ends the process at this number.
  @Test func `a very long number is rejected`() throws {
    let number = "0.\(String(repeating: "0", count: 129))1e146"
    for member in ["committed", "created", "total"] {
      let bytes = try Self.forged { $0.replacing("\"\(member)\":", with: "\"\(member)\":\(number),\"x\":") }
      #expect(PartMetadata.read(bytes) == nil)
    }
  }

  @Test func `a record survives encoding and decoding`() throws {
    var other = try Self.metadata([0..<5, 7..<9])
    other.validator = .lastModified("Sun, 06 Nov 1994 08:49:37 GMT")
    other.checksum = nil
    var bare = try Self.metadata([])
    (bare.validator, bare.total, bare.coding) = (nil, nil, "gzip")
    var chosen = try Self.metadata()
    chosen.choices = Self.otherChoices
    for metadata in try [Self.metadata(), Self.metadata([3..<9]), other, bare, chosen] {
      #expect(try PartMetadata.read(metadata.encoded()) == metadata)
    }
  }

  @Test func `every flipped bit is detected`() throws {
    let bytes = try Self.metadata().encoded()
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= 1 << UInt8(index % 8)
      #expect(PartMetadata.read(damaged) == nil, "byte \(index)")
    }
  }

  @Test func `every truncation is detected`() throws {
    let bytes = try Self.metadata().encoded()
    for length in 0..<bytes.count { #expect(PartMetadata.read(bytes.prefix(length)) == nil) }
  }

  @Test(arguments: [
    "", "{", "{}", "null", "[]", "hello", String(repeating: "[", count: 5_000), String(repeating: "\u{0}", count: 100),
  ])
  func `other files are ignored`(text: String) { #expect(PartMetadata.read(Data(text.utf8)) == nil) }

  @Test func `a huge file is not read`() throws {
    let spaces = String(repeating: " ", count: PartMetadata.limit)
    #expect(try PartMetadata.read(Self.forged { "{\(spaces)\($0.dropFirst())" }) == nil)
  }

  @Test(arguments: [0, -1, 2, 900]) func `other formats are ignored`(format: Int) throws {
    let bytes = try Self.forged { $0.replacingOccurrences(of: "\"format\":1", with: "\"format\":\(format)") }
    #expect(PartMetadata.read(bytes) == nil)
  }

  @Test(arguments: [
    ("\"format\":1", "\"format\":\"1\""), ("\"format\":1", "\"format\":1e99"), ("\"format\":1", "\"x\":1"),
  ])
  func `an unreadable format is ignored`(old: String, new: String) throws {
    #expect(try PartMetadata.read(Self.forged { $0.replacingOccurrences(of: old, with: new) }) == nil)
  }

  @Test(arguments: [
    ("\"committed\":1048576", "\"committed\":-1"), ("\"committed\":1048576", "\"committed\":1e300"),
    ("\"committed\":1048576", "\"committed\":99999999999999999999"), ("\"committed\":1048576", "\"committed\":4194305"),
    ("\"committed\":1048576", "\"committed\":1.5"), ("\"total\":4194304", "\"total\":-1"),
    ("\"total\":4194304", "\"total\":1048575"), ("\"kind\":\"etag\"", "\"kind\":\"other\""),
    ("\\\"v/1\\\"", "v"), ("\"value\":\"", "\"value\":\"W/"), ("\"method\":\"GET\"", "\"method\":null"),
    ("\"total\"", "\"segments\":[[5,3]],\"total\""), ("\"total\"", "\"segments\":[[0,3],[3,9]],\"total\""),
    ("\"total\"", "\"segments\":[[0]],\"total\""), ("\"total\"", "\"segments\":[[0,7]],\"total\""),
    ("\"total\"", "\"segments\":[[-9,7]],\"total\""), ("\"total\"", "\"segments\":[[7,9],[1,2]],\"total\""),
    ("\"total\"", "\"segments\":[[0,1048576],[1048577,9223372036854775807]],\"total\""),
    ("\"total\":4194304", "\"segments\":[[0,1048576],[1048578,1048579]]"),
  ])
  func `invalid values with a correct CRC are damage`(old: String, new: String) throws {
    #expect(try PartMetadata.read(Self.forged { $0.replacingOccurrences(of: old, with: new) }) == nil)
  }

  @Test func `unknown members are ignored`() throws {
    let bytes = try Self.forged { $0.replacingOccurrences(of: "\"format\"", with: "\"extra\":[1],\"format\"") }
    #expect(try PartMetadata.read(bytes) == Self.metadata())
  }

  @Test(arguments: [("", 0), ("123456789", 0xCBF4_3926), ("The quick brown fox jumps over the lazy dog", 0x414F_A339)])
  func `the CRC matches zlib`(text: String, sum: UInt32) { #expect(CRC32.of(text.utf8) == sum) }
}
