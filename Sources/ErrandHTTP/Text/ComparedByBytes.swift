import ErrandSupport

/// A value whose texts are compared and hashed byte by byte, as a ``ErrandSupport/ByteText`` is.
///
/// A type that conforms states only its ``identity``. `==` and the hash follow from it, so they cannot disagree. Both
/// are requirements of `Hashable`, so the documentation of a public type does not repeat them.
///
/// ```swift
/// extension ServerEnvironment: ComparedByBytes {
///   package var identity: some Hashable { Parts(ByteText(name), ByteText(baseURL)) }
/// }
/// ```
package protocol ComparedByBytes: Hashable {
  /// The type of the identity.
  associatedtype Identity: Hashable
  /// All properties that distinguish two values, each text as a ``ErrandSupport/ByteText``.
  var identity: Identity { get }
}

extension ComparedByBytes {
  /// Whether the identities of two values are equal.
  public static func == (left: Self, right: Self) -> Bool { left.identity == right.identity }

  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

/// Several values that are compared and hashed as one.
package struct Parts<each Part: Hashable>: Hashable {
  private let parts: (repeat each Part)

  package init(_ part: repeat each Part) { parts = (repeat each part) }

  package static func == (left: Parts, right: Parts) -> Bool {
    for isSame in repeat (each left.parts) == (each right.parts) {
      if !isSame { return false }
    }
    return true
  }

  package func hash(into hasher: inout Hasher) { repeat hasher.combine(each parts) }
}
