import Dispatch

/// Blocks the main thread until a condition holds elsewhere.
@MainActor func holdMain(until holds: () -> Bool) {
  while !holds() { _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .microseconds(100)) }
}
