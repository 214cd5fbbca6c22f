import Foundation

/// Whether this build runs under a sanitizer: nothing is asserted about time and memory there.
package var isSanitized: Bool {
  #if TSAN || ASAN
    true
  #else
    false
  #endif
}

/// How often a race is run: `ERRAND_ROUNDS`, or 50.
package let rounds = ProcessInfo.processInfo.environment["ERRAND_ROUNDS"].flatMap(Int.init) ?? 50

/// Waits, without sleeping, until something holds; false when it does not after many turns.
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
