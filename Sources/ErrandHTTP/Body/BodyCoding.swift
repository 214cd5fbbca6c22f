import Foundation

/// A content coding that is applied to a body while it is sent, such as gzip (RFC 9110 section 8.4.1).
package struct BodyCoding: Sendable {
  /// The name of the coding in `Content-Encoding`.
  package let name: String
  /// Wraps a source of the plain bytes in a new source, which provides the encoded bytes.
  package let wrap: @Sendable (any BodySource) throws -> any BodySource

  package init(name: String, wrap: @escaping @Sendable (any BodySource) throws -> any BodySource) {
    self.name = name
    self.wrap = wrap
  }

  /// A body in memory with at most this many bytes is encoded when the request is built. Its encoded length is then
  /// known before the request is sent.
  static let earlyEncodingLimit = 16 << 10

  package func body(_ plain: HTTPBody) throws -> HTTPBody {
    let coded = HTTPBody.made(.other, length: nil, isReplayable: plain.isReplayable) { [wrap] flow in
      try wrap(try plain.open(flow))
    }
    let isSmall = plain.data.map { $0.count <= Self.earlyEncodingLimit } ?? false
    let made = isSmall ? HTTPBody(try coded.collected()) : coded
    return plain.expectsContinue ? made.expectingContinue() : made
  }
}

extension HTTPBody {
  /// Reads the body to its end and returns all bytes. The source must always have bytes available: a read that returns
  /// ``BodyRead/later`` ends the reading.
  fileprivate func collected() throws -> Data {
    let source = try open(BodyFlow {})
    var whole = Data()
    try withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
      while case .bytes(let count) = try source.read(into: buffer) { whole.append(contentsOf: buffer[..<count]) }
    }
    return whole
  }
}
