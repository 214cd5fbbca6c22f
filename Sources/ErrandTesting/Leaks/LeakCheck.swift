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

  /// The leak check of the running test; nil if the test has no leak check. The trait `.checksLeaks` of
  /// `ErrandTestingTraits` sets this value.
  ///
  /// Some objects that the test creates are watched automatically: scripted, recording, replaying and profiled
  /// transports, and loopback servers. These objects also reveal leaked clients and calls, because a leaked client or
  /// call keeps its transport.
  @TaskLocal public static var current: LeakCheck?

  /// Creates a leak check that watches no objects yet.
  public init() {}

  /// Watches an object through a weak reference. ``survivors(turns:patience:)`` reports `name` if the object still
  /// exists.
  public func watch(_ object: any AnyObject & Sendable, _ name: String) {
    watched.withLock { $0.append(Watched(object: object, name: name)) }
  }

  /// Returns the names of the watched objects that still exist.
  /// If no watched object exists any more, the function returns at once. Otherwise, the function yields repeatedly, so
  /// that other tasks can run and release objects. It gives up when it has yielded `turns` times and the time
  /// `patience` is over.
  ///
  /// - Parameters:
  ///   - turns: The number of yields to other tasks before the function gives up.
  ///   - patience: The time before the function gives up. On a busy machine, a thread may release its objects late.
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
