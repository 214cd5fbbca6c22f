package import Foundation

extension PartRecord: Codable {
  private enum CodingKeys: String, CodingKey {
    case format, request, validator, total, coding, checksum, choices, created, updated, committed, segments
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
      choices: try container.decodeIfPresent(RecordedChoices.self, forKey: .choices), now: created)
    updated = try container.decode(Int64.self, forKey: .updated)
    let committed = try container.decode(Int64.self, forKey: .committed)
    let segments = try container.decodeIfPresent([[Int64]].self, forKey: .segments)
    guard let finished = Self.finished(committed, segments), total.map({ $0 >= finished.end }) ?? (segments == nil)
    else {
      throw DecodingError.dataCorruptedError(
        forKey: .committed, in: container, debugDescription: "ranges that cannot be")
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
    try container.encodeIfPresent(choices, forKey: .choices)
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

extension PartRecord {
  /// The most bytes of a record.
  package static let limit = 1 << 20

  /// `,"crc32":"xxxxxxxx"}` and a line feed.
  private static let sealLength = 21

  private struct Format: Decodable { let format: Int }

  /// The bytes of the file.
  package func encoded() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var bytes = try encoder.encode(self).dropLast()
    bytes.append(contentsOf: Self.seal(of: bytes))
    return Data(bytes)
  }

  /// Reads the bytes of a file; never traps, whatever they are.
  package static func read(_ bytes: Data) -> Result<PartRecord, PartRecordProblem> {
    guard bytes.count <= limit else { return .failure(.tooLarge) }
    let body = bytes.dropLast(sealLength)
    let end = bytes.suffix(sealLength)
    guard bytes.first == 0x7B, end.count == sealLength, end.starts(with: ",\"crc32\":\"".utf8) else {
      return .failure(.foreign)
    }
    guard end.elementsEqual(seal(of: body)) else { return .failure(.damaged) }
    let decoder = JSONDecoder()
    let json = Data(body + [0x7D])
    guard let format = try? decoder.decode(Format.self, from: json).format else { return .failure(.foreign) }
    if format < Self.format { return .failure(.older(format)) }
    if format > Self.format { return .failure(.newer(format)) }
    guard let record = try? decoder.decode(PartRecord.self, from: json) else { return .failure(.damaged) }
    return .success(record)
  }

  private static func seal(of body: Data) -> [UInt8] {
    let digits = String(CRC32.of(body), radix: 16)
    return Array(",\"crc32\":\"\(String(repeating: "0", count: 8 - digits.count))\(digits)\"}\n".utf8)
  }
}
