import ErrandTesting
import Testing

struct LatchTests {
  @Test func `test waits for arrivals`() async throws {
    let latch = Latch()
    async let first: Void = latch.wait()
    async let second: Void = latch.waitStubbornly()
    #expect(await latch.reached(2))
    #expect(latch.arrivals == 2)
    latch.open()
    try await first
    await second
    try await latch.wait()
    #expect(latch.arrivals == 3)
  }

  @Test func `wait for arrivals has a limit`() async {
    let latch = Latch()
    #expect(!(await latch.reached(within: .milliseconds(1))))
    let task = Task { await latch.reached() }
    task.cancel()
    #expect(!(await task.value))
  }

  @Test func `cancellation releases only its task`() async throws {
    let latch = Latch()
    let (leaving, staying) = (Task { try await latch.wait() }, Task { try await latch.wait() })
    #expect(await latch.reached(2))
    leaving.cancel()
    await #expect(throws: CancellationError.self) { try await leaving.value }
    latch.open()
    try await staying.value
  }
}
