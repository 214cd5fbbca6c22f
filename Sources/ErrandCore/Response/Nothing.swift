/// The response type of a call whose answer has no value: the body is not decoded. A declared shape or
/// business code is judged all the same.
public struct Nothing: Sendable, Hashable, Codable {
  /// Makes the one value there is.
  public init() {}
}
