/// The response type of a call whose response has no value. The body is not decoded, but a declared JSON structure and
/// a business code are still validated.
public struct Nothing: Sendable, Hashable, Codable {
  /// Makes the only value of the type.
  public init() {}
}
