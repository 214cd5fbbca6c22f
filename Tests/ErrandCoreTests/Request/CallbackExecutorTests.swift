@testable import ErrandCore
import ErrandSupport
import Testing

/// The order of the jobs of one call.
struct CallbackExecutorTests {
  /// The executor is busy until all jobs are waiting. If each job moved all later jobs, this test would take minutes.
  @Test(.timeLimit(.minutes(1))) func `large backlog runs in order`() {
    let submitted = Locked<[@Sendable () -> Void]>([])
    let queue = CallbackQueue(.custom { job in submitted.withLock { $0.append(job) } })
    let done = Locked<[Int]>([])
    for number in 0..<500_000 { queue.run { done.withLock { $0.append(number) } } }
    #expect(submitted.withLock { $0.count } == 1)
    while let job = submitted.withLock({ $0.popLast() }) { job() }
    #expect(done.withLock { $0 } == Array(0..<500_000))
  }
}
