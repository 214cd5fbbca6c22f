public import ErrandCore

#if os(Linux)
  import CPSL
#endif

/// The public suffix list that browsers use, as libpsl has it: the list of the system, or the one that libpsl was built
/// with, whichever is newer.
///
/// ```swift
/// let jar = CookieJar(publicSuffixes: PublicSuffixList.system)
/// ```
///
/// A name that the list does not know ends in a suffix of one label. Where there is no list at all, every name counts as
/// a suffix, so that no cookie is shared among hosts; Apple's systems have no libpsl.
public final class PublicSuffixList: PublicSuffixes {
  /// The list of the system, read once in a process.
  public static let system = PublicSuffixList()

  #if os(Linux)
    // A list is never changed once it is read, and libpsl lets many threads ask it at once.
    nonisolated(unsafe) private let list: OpaquePointer?  // It is read alone, and freed with the last reference.

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
