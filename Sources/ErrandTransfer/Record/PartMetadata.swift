import ErrandCore
import ErrandJSON
package import Foundation

/// The metadata record of a partial file: the file `T.part.meta` next to the target `T`.
///
/// The file contains one JSON object. Its members are sorted by name, except `crc32`, which is the last member. `crc32`
/// consists of eight hexadecimal digits: the CRC-32 of all bytes before the comma in front of `crc32`. Times are
/// milliseconds since 1970. The file has at most 1 MiB.
///
/// ```
/// {"choices":{"isNamedByServer":false,"permissions":420,"replaces":true},
///  "committed":1048576,"created":1700000000000,"format":1,
///  "request":{"method":"GET","url":"https://h/a.zip","variant":"6c62272e07bb014262b821756295c58d"},
///  "total":4194304,"updated":1700000001000,"validator":{"kind":"etag","value":"\"v1\""},"crc32":"0badf00d"}
/// ```
package struct PartMetadata: Sendable, Hashable {
  /// The number of the record format that this version of the library writes and reads. A record of any other format is
  /// ignored.
  package static let format = 1

  /// The identity of the request that started the partial file.
  package var request: RequestIdentity
  /// The validator of the resource's version; nil if the download cannot be resumed.
  package var validator: Validator?
  /// The length of the whole file in bytes; nil if the server has not reported it.
  package var total: Int64?
  /// The content coding of the response; nil for none. A coded body cannot be resumed.
  package var coding: String?
  /// The checksum that the caller requires for the whole file.
  package var checksum: RecordedChecksum?
  /// The file name that the server chose for this version of the file. Nil if the server chose none, or if the caller
  /// chose the name.
  package var name: String?
  /// The caller's choices for storing the file.
  package var choices: RecordedChoices
  /// The time when the partial file was created, in milliseconds since 1970.
  package var created: Int64
  /// The time when the metadata record was last written, in milliseconds since 1970.
  package var updated: Int64
  /// The ranges that are in the partial file and on the disk.
  package var finished: ByteRanges

  /// Makes the record of a partial file that is still empty.
  /// - Parameter now: The current time in milliseconds since 1970.
  package init(
    request: RequestIdentity, validator: Validator?, total: Int64?, coding: String? = nil,
    checksum: RecordedChecksum? = nil, choices: RecordedChoices, now: Int64
  ) {
    self.request = request
    self.validator = validator
    self.total = total
    self.coding = coding
    self.checksum = checksum
    self.choices = choices
    created = now
    updated = now
    finished = ByteRanges()
  }

  /// The number of committed bytes before the first gap in the partial file.
  package var committed: Int64 { finished.prefix }

  /// Whether the missing bytes can be requested, provided that the server still has this version of the resource.
  package var isResumable: Bool {
    validator != nil && coding == nil && request.method == HTTPMethod.get.rawValue
  }
}

extension PartMetadata: Codable {
  private enum CodingKeys: String, CodingKey {
    case format, request, validator, total, coding, checksum, choices, created, updated, committed, segments, name
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let created = try container.decode(Int64.self, forKey: .created)
    self.init(
      request: try container.decode(RequestIdentity.self, forKey: .request),
      validator: try container.decodeIfPresent(Validator.self, forKey: .validator),
      total: try container.decodeIfPresent(Int64.self, forKey: .total),
      coding: try container.decodeIfPresent(String.self, forKey: .coding),
      checksum: try container.decodeIfPresent(RecordedChecksum.self, forKey: .checksum),
      choices: try container.decode(RecordedChoices.self, forKey: .choices), now: created)
    updated = try container.decode(Int64.self, forKey: .updated)
    // The record may have been changed, so the name is made safe again.
    name = try container.decodeIfPresent(String.self, forKey: .name).flatMap(FileName.safe)
    let committed = try container.decode(Int64.self, forKey: .committed)
    let segments = try container.decodeIfPresent([[Int64]].self, forKey: .segments)
    guard let finished = Self.finished(committed, segments), total.map({ $0 >= finished.end }) ?? (segments == nil)
    else {
      throw DecodingError.dataCorruptedError(
        forKey: .committed, in: container, debugDescription: "the byte ranges in the metadata record are invalid")
    }
    self.finished = finished
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Self.format, forKey: .format)
    try container.encode(request, forKey: .request)
    try container.encodeIfPresent(validator, forKey: .validator)
    try container.encodeIfPresent(total, forKey: .total)
    try container.encodeIfPresent(coding, forKey: .coding)
    try container.encodeIfPresent(checksum, forKey: .checksum)
    try container.encode(choices, forKey: .choices)
    try container.encodeIfPresent(name, forKey: .name)
    try container.encode(created, forKey: .created)
    try container.encode(updated, forKey: .updated)
    try container.encode(committed, forKey: .committed)
    if !finished.isPrefix {
      try container.encode(finished.all.map { [$0.lowerBound, $0.upperBound] }, forKey: .segments)
    }
  }

  private static func finished(_ committed: Int64, _ segments: [[Int64]]?) -> ByteRanges? {
    guard let segments else { return committed >= 0 ? ByteRanges(first: committed) : nil }
    var parts: [Range<Int64>] = []
    for pair in segments {
      guard pair.count == 2, let start = pair.first, let end = pair.last, start < end else { return nil }
      parts.append(start..<end)
    }
    guard let ranges = ByteRanges(parts), ranges.prefix == committed else { return nil }
    return ranges
  }
}

extension PartMetadata {
  /// The maximum size of a metadata record in bytes.
  package static let limit = 1 << 20

  /// The number of bytes that the CRC-32 takes at the end of a record: `,"crc32":"xxxxxxxx"}` and a line feed.
  private static let sealLength = 21

  private struct Format: Decodable { let format: Int }

  /// The bytes that are written into the record file, with the CRC-32 at their end.
  package func encoded() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var bytes = try encoder.encode(self).dropLast()
    bytes.append(contentsOf: Self.seal(of: bytes))
    return Data(bytes)
  }

  /// Reads the bytes of a record file; nil if they are no record of this format, or if the record is damaged. Never
  /// traps, whatever the bytes are.
  package static func read(_ bytes: Data) -> PartMetadata? {
    let body = bytes.dropLast(sealLength)
    guard bytes.count <= limit, bytes.first == 0x7B, bytes.suffix(sealLength).elementsEqual(seal(of: body)) else {
      return nil
    }
    let decoder = JSONDecoder()
    let json = Data(body + [0x7D])
    guard (try? decoder.decodeChecked(Format.self, from: json))?.format == Self.format else { return nil }
    return try? decoder.decodeChecked(PartMetadata.self, from: json)
  }

  private static func seal(of body: Data) -> [UInt8] {
    let digits = String(CRC32.of(body), radix: 16)
    return Array(",\"crc32\":\"\(String(repeating: "0", count: 8 - digits.count))\(digits)\"}\n".utf8)
  }
}

/// The CRC-32 of zlib and PNG (ISO 3309). It detects accidental damage, but no attacks.
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
  }

  static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
    let table = table
    return ~bytes.reduce(~0) { sum, byte in table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8 }
  }
}

/// The checksum that the caller requires for the whole file.
package struct RecordedChecksum: Sendable, Hashable, Codable {
  /// The name of the checksum algorithm, as RFC 9530 defines it.
  package let algorithm: String
  /// The expected checksum in lower-case hexadecimal digits.
  package let hex: String

  package init(algorithm: String, hex: String) {
    self.algorithm = algorithm.lowercased()
    self.hex = hex.lowercased()
  }
}

/// The caller's choices for storing the finished file. The choices also apply if a later download resumes the partial
/// file without knowing the original request.
package struct RecordedChoices: Sendable, Hashable {
  /// All permission bits that `chmod` accepts.
  private static let permissionBits: UInt16 = 0o7777

  package let permissions: UInt16
  /// Whether an existing file at the target is replaced.
  package let replaces: Bool
  /// The maximum size of the file in bytes; nil for no limit.
  package let maximumBytes: Int64?
  package var isNamedByServer: Bool

  package init(permissions: UInt16, replaces: Bool, maximumBytes: Int64? = nil, isNamedByServer: Bool = false) {
    self.permissions = permissions & Self.permissionBits
    self.replaces = replaces
    self.maximumBytes = maximumBytes.map { max($0, 0) }
    self.isNamedByServer = isNamedByServer
  }

  /// Copies the choices for storing the file from a `Download`.
  init(_ download: Download) {
    self.init(
      permissions: download.permissions, replaces: download.replaces, maximumBytes: download.maximumBytes,
      isNamedByServer: download.isNamedByServer)
  }
}

extension RecordedChoices: Codable {
  private enum CodingKeys: CodingKey { case permissions, replaces, maximumBytes, isNamedByServer }

  /// Decodes the choices. Throws if they contain unknown permission bits or a negative maximum size.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let permissions = try container.decode(UInt16.self, forKey: .permissions)
    let maximumBytes = try container.decodeIfPresent(Int64.self, forKey: .maximumBytes)
    self.init(
      permissions: permissions, replaces: try container.decode(Bool.self, forKey: .replaces),
      maximumBytes: maximumBytes, isNamedByServer: try container.decode(Bool.self, forKey: .isNamedByServer))
    guard self.permissions == permissions, self.maximumBytes == maximumBytes else {
      throw DecodingError.dataCorruptedError(
        forKey: .permissions, in: container, debugDescription: "the stored permissions or the maximum size are invalid")
    }
  }
}
