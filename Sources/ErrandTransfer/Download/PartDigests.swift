import ErrandCore
import ErrandSupport
import Foundation

/// Computes the digests of a partial file while the file grows. Committed bytes are read back from the page cache. So
/// neither the transport's thread nor the end of the download waits for the digests. Only the download's disk queue may
/// use this object.
final class PartDigests: Sendable {
  private struct State: Sendable {
    var hashes: [(algorithm: DigestAlgorithm, hash: any ChecksumHash)] = []
    var place: Int64 = 0
  }

  private struct Left: Error {}

  private let algorithms: [DigestAlgorithm]
  private let state = Locked(State())

  init(_ algorithms: [DigestAlgorithm]) { self.algorithms = algorithms }

  /// Discards the digests computed so far, and starts again from the first byte.
  func startOver() throws {
    if algorithms.isEmpty { return }
    let hashes = try algorithms.map { ($0, try $0.makeHash()) }
    state.withLock { $0 = State(hashes: hashes, place: 0) }
  }

  /// Adds all bytes that are not hashed yet to the digests. Stops early if `mayContinue` returns false; the next call
  /// then continues with the remaining bytes.
  func catchUp(with part: PartFile, while mayContinue: () -> Bool) throws {
    if algorithms.isEmpty { return }
    if state.withLock({ $0.hashes.isEmpty }) { try startOver() }
    let begin = state.withLock { $0 }
    var place = begin.place
    defer { state.withLock { [place] in $0.place = place } }
    do {
      try part.readKept(from: place) { piece in
        guard mayContinue() else { throw Left() }
        for (_, hash) in begin.hashes { hash.update(piece) }
        place += Int64(piece.count)
      }
    } catch is Left {}
  }

  /// Ends the computation and returns the digests by the names of their algorithms. Call this method only once.
  func finish() -> [String: Data] {
    let hashes = state.withLock { state in
      defer { state.hashes = [] }
      return state.hashes
    }
    return Dictionary(hashes.map { ($0.algorithm.name, $0.hash.finish()) }, uniquingKeysWith: { $1 })
  }
}
