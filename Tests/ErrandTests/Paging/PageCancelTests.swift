@testable import ErrandCore
import Errand
import ErrandTesting
import Testing
import TestSupport

/// Lists without end whose task is cancelled, over real sockets.
struct PageCancelTests {
  /// Pages without end.
  private struct Endless: PagedRequest {
    var page = 1
    var path: Path { "/endless" }
    var arguments: Arguments { ["page": page] }
    typealias Response = [Int]
    func items(of page: [Int]) -> [Int] { page }
    func next(after page: APIResponse<[Int]>) -> Endless? { Endless(page: self.page + 1) }
  }

  @Test(arguments: [false, true]) func `cancelled task fetches no further page`(prefetches: Bool) async throws {
    let server = try LoopbackServer { _ in .json("[1]") }
    let client = APIClient(baseURL: server.url)
    let expected = prefetches ? 2 : 1
    let first = Latch()
    let reading = Task {
      var count = 0
      for try await _ in client.pages(of: Endless(), prefetches: prefetches) {
        first.open()
        count += 1
        // Without an error, the loop ends at page 5.
        if count == 5 { break }
        // The loop continues when it is cancelled and the prefetched page has arrived.
        let isReady = await eventually {
          Task.isCancelled && server.requests.count >= expected && client.running.isEmpty
        }
        if !isReady { break }
      }
    }
    try await first.wait()
    reading.cancel()
    let error = await #expect(throws: APIError.self) { try await reading.value }
    #expect(error?.isCancelled == true && server.requests.count == expected)
  }
}
