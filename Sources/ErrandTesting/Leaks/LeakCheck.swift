import ErrandSupport
import ErrandCore

/// Watches objects through weak references and reports which of them still exist.
///
/// ```swift
/// let leaks = LeakCheck()
/// leaks.watch(delegate, "delegate")
/// …                                   // release all references
/// #expect(await leaks.survivors().isEmpty)
/// ```
public final class LeakCheck: Sendable {
  private struct Watched: Sendable {
    weak let object: (any AnyObject & Sendable)?
    let name: String
  }

  private let watched = Locked<[Watched]>([])

  /// The check of the running test; nil if the test has no check. The trait `.checksLeaks` of `ErrandTestingTraits`
  /// sets it.
  ///
  /// Some objects that the test creates are watched automatically: scripted, recording, replaying and profiled
  /// transports, and loopback servers. They reveal other leaks, too, because a client or a call that leaks keeps its
  /// transport.
  @TaskLocal public static var current: LeakCheck?

  /// Creates a check without watched objects.
  public init() {}

  /// Watches an object.
  public func watch(_ object: any AnyObject & Sendable, _ name: String) {
    watched.withLock { $0.append(Watched(object: object, name: name)) }
  }

  /// Waits until no watched object exists, and returns the names of the objects that still exist. The wait ends after
  /// `turns` yields and the time `patience`, whichever ends later, so that other tasks can release the objects.
  ///
  /// - Parameters:
  ///   - turns: The minimum number of yields to other tasks.
  ///   - patience: The minimum wait. On a busy machine, a thread may release its objects late.
  public func survivors(turns: Int = 1_000, patience: Duration = .seconds(10)) async -> [String] {
    let end = MonotonicInstant.now.advanced(by: patience)
    var turn = 0
    while turn < turns || .now < end {
      if living.isEmpty { return [] }
      await Task.yield()
      turn += 1
    }
    return living
  }

  private var living: [String] { watched.withLock { $0.filter { $0.object != nil }.map(\.name) } }
}
