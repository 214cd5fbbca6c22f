package import ErrandCore

extension CacheQuestion {
  /// The URLs whose stored answers a success of this request makes worthless (RFC 9111 section 4.4): its own, and those
  /// of `Location` and `Content-Location` on the same origin. All variants under both models are meant.
  ///
  /// A request that declares a lifetime counts as reading, whatever its method.
  package func invalidations(by answer: ResponseHead) -> [HTTPURL] {
    guard (200...399).contains(answer.status), policy.model != .lifetime, !method.isSafe else { return [] }
    let named = [HTTPFieldName.location, "Content-Location"].flatMap { answer.fields.references(of: $0) }
    let others = named.compactMap { try? url.resolving($0) }.filter { $0.origin == url.origin }
    return others.reduce(into: [url]) { urls, other in
      if !urls.contains(other) { urls.append(other) }
    }
  }
}
