import ErrandCore
public import Foundation

/// An entry without its body, but with the length and the checksum of the body. Custom stores use it to keep heads and
/// bodies separately.
///
/// The encoding is compact and has a version:
///
/// | bytes | content |
/// |---|---|
/// | 1 | format version, 1 |
/// | 8 | checksum of all following bytes, least significant byte first |
/// | 5 × 32 | digests: `entry`, `anyAccount`, `target` and `account` of the ``CacheKey``, then the variant |
/// | 1–9, 8 | length of the body, seven bits per byte; its checksum |
/// | 8, 8 | when the request was sent and the response arrived, in milliseconds since 1970 |
/// | the rest | policy, flags, response head, fields that `Vary` names, app version, label |
///
/// Numbers and lengths are written least significant byte first. A text is written as a length and UTF-8. The time on
/// the monotonic clock is not written, because it has no meaning in another process.
public struct CacheEntryRecord: Sendable {
  /// The key that the response is stored under.
  public let key: CacheKey
  /// The status, the fields and the cache data of the response: everything except the body.
  public let head: CacheEntryHead
  /// The length of the stored body, in bytes.
  public let bodyLength: Int
  /// The checksum of the stored body. It detects damage, not attacks.
  public let bodyChecksum: UInt64

  init(key: CacheKey, head: CacheEntryHead, bodyLength: Int, bodyChecksum: UInt64) {
    self.key = key
    self.head = head
    self.bodyLength = bodyLength
    self.bodyChecksum = bodyChecksum
  }

  /// Makes the record of an entry whose body is stored unchanged, that is, not encrypted.
  public init(_ entry: CacheEntry) {
    self.init(key: entry.key, head: entry.head, storedBody: entry.body)
  }

  /// Makes the record of an entry whose body is stored in another form, such as an encrypted one.
  public init(key: CacheKey, head: CacheEntryHead, storedBody: Data) {
    let checksum = storedBody.withUnsafeBytes { Checksum64.of($0) }
    self.init(key: key, head: head, bodyLength: storedBody.count, bodyChecksum: checksum)
  }

  /// Decodes a record. Nil if the bytes are not a record, are damaged, or have another format version.
  public init?(encoded: Data) {
    let record = encoded.withUnsafeBytes { CacheEntryRecord(bytes: $0) }
    guard let record else { return nil }
    self = record
  }

  /// Whether these bytes have the length and the checksum of the stored body.
  public func fits(storedBody: Data) -> Bool {
    storedBody.withUnsafeBytes { fits($0) }
  }

  func fits(_ storedBody: UnsafeRawBufferPointer) -> Bool {
    storedBody.count == bodyLength && Checksum64.of(storedBody) == bodyChecksum
  }

  /// Returns a record with another head for the same body.
  public func renewed(_ head: CacheEntryHead) -> CacheEntryRecord {
    CacheEntryRecord(key: key, head: head, bodyLength: bodyLength, bodyChecksum: bodyChecksum)
  }

  /// The encoded record.
  public func encoded() -> Data { Data(bytes) }
}

extension CacheEntryRecord {
  private static let form: UInt8 = 1
  /// The number of bytes at the start of a record that the checksum does not cover: the format version and the
  /// checksum.
  private static let prefix = 9

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.bytes.reserveCapacity(512)
    writer.byte(Self.form)
    writer.fixed(UInt64(0))
    key.write(to: &writer)
    writer.digest(head.variant)
    writer.length(bodyLength)
    writer.fixed(bodyChecksum)
    writer.head(head)
    let sum = writer.bytes.withUnsafeBytes { Checksum64.of(UnsafeRawBufferPointer(rebasing: $0[Self.prefix...])) }
    withUnsafeBytes(of: sum.littleEndian) { writer.bytes.replaceSubrange(1..<Self.prefix, with: $0) }
    return writer.bytes
  }

  /// Decodes a record. Nil if the bytes are not a valid record, or if other bytes follow the record.
  init?(bytes: UnsafeRawBufferPointer) {
    do throws(ByteReader.Malformed) {
      var reader = ByteReader(bytes)
      guard try reader.byte() == Self.form else { return nil }
      let sum = try reader.fixed()
      guard Checksum64.of(UnsafeRawBufferPointer(rebasing: bytes[Self.prefix...])) == sum else { return nil }
      key = try CacheKey(from: &reader)
      let variant = try reader.digest()
      bodyLength = try reader.length()
      bodyChecksum = try reader.fixed()
      head = try reader.head(variant)
      guard reader.isAtEnd else { return nil }
    } catch {
      return nil
    }
  }
}

extension ByteWriter {
  /// Writes all properties of a head except its variant.
  fileprivate mutating func head(_ head: CacheEntryHead) {
    fixed(head.requestTime.milliseconds)
    fixed(head.responseTime.milliseconds)
    policy(head.policy)
    byte(head.isMemoryOnly ? 1 : 0)
    response(head.answer)
    length(head.vary.count)
    for field in head.vary {
      text(field.name)
      optionalText(field.value)
    }
    text(head.appVersion)
    text(head.label.method)
    text(head.label.url)
    text(head.label.host)
    optionalText(head.label.tag)
  }

  private mutating func policy(_ policy: CachePolicy) {
    byte(policy.model?.rawValue ?? 0)
    fixed(policy.lifetime.components.seconds)
    fixed(policy.lifetime.components.attoseconds)
    fixed(Int64(policy.version))
  }

  private mutating func response(_ response: ResponseHead) {
    length(response.status)
    text(response.version.rawValue)
    text(response.reason)
    fields(response.fields.all)
  }

  /// Writes header fields as a block of lines, which can later be read without creating strings. If a value cannot be
  /// written in a line, all fields are written one by one.
  private mutating func fields(_ fields: [HTTPField]) {
    let isPlain = fields.allSatisfy(\.isPlain)
    byte(isPlain ? 1 : 0)
    length(fields.count)
    guard isPlain else {
      for field in fields {
        text(field.name.rawValue)
        text(field.value)
        byte(field.isSecret ? 1 : 0)
      }
      return
    }
    let values = fields.map { RawFieldBlock.bytes(of: $0) }
    length(zip(fields, values).reduce(0) { $0 + $1.0.name.rawValue.utf8.count + $1.1.count + 2 })
    for (field, value) in zip(fields, values) {
      bytes.append(contentsOf: field.name.rawValue.utf8)
      byte(0x3A)
      bytes.append(contentsOf: value)
      byte(0x0A)
    }
  }
}

extension HTTPField {
  /// Whether a line with the name and the value of the field represents the field without loss.
  fileprivate var isPlain: Bool {
    isSecret == HTTPField(name, "").isSecret && !value.utf8.contains(0x0A)
      && !name.rawValue.utf8.contains { $0 == 0x0A || $0 == 0x3A }
  }
}

extension ByteReader {
  fileprivate mutating func head(_ variant: Digest) throws(Malformed) -> CacheEntryHead {
    let requestTime = WallTime(milliseconds: try signed())
    let responseTime = WallTime(milliseconds: try signed())
    let policy = try policy()
    let isMemoryOnly = try flag()
    let response = try response()
    var vary: [VaryingField] = []
    for _ in 0..<(try count()) { vary.append(VaryingField(name: try text(), value: try optionalText())) }
    let appVersion = try text()
    let label = CacheEntryLabel(method: try text(), url: try text(), host: try text(), tag: try optionalText())
    return CacheEntryHead(
      variant: variant, vary: vary, answer: response, requestTime: requestTime, responseTime: responseTime,
      policy: policy, appVersion: appVersion, isMemoryOnly: isMemoryOnly, label: label)
  }

  private mutating func policy() throws(Malformed) -> CachePolicy {
    let model = try byte()
    let seconds = try signed()
    let attoseconds = try signed()
    // The attoseconds must be less than one second. Otherwise the sum with the seconds could overflow.
    guard attoseconds.magnitude < 1_000_000_000_000_000_000 else { throw Malformed() }
    let lifetime = Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
    let version = Int(truncatingIfNeeded: try signed())
    switch model {
    case 0: return .none
    case CachePolicy.Model.lifetime.rawValue: return .lifetime(lifetime, version: version)
    case CachePolicy.Model.http.rawValue: return .http(version: version)
    case CachePolicy.Model.httpElse.rawValue: return .httpElse(lifetime, version: version)
    default: throw Malformed()
    }
  }

  private mutating func response() throws(Malformed) -> ResponseHead {
    let status = try length()
    guard (100...999).contains(status), let version = ResponseHead.Version(rawValue: try text()) else {
      throw Malformed()
    }
    return ResponseHead(status: status, reason: try text(), version: version, fields: try fields())
  }

  private mutating func fields() throws(Malformed) -> HTTPFields {
    let isPlain = try flag()
    let count = try count()
    if isPlain {
      let block = try take(try length())
      guard count == block.reduce(0, { $1 == 0x0A ? $0 + 1 : $0 }) else { throw Malformed() }
      return count == 0 ? HTTPFields() : HTTPFields(raw: RawFieldBlock(bytes: [UInt8](block), count: count))
    }
    var fields: [HTTPField] = []
    for _ in 0..<count {
      fields.append(HTTPField(HTTPFieldName(try text()), try text(), isSecret: try flag()))
    }
    return HTTPFields(fields)
  }
}
