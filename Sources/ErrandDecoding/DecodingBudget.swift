#if os(Linux)
  /// How many bytes may be decoded before the loop does other work: a few kilobytes can decode to gigabytes, and all
  /// transfers share one thread.
  package struct DecodingBudget {
    /// Decoded and coded bytes of all bodies in one turn of the loop. Brotli needs about 5 ms for them.
    private static let perTurn = 2 << 20
    /// The same for one body in one piece that came, so that many bodies share a turn.
    private static let perPiece = 256 << 10

    private var turn = perTurn
    private var piece = perPiece

    package init() {}

    /// Whether the body must stop and continue in the next turn.
    package var isUsedUp: Bool { turn <= 0 || piece <= 0 }
    /// Whether all bodies must stop.
    package var isTurnOver: Bool { turn <= 0 }

    package mutating func beginPiece() { piece = Self.perPiece }

    package mutating func charge(_ bytes: Int) {
      turn -= bytes
      piece -= bytes
    }
  }
#endif
