import Foundation

/// Bytes in memory.
final class DataBodySource: BodySource {
  private var rest: Data

  init(_ data: Data) { rest = data }

  func read(into room: UnsafeMutableRawBufferPointer) -> BodyRead {
    guard !rest.isEmpty else { return .end }
    let count = min(room.count, rest.count)
    rest.copyBytes(to: room, count: count)
    rest = rest.dropFirst(count)
    return .bytes(count)
  }
}
