import ErrandSupport
import Foundation
import Testing

@testable import ErrandCore

struct StreamMachineTests {
  private func take(_ machine: inout StreamMachine) -> Data? {
    if case .piece(let piece) = machine.next().step { piece } else { nil }
  }

  @Test func `slow reader keeps memory bounded`() {
    var machine = StreamMachine()
    for number in 0..<10 { _ = machine.put(Data([UInt8(number)])) }
    for number in 10..<10_000 {
      _ = machine.put(Data([UInt8(truncatingIfNeeded: number)]))
      let piece = take(&machine)
      #expect(piece == Data([UInt8(truncatingIfNeeded: number - 10)]))
    }
    #expect(machine.bufferedBytes == 10 && machine.placeCount <= 200)
  }

  @Test func `pause ends at half the buffer`() {
    var machine = StreamMachine()
    let piece = Data(count: 64 << 10)
    let answers = (0..<5).map { _ in machine.put(piece).mayContinue }
    #expect(answers == [true, true, true, true, false] && machine.isPaused)
    _ = (take(&machine), take(&machine))
    #expect(machine.isPaused)
    _ = take(&machine)
    #expect(!machine.isPaused && machine.bufferedBytes == StreamMachine.limit / 2)
  }

  @Test func `only a cancelled call drops unread pieces`() {
    for (error, isDropped) in [(APIError.stopped(.cancelled), true), (APIError(.transport, .reset, "Reset."), false)] {
      var machine = StreamMachine()
      _ = machine.put(Data([1]))
      _ = machine.finish(nil, error)
      #expect((take(&machine) == nil) == isDropped)
      guard case .failure(let thrown) = machine.next().step else {
        Issue.record("the loop gets no error")
        continue
      }
      #expect(thrown.isCancelled == isDropped)
    }
  }

  @Test func `body cannot begin twice`() throws {
    var machine = StreamMachine()
    _ = try machine.begin(ResponseHead(status: 200), BodyFlow {})
    #expect(throws: BodyBegunTwice.self) { _ = try machine.begin(ResponseHead(status: 200), BodyFlow {}) }
  }

  @Test(.timeLimit(.minutes(1))) func `several readers can wait concurrently`() async throws {
    let sink = StreamSink()
    _ = try sink.begin(ResponseHead(status: 200), flow: BodyFlow {})
    let turns = Locked(0)
    let read: @Sendable () async -> Int = {
      var count = 0
      while true {
        turns.withLock { $0 += 1 }
        switch sink.next() {
        case .piece: count += 1
        case .end, .failure: return count
        case .wait: await sink.wait(forHead: false)
        }
      }
    }
    let pieces = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<2 { group.addTask { await read() } }
      while sink.waiterCount < 2 { await Task.yield() }
      #expect(turns.withLock { $0 } == 2, "waiting readers do not wake each other")
      _ = Data([1]).withUnsafeBytes { sink.write($0) }
      while sink.waiterCount < 2 { await Task.yield() }
      sink.finish(nil, nil)
      return await group.reduce(0, +)
    }
    #expect(pieces == 1)
  }
}
