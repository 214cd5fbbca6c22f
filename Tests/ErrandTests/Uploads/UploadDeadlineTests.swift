import Errand
import ErrandTesting
import Foundation
import Testing
import TransportChecks

/// The total time-out of 120 seconds applies to calls; a body that is streamed while it is sent may take longer.
struct UploadDeadlineTests {
  struct Row: Sendable {
    let body: RequestBody
    var own: Timeouts?
    var ofClient = Timeouts()
    let ends: Bool
  }

  private static var stream: RequestBody { PieceSource.body([.bytes([1, 2, 3])], length: 3) }
  private static let largeForm = RequestBody.multipart([.data("film", Data(count: 100_000), filename: "f")])

  static let rows = [
    Row(body: stream, ends: false),
    Row(body: stream, own: Timeouts(idle: .seconds(9)), ends: false),
    Row(body: stream, own: Timeouts(total: .never), ofClient: Timeouts(total: .seconds(5)), ends: false),
    Row(body: largeForm, ends: false),
    Row(body: stream, own: Timeouts(total: .seconds(120)), ends: true),
    Row(body: stream, ofClient: Timeouts(total: .seconds(120)), ends: true),
    Row(body: .bytes(Data([1, 2, 3])), ends: true),
    Row(body: .multipart([.text("a", "b")]), ends: true),
  ]

  @Test(arguments: rows) func `only streamed transfers outlast two minutes`(row: Row) async throws {
    let (gate, clock) = (Gate(), ManualClock())
    let server = try LoopbackServer { _ in .ok("taken").stalled(after: 1, until: gate) }
    let client = APIClient(baseURL: server.url)
    client.configure {
      $0.timers = clock
      $0.timeouts = row.ofClient
    }
    async let outcome = client.outcome(of: Upload(row.body) { $0.timeouts = row.own ?? .inherited })
    try await gate.reached()
    clock.advance(by: .seconds(120))
    if !row.ends { gate.open() }
    let ended = await outcome
    #expect(ended.error?.stage == (row.ends ? .deadline : nil), "\(ended)")
    #expect(clock.pending == 0)
    gate.open()
  }

  @Test func `group deadline ends its transfers`() async throws {
    let (gate, clock) = (Gate(), ManualClock())
    let server = try LoopbackServer { _ in .ok("taken").stalled(after: 1, until: gate) }
    let client = APIClient(baseURL: server.url)
    client.configure { $0.timers = clock }
    async let outcomes = client.outcomes(of: [Upload(Self.stream)], options: GroupOptions(deadline: .seconds(300)))
    try await gate.reached()
    clock.advance(by: .seconds(299))
    #expect(client.running.count == 1)
    clock.advance(by: .seconds(1))
    for outcome in await outcomes {
      #expect(throws: APIError.self) { try outcome.get() }
    }
    #expect(client.running.isEmpty)
    gate.open()
  }
}
