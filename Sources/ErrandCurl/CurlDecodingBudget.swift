#if os(Linux)
  /// How much of content codings may be undone before the loop turns to other work: a few kilobytes can decode to
  /// gigabytes, and all transfers share one thread.
  struct CurlDecodingBudget {
    /// Decoded and coded bytes of all bodies in one turn of the loop. Brotli needs about 5 ms for them.
    private static let perTurn = 2 << 20
    /// Those of one body in one piece that libcurl hands over, so that many bodies share a turn.
    private static let perPiece = 256 << 10

    private var turn = perTurn
    private var piece = perPiece

    /// Whether the body has to stop and continue in the next turn.
    var isUsedUp: Bool { turn <= 0 || piece <= 0 }
    /// Whether all bodies have to.
    var isTurnOver: Bool { turn <= 0 }

    mutating func beginPiece() { piece = Self.perPiece }

    mutating func charge(_ bytes: Int) {
      turn -= bytes
      piece -= bytes
    }
  }
#endif
