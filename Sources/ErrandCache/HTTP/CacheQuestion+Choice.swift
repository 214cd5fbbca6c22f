package import ErrandCore

extension CacheQuestion {
  /// Which of the stored answers under the key this request may use, however old it is: the newest one that fits.
  ///
  /// - Parameter heads: All that are stored, newest first.
  package func choice(among heads: [CacheEntryHead]) -> Int? {
    heads.firstIndex { fits($0) && isThisVersion($0) && $0.appVersion == appVersion }
  }

  /// Why none of the stored answers can be used.
  package func miss(among heads: [CacheEntryHead]) -> CacheMiss {
    let fitting = heads.filter(fits)
    if fitting.isEmpty { return .missing }
    return fitting.contains(where: isThisVersion) ? .otherAppVersion : .otherVersion
  }

  /// What HEAD got has no body and is nothing for GET; and the fields that `Vary` names must be the same.
  private func fits(_ stored: CacheEntryHead) -> Bool {
    stored.policy.model == policy.model
      && (stored.label.method != HTTPMethod.head.rawValue || method == .head)
      && Varying.matches(stored.vary, fields, salt: salt)
  }

  private func isThisVersion(_ stored: CacheEntryHead) -> Bool { stored.policy.version == policy.version }
}
