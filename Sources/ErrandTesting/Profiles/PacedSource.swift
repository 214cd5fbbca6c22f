import ErrandCore

/// Gives a body no faster than at a pace.
final class PacedSource: BodySource {
  /// Small enough that a slow network is seen to be slow.
  private static let pieceSize = 4_096

  private let inner: any BodySource
  private let pace: Pace
  private let flow: BodyFlow

  init(_ inner: any BodySource, _ pace: Pace, _ flow: BodyFlow) {
    self.inner = inner
    self.pace = pace
    self.flow = flow
  }

  func read(into room: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    guard pace.isFree else {
      pace.whenFree { [flow] in flow.resume() }
      return .later
    }
    let count = min(room.count, Self.pieceSize)
    let read = try inner.read(into: UnsafeMutableRawBufferPointer(rebasing: room[..<count]))
    if case .bytes(let count) = read { pace.add(count) }
    return read
  }
}
