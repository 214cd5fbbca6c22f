@testable import ErrandEngine
@testable import ErrandHTTP

/// Whole responses, through the connection of the engine.
enum EngineTargets {
  private static let small = ResponseLimits(bodyBytes: 4096, headBytes: 512, fieldCount: 8, informationalCount: 2)

  /// The first byte says in pieces of which size the rest comes, and how the stream ends: the size must make no
  /// difference.
  static func connection(_ input: FuzzInput) {
    guard let (choice, rest) = input.choice else { return }
    let isHead = choice & 0x80 != 0
    let isReset = choice & 0x40 != 0
    let whole = Received(rest.bytes, piece: max(rest.bytes.count, 1), isHead: isHead, isReset: isReset, small)
    let pieces = Received(rest.bytes, piece: Int(choice & 0x1F) + 1, isHead: isHead, isReset: isReset, small)
    check(whole == pieces, "the size of pieces makes no difference")
    check(whole.content.count <= rest.bytes.count, "no byte is made up")
    check(!whole.isKept || whole.ending == nil, "a connection that has ended is not kept")
  }

  /// What the bytes of a response come to.
  private struct Received: Equatable {
    var content: [UInt8] = []
    var status = 0
    var informational = 0
    var trailers = 0
    var isKept = false
    var failure: TransportFailure.Kind?
    var ending: ConnectionMachine.Ending?

    init(_ bytes: UnsafeRawBufferPointer, piece: Int, isHead: Bool, isReset: Bool, _ limits: ResponseLimits) {
      var machine = ConnectionMachine()
      check(
        machine.submit(limits: limits, isHeadRequest: isHead, remainder: .nothing),
        "an idle connection takes a request")
      machine.wrote(1)
      machine.wroteHead()
      var start = 0
      while start < bytes.count, failure == nil {
        let end = min(start + piece, bytes.count)
        take(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), &machine)
        start = end
      }
      guard failure == nil else { return }
      if !machine.isWhole { ending = machine.ended(isReset: isReset) }
      guard machine.isWhole || ending == .response else { return }
      status = machine.head.status
      trailers = machine.takeTrailers().count
      isKept = machine.finish()
      check(isKept == (machine.phase == .idle), "what is kept is idle")
    }

    private mutating func take(_ bytes: UnsafeRawBufferPointer, _ machine: inout ConnectionMachine) {
      var used = 0
      while used < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[used...])
        do throws(TransportFailure) {
          let (step, count) = try machine.receive(rest)
          check((1...rest.count).contains(count), "every step goes on")
          if case .content(let range) = step { content += rest[range] }
          if step == .informational { informational += 1 }
          used += count
        } catch {
          failure = error.kind
          return
        }
      }
    }
  }
}
