#if os(Linux)
  /// A limit on how many bytes are decoded before the transport's loop does other work. A few kilobytes can decode to
  /// gigabytes, and all transfers share one thread.
  package struct DecodingBudget {
    /// The limit of coded plus decoded bytes of all bodies in one iteration of the loop. Brotli needs about 5 ms for
    /// this number of bytes.
    private static let perTurn = 2 << 20
    /// The limit of coded plus decoded bytes of one body per received piece, so that one body does not use the whole
    /// iteration.
    private static let perPiece = 256 << 10

    private var turn = perTurn
    private var piece = perPiece

    package init() {}

    /// True if the current body must stop and continue in the next iteration of the loop.
    package var isUsedUp: Bool { turn <= 0 || piece <= 0 }
    /// True if all bodies must stop until the next iteration of the loop.
    package var isTurnOver: Bool { turn <= 0 }

    package mutating func beginPiece() { piece = Self.perPiece }

    package mutating func charge(_ bytes: Int) {
      turn -= bytes
      piece -= bytes
    }
  }
#endif
