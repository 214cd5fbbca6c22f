#if os(Linux)
  /// Limits how many bytes are decoded before the transport's thread does other work. A few kilobytes can decode to
  /// gigabytes. Without the limit, one body could block all other transfers on the thread.
  package struct DecodingBudget {
    /// The maximum number of coded plus decoded bytes of all bodies in one iteration of the thread's loop. Brotli needs
    /// about 5 ms for this number of bytes.
    private static let perTurn = 2 << 20
    /// The maximum number of coded plus decoded bytes for one received piece of a body. It leaves time for other bodies
    /// in the same iteration of the thread's loop.
    private static let perPiece = 256 << 10

    private var turn = perTurn
    private var piece = perPiece

    package init() {}

    /// True if decoding of the current body must pause until the next iteration of the thread's loop.
    package var isUsedUp: Bool { turn <= 0 || piece <= 0 }
    /// True if decoding of all bodies must pause until the next iteration of the thread's loop.
    package var isTurnOver: Bool { turn <= 0 }

    package mutating func beginPiece() { piece = Self.perPiece }

    package mutating func charge(_ bytes: Int) {
      turn -= bytes
      piece -= bytes
    }
  }
#endif
