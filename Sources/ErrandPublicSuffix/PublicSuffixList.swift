public import ErrandCore

#if os(Linux)
  import CPSL
#endif

/// The list of public suffixes that browsers use, loaded with libpsl. It is the list of the system or the list that is
/// built into libpsl, whichever is newer.
///
/// ```swift
/// let jar = CookieJar(publicSuffixes: PublicSuffixList.system)
/// ```
///
/// For a domain that is not in the list, the last label is the public suffix. If no list is available, every domain
/// counts as a public suffix, so that no cookie is shared between hosts. Apple's systems have no libpsl, so every
/// domain counts as a public suffix on these systems.
public final class PublicSuffixList: PublicSuffixes {
  /// The list of the system. It is loaded once in each process.
  public static let system = PublicSuffixList()

  #if os(Linux)
    // The list does not change after it has been loaded, and libpsl allows several threads to read it at the same time.
    nonisolated(unsafe) private let list: OpaquePointer?  // Only read after init, and freed with the last reference.

    private init() { list = psl_latest(nil) }

    deinit { psl_free(list) }

    /// Whether a domain is a public suffix.
    public func isPublicSuffix(_ domain: String) -> Bool {
      guard let list else { return true }
      return psl_is_public_suffix2(list, domain, PSL_TYPE_ANY) != 0
    }
  #else
    private init() {}

    /// Whether a domain is a public suffix.
    public func isPublicSuffix(_ domain: String) -> Bool { true }
  #endif
}
