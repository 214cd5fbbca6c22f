import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Two calls for one target file.
struct DownloadBusyTests {
  @Test func `second call fails immediately`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { $1.fault = .stall(after: 2_000_000, until: gate) }
    async let first = fixture.send()
    try await gate.reached()
    let second = await fixture.send()
    #expect(second.error?.code == .busy && second.error?.stage == .transfer)
    #expect(fixture.ranges.count == 1)
    gate.open()
    _ = try await first.result.get()
    #expect(fixture.isRight() && fixture.names == ["film.bin"])
  }

  @Test func `second call waits if requested`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { number, behaviour in
      if number == 1 { behaviour.fault = .stall(after: 2_000_000, until: gate) }
    }
    async let first = fixture.send()
    try await gate.reached()
    async let second = fixture.send { $0.whenBusy = .wait }
    gate.open()
    _ = try await first.result.get()
    _ = try await second.result.get()
    #expect(fixture.isRight() && fixture.names == ["film.bin"])
  }

  @Test func `waiting call finds the file`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { number, behaviour in
      if number == 1 { behaviour.fault = .stall(after: 2_000_000, until: gate) }
    }
    async let first = fixture.send()
    try await gate.reached()
    async let second = fixture.send {
      $0.whenBusy = .wait
      $0.replaces = false
    }
    gate.open()
    _ = try await first.result.get()
    #expect(await second.error?.code == .fileExists)
    #expect(fixture.isRight() && fixture.ranges.count == 1)
  }

  @Test func `waiting call continues the part file`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { number, behaviour in
      if number == 1 { behaviour.fault = .stall(after: 2_000_000, until: gate) }
    }
    let first = Task { await fixture.send() }
    try await gate.reached()
    async let second = fixture.send { $0.whenBusy = .wait }
    #expect(await eventually { fixture.client.running.count == 2 })
    first.cancel()
    #expect(await first.value.error?.code == .cancelled)
    let file = try await second.result.get()
    #expect(fixture.isRight() && file.keptBytes > 0)
    #expect(fixture.ranges == [nil, "bytes=\(file.keptBytes)-"])
  }

  @Test func `waiting call keeps its deadline`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { $1.fault = .stall(after: 2_000_000, until: gate) }
    async let first = fixture.send()
    try await gate.reached()
    let second = await fixture.send(options: .deadline(.milliseconds(250))) { $0.whenBusy = .wait }
    #expect(second.error?.code == .deadline && fixture.ranges.count == 1)
    gate.open()
    _ = try await first.result.get()
    #expect(fixture.isRight())
  }

  @Test func `many calls for one target`() async throws {
    let fixture = try DownloadFixture()
    let outcomes = await withTaskGroup(of: Outcome<DownloadedFile>.self) { group in
      for _ in 0..<8 { group.addTask { await fixture.send() } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.contains { $0.error == nil })
    #expect(outcomes.allSatisfy { $0.error == nil || $0.error?.code == .busy })
    #expect(fixture.isRight() && fixture.names == ["film.bin"])
  }
}
