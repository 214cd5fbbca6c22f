import ErrandTesting
public import Testing

/// A trait that fails a test if watched objects still exist after the test. Write the trait as `.checksLeaks`.
///
/// Scripted, recording, replaying and profiled transports and loopback servers are watched automatically. A client or a
/// call that leaks keeps its transport, so the trait finds the leak. The test names all other objects that must be
/// deallocated:
///
/// ```swift
/// @Test(.checksLeaks) func `a screen is let go`() async throws {
///   let screen = Screen(client)
///   LeakCheck.current?.watch(screen, "screen")
///   await screen.load()
/// }
/// ```
///
/// The check runs after the test function has returned without an error. The check gives other tasks time to release
/// their objects. On a suite, the trait applies to each of its tests. A test with this trait must not create objects
/// that it stores in a global variable or a registry for later use.
public struct LeakTrait: TestTrait, SuiteTrait, TestScoping {
  /// The minimum number of times that the check yields to other tasks. Tasks on other threads need this time to release
  /// their objects.
  private static let turns = 100_000

  private let patience: Duration

  package init(patience: Duration = .seconds(10)) { self.patience = patience }

  /// True, so that a suite passes the trait on to its tests.
  public var isRecursive: Bool { true }

  /// Runs a test, then fails the test if watched objects still exist.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    let leaks = LeakCheck()
    try await LeakCheck.$current.withValue(leaks) { try await function() }
    let living = await leaks.survivors(turns: Self.turns, patience: patience)
    guard !living.isEmpty else { return }
    Issue.record(
      """
      Objects still exist after the test: \(living.joined(separator: ", ")). \
      Look for reference cycles, and for calls that have not ended.
      """,
      sourceLocation: test.sourceLocation)
  }
}

extension Trait where Self == LeakTrait {
  /// A trait that fails the test if watched objects still exist after the test.
  public static var checksLeaks: Self { LeakTrait() }
}
