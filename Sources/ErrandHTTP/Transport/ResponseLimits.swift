/// How large an answer may be. What goes beyond fails the call with ``TransportFailure/Kind/tooLarge``.
public struct ResponseLimits: Sendable, Hashable {
  /// Decoded bytes of a body that is held in memory. 32 MiB where nothing is said. Of an answer with a status from 400
  /// on the beginning is kept, so that its status is judged whatever page comes with it.
  public var bodyBytes: Int
  /// Bytes of one head, and of all trailers. 64 KiB where nothing is said.
  public var headBytes: Int
  /// Fields of one head. 256 where nothing is said.
  public var fieldCount: Int
  /// Informational answers before the final one. 16 where nothing is said.
  public var informationalCount: Int
  /// How far a coded body may expand, for every destination: 200 times beyond 64 MiB by default; nil for no bound.
  /// URLSession decodes by itself: there the length that the head announces is counted against, and a body without one
  /// is not bounded.
  public var expansion: BodyExpansion?

  /// Makes limits.
  public init(
    bodyBytes: Int = 32 << 20, headBytes: Int = 64 << 10, fieldCount: Int = 256, informationalCount: Int = 16,
    expansion: BodyExpansion? = BodyExpansion()
  ) {
    self.bodyBytes = bodyBytes
    self.headBytes = headBytes
    self.fieldCount = fieldCount
    self.informationalCount = informationalCount
    self.expansion = expansion
  }
}
