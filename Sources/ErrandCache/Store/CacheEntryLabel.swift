/// A readable description of an entry. It is used in lists, and to remove entries by host or tag.
public struct CacheEntryLabel: Sendable, Hashable {
  /// The request method.
  public let method: String
  /// The URL, with the values of its query masked.
  public let url: String
  /// The host in lower case.
  public let host: String
  /// The tag of the call that stored the entry.
  public let tag: String?

  /// Makes a label from its properties.
  public init(method: String, url: String, host: String, tag: String?) {
    self.method = method
    self.url = url
    self.host = host
    self.tag = tag
  }
}
