/// How answers to requests are kept that declare nothing themselves.
struct CacheInheritance: Sendable {
  let family: CachePolicy
  let rules: [HostCacheRule]
  let standing: CachePolicy

  /// What the family, the client's configuration and nobody else say.
  init(_ family: RequestFamily?, _ configuration: ClientConfiguration) {
    self.family = family?.cache ?? .inherited
    rules = configuration.cacheRules
    standing = configuration.cachePolicy
  }

  /// The family's policy, that of the first rule for the host, or the client's.
  ///
  /// A lifetime is for what only reads: said for many requests at once, it must not keep one from being sent that
  /// changes something.
  func policy(for request: HTTPRequest) -> CachePolicy {
    let host = request.url.host
    let policy = family.isInherited ? rules.first { $0.covers(host) }?.policy ?? standing : family
    return policy.model == .lifetime && !request.method.isSafe ? .none : policy
  }
}
