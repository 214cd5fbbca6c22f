/// Sends several bodies, one after the other. Each body is opened when the one before it has ended.
final class JoinedBodySource: BodySource {
  private var bodies: ArraySlice<HTTPBody>
  private var current: (any BodySource)?
  private let flow: BodyFlow

  init(_ bodies: [HTTPBody], _ flow: BodyFlow) {
    self.bodies = bodies[...]
    self.flow = flow
  }

  /// Fills the buffer as far as possible. Otherwise each small body would be sent on its own.
  func read(into room: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    var count = 0
    while count < room.count {
      guard let source = try current ?? next() else { return count > 0 ? .bytes(count) : .end }
      switch try source.read(into: UnsafeMutableRawBufferPointer(rebasing: room[count...])) {
      case .bytes(let more): count += more
      case .end: current = nil
      case .later: return count > 0 ? .bytes(count) : .later
      }
    }
    return .bytes(count)
  }

  private func next() throws -> (any BodySource)? {
    current = try bodies.popFirst()?.open(flow)
    return current
  }
}

extension HTTPBody {
  /// Joins several bodies into one. The joined length is known if the lengths of all bodies are known.
  package static func joining(_ bodies: [HTTPBody]) -> HTTPBody {
    let length = bodies.reduce(Int64?.some(0)) { sum, body in
      guard let sum, let length = body.length else { return nil }
      let (whole, isTooLong) = sum.addingReportingOverflow(length)
      return isTooLong ? nil : whole
    }
    return made(.other, length: length, isReplayable: bodies.allSatisfy(\.isReplayable)) { flow in
      JoinedBodySource(bodies, flow)
    }
  }
}
