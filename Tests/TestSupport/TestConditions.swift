import Foundation

/// Whether this build runs under a sanitizer. Such a build makes no assertions about time and memory.
package var isSanitized: Bool {
  #if TSAN || ASAN
    true
  #else
    false
  #endif
}

/// Whether `make soak` runs the tests: then they may take long.
package let isSoaking = ProcessInfo.processInfo.environment["ERRAND_SOAK"] != nil

/// The number of rounds of each race: `ERRAND_ROUNDS`, or 50.
package let rounds = ProcessInfo.processInfo.environment["ERRAND_ROUNDS"].flatMap(Int.init) ?? 50

/// Waits, without sleeping, until `holds` returns true. Returns false if it does not after `turns` attempts.
package func eventually(turns: Int = 200_000, _ holds: () -> Bool) async -> Bool {
  let end = ContinuousClock.now + .seconds(30)
  var turn = 0
  while turn < turns || .now < end {
    if holds() { return true }
    await Task.yield()
    turn += 1
  }
  return holds()
}

/// Whether this is a debug build. Only debug builds write warnings about the declarations of requests.
package var isDebugBuild: Bool {
  #if DEBUG
    true
  #else
    false
  #endif
}

/// Repeats an attempt that took longer than the second after which a body is sent without the status 100, because it may
/// have failed for that reason.
package func withinTheSecond(_ holds: () async throws -> Bool) async throws -> Bool {
  for _ in 0..<10 {
    let start = ContinuousClock.now
    if try await holds() { return true }
    if start.duration(to: .now) < .seconds(1) { return false }
  }
  return false
}
