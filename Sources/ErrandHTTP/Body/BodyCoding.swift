import Foundation

/// A content coding that is applied to a body while it is sent, such as gzip (RFC 9110 section 8.4.1).
package struct BodyCoding: Sendable {
  /// The name of the coding in `Content-Encoding`.
  package let name: String
  /// Wraps a source of the plain bytes in a source of the encoded bytes.
  package let wrap: @Sendable (any BodySource) throws -> any BodySource

  /// Makes a coding.
  package init(name: String, wrap: @escaping @Sendable (any BodySource) throws -> any BodySource) {
    self.name = name
    self.wrap = wrap
  }

  /// Bodies in memory of at most this size in bytes are encoded when the request is built, so that their encoded length
  /// is known.
  static let smallest = 16 << 10

  package func body(_ plain: HTTPBody) throws -> HTTPBody {
    let coded = HTTPBody.made(.other, length: nil, isReplayable: plain.isReplayable) { [wrap] flow in
      try wrap(try plain.open(flow))
    }
    let isSmall = plain.data.map { $0.count <= Self.smallest } ?? false
    let made = isSmall ? HTTPBody(try coded.collected()) : coded
    return plain.expectsContinue ? made.expectingContinue() : made
  }
}

extension HTTPBody {
  /// Reads the body to its end and returns all bytes. The source must never return ``BodyRead/later``.
  fileprivate func collected() throws -> Data {
    let source = try open(BodyFlow {})
    var whole = Data()
    try withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { room in
      while case .bytes(let count) = try source.read(into: room) { whole.append(contentsOf: room[..<count]) }
    }
    return whole
  }
}
