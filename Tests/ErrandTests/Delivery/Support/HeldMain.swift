import Dispatch

/// Keeps the main thread from its jobs until something has happened elsewhere.
@MainActor func holdMain(until holds: () -> Bool) {
  while !holds() { _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .microseconds(100)) }
}
