import Foundation
import Testing

@testable import ErrandCore

@Suite struct StreamMachineTests {
  private func take(_ machine: inout StreamMachine) -> Data? {
    if case .piece(let piece) = machine.next().step { piece } else { nil }
  }

  @Test func `loop that never catches up stays small`() {
    var machine = StreamMachine()
    for number in 0..<10 { _ = machine.put(Data([UInt8(number)])) }
    for number in 10..<10_000 {
      _ = machine.put(Data([UInt8(truncatingIfNeeded: number)]))
      let piece = take(&machine)
      #expect(piece == Data([UInt8(truncatingIfNeeded: number - 10)]))
    }
    #expect(machine.held == 10 && machine.placeCount <= 200)
  }

  @Test func `pause ends at the half`() {
    var machine = StreamMachine()
    let piece = Data(count: 64 << 10)
    let answers = (0..<5).map { _ in machine.put(piece).goesOn }
    #expect(answers == [true, true, true, true, false] && machine.isPaused)
    _ = (take(&machine), take(&machine))
    #expect(machine.isPaused)
    _ = take(&machine)
    #expect(!machine.isPaused && machine.held == StreamMachine.limit / 2)
  }
}
