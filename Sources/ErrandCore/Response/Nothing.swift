/// The response type of a call whose response has no value: the body is not decoded. A declared shape and a business
/// code are still validated.
public struct Nothing: Sendable, Hashable, Codable {
  /// Makes the only value of the type.
  public init() {}
}
