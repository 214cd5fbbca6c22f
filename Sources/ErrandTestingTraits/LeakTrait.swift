import ErrandTesting
public import Testing

/// Fails a test that leaves objects behind: `.checksLeaks`.
///
/// Scripted, recording, replaying and profiled transports and loopback servers are watched by themselves, so that a
/// client or a call that lives on is found by its transport. What else should go is named in the test:
///
/// ```swift
/// @Test(.checksLeaks) func `a screen is let go`() async throws {
///   let screen = Screen(client)
///   LeakCheck.current?.watch(screen, "screen")
///   await screen.load()
/// }
/// ```
///
/// The objects are looked for after the test has ended well, once other tasks have had their turn to let go. A suite
/// with the trait has it for each of its tests. What a test keeps for later, in a global or in a registry, is not to be
/// made in it.
public struct LeakTrait: TestTrait, SuiteTrait, TestScoping {
  /// Tasks get so many turns: some let go of an object on a thread of their own.
  private static let turns = 100_000

  private let patience: Duration

  package init(patience: Duration = .seconds(10)) { self.patience = patience }

  /// A suite hands it on to its tests.
  public var isRecursive: Bool { true }

  /// Runs a test, and looks for what it has left.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    let leaks = LeakCheck()
    try await LeakCheck.$current.withValue(leaks) { try await function() }
    let living = await leaks.survivors(turns: Self.turns, patience: patience)
    guard !living.isEmpty else { return }
    Issue.record(
      "Left behind by the test: \(living.joined(separator: ", ")). Look for cycles, and for calls that have not ended.",
      sourceLocation: test.sourceLocation)
  }
}

extension Trait where Self == LeakTrait {
  /// Fails the test where objects that were watched live on after it.
  public static var checksLeaks: Self { LeakTrait() }
}
