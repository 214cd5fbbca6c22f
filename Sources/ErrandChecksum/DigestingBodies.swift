public import ErrandCore
import Foundation

/// An interceptor that sends the digest of each request body (RFC 9530), so that the server can detect a body that was
/// damaged on its way.
///
/// ```swift
/// configuration.interceptors.calls.append(DigestingBodies())
/// ```
///
/// The digest covers the body as it is sent, in its content coding. A body in memory or a file is read once more, in
/// pieces and not on the caller's executor, before the request is sent. If the file changes afterwards, the call fails
/// with ``ErrandHTTP/TransportFailure/Kind/bodyChanged``. A request without a body, or with its own field, is not
/// changed.
public struct DigestingBodies: Interceptor {
  /// The field that contains the digest.
  public enum Field: String, Sendable, Hashable {
    /// `Content-Digest` covers the content of this one message. It is right for every request.
    case content = "Content-Digest"
    /// `Repr-Digest` covers the whole representation. It differs from the first field if the request sends only a part,
    /// such as a PUT with `Content-Range`. Do not use it for such requests.
    case representation = "Repr-Digest"
  }

  private let algorithms: [DigestAlgorithm]
  private let field: Field
  private let applies: @Sendable (HTTPRequest) -> Bool

  /// Makes the interceptor.
  ///
  /// - Parameters:
  ///   - algorithms: The algorithms; the field contains one digest for each of them. The default is SHA-256.
  ///   - field: The field that contains the digests.
  ///   - applies: Returns whether a request gets the field. By default all requests with a body get it.
  public init(
    _ algorithms: [DigestAlgorithm] = [.sha256], in field: Field = .content,
    for applies: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
  ) {
    self.algorithms = algorithms
    self.field = field
    self.applies = applies
  }

  /// Adds the field, then passes the request to the rest of the pipeline.
  /// - Throws: ``ErrandCore/APIError`` with the code ``ErrandCore/APIError/Code/invalidBody`` if the body can be read
  ///   only once, and the errors of the body and of the algorithms.
  public func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let name = HTTPFieldName(field.rawValue)
    guard let body = request.body, !algorithms.isEmpty, !request.fields.contains(name), applies(request) else {
      return try await next(request)
    }
    guard body.isReplayable else {
      throw APIError(
        .build, .invalidBody,
        "The body can be read only once, so its digest cannot be sent before it; send bytes, a file or a stream that "
          + "is replayable, or exclude the request with the argument `for` of `DigestingBodies`.")
    }
    var request = request
    request.fields.append(HTTPField(name, try await Self.value(of: body, algorithms)))
    return try await next(request)
  }

  /// The value of the field: a dictionary of byte sequences (RFC 9530 section 2). Runs on the global executor, because
  /// reading a file blocks.
  @concurrent
  private static func value(of body: HTTPBody, _ algorithms: [DigestAlgorithm]) async throws -> String {
    let hashes = try algorithms.map { (name: $0.name, hash: try $0.makeHash()) }
    let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    var waiting = wakes.makeAsyncIterator()
    let source = try body.open(BodyFlow { wake.yield() })
    var piece = [UInt8](repeating: 0, count: pieceLength)
    while true {
      try Task.checkCancellation()
      switch try piece.withUnsafeMutableBytes({ try source.read(into: $0) }) {
      case .bytes(let count):
        piece.withUnsafeBytes { bytes in
          for (_, hash) in hashes { hash.update(UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
        }
      case .later: await waiting.next()
      case .end: return hashes.map { "\($0.name)=:\($0.hash.finish().base64EncodedString()):" }.joined(separator: ", ")
      }
    }
  }

  /// The bytes that are read and hashed at a time.
  private static let pieceLength = 256 << 10
}
