/// A store that is told of uses which another one above it has answered.
///
/// What is used most would otherwise look unused below, and be evicted there first.
package protocol UseNoting: CacheStore {
  /// Notes that an entry was used now. Returns at once, and wakes nobody for it.
  func noteUse(_ key: CacheKey, _ variant: Digest)
}
