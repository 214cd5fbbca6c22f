/// The servers that a client and the family of a request name: what the two keep secret goes nowhere else.
struct NamedServers: Sendable, Equatable {
  private let builder: RequestBuilder
  private let familyURL: String?
  private let familyCDN: String?

  init(_ builder: RequestBuilder, _ family: RequestFamily?) {
    self.builder = builder
    familyURL = family?.baseURL
    familyCDN = family?.cdnURL
  }

  static func == (left: NamedServers, right: NamedServers) -> Bool {
    left.familyURL == right.familyURL && left.familyCDN == right.familyCDN
      && (left.builder === right.builder || left.builder.origins == right.builder.origins)
  }

  /// Whether one of them has the origin.
  func contains(_ origin: HTTPURL.Origin) -> Bool {
    if builder.origins.contains(origin) { return true }
    return [familyURL, familyCDN].contains { url in
      guard let url, let base = try? builder.cachedBase(for: url) else { return false }
      return base.origin == origin
    }
  }
}
