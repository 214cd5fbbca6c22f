/// What a station leaves for those below it.
package protocol StationNote: Sendable {
  /// Only calls whose notes have the same mark share an exchange.
  var joinMark: JoinMark { get }
  /// Whether a stored answer may be served where the server fails: then nobody waits for another try.
  var hasStandIn: Bool { get }
  /// The cookies of the jar that the key was made with: an answer that was got with others is not stored under it.
  var cookies: String? { get }
  /// Whether the key names the account of the call.
  var namesAccount: Bool { get }
}

/// When a call looked for a stored answer, and where.
package struct JoinMark: Sendable, Hashable {
  /// The generation at look-up: what was removed since is not given to a call that comes after.
  let generation: UInt64
  /// The bytes by which the store is told from others.
  let store: [UInt8]

  package init(generation: UInt64, store: [UInt8]) {
    self.generation = generation
    self.store = store
  }
}
