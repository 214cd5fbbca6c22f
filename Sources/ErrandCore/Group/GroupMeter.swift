import ErrandSupport

/// Counts the bytes of one member that have gone over the wire, of which its progress tells how far its bodies are.
final class GroupMeter: Sendable {
  private struct State: Sendable {
    var up: Int64 = 0
    var down: Int64 = 0
    var keepsParts = false

    mutating func gain(_ progress: TransferProgress) -> Int64 {
      let before = progress.direction == .upload ? up : down
      if progress.direction == .upload { up = progress.bytes } else { down = progress.bytes }
      if keepsParts, progress.isRestart { return 0 }
      // A body that begins anew counts again.
      return progress.bytes < before ? progress.bytes : progress.bytes.subtractingReportingOverflow(before).partialValue
    }
  }

  private let state = Locked(State())
  private let add: @Sendable (Int64) -> Void

  init(_ add: @escaping @Sendable (Int64) -> Void) { self.add = add }

  /// The member has a file for its answer: what there is of that already did not come now.
  func keepsParts() { state.withLock { $0.keepsParts = true } }

  /// What the member's call tells.
  var listener: ProgressCallback { { [self] _, progress in add(state.withLock { $0.gain(progress) }) } }
}
