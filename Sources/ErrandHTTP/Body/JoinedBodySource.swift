/// Provides several bodies as one body, in their order. Each body is opened when the body before it has ended.
final class JoinedBodySource: BodySource {
  private var bodies: ArraySlice<HTTPBody>
  private var current: (any BodySource)?
  private let flow: BodyFlow

  init(_ bodies: [HTTPBody], _ flow: BodyFlow) {
    self.bodies = bodies[...]
    self.flow = flow
  }

  /// Fills the buffer as far as possible. Otherwise the transport would send each small body separately.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    var count = 0
    while count < buffer.count {
      guard let source = try current ?? next() else { return count > 0 ? .bytes(count) : .end }
      switch try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...])) {
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
  /// Joins several bodies into one. The length of the joined body is known only if the lengths of all bodies are known.
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
