/// The response type of a call whose answer has no value: the body is neither read nor judged.
public struct Nothing: Sendable, Hashable, Codable {
  /// Makes the one value there is.
  public init() {}
}
