import ErrandSupport
import ErrandCore

/// Holds objects weakly and says which of them live on.
///
/// ```swift
/// let leaks = LeakCheck()
/// leaks.watch(delegate, "delegate")
/// …                                   // let go of everything
/// #expect(await leaks.survivors().isEmpty)
/// ```
public final class LeakCheck: Sendable {
  private struct Watched: Sendable {
    weak let object: (any AnyObject & Sendable)?
    let name: String
  }

  private let watched = Locked<[Watched]>([])

  /// The check of the test that runs; nil where it has none. The trait `.checksLeaks` of `ErrandTestingTraits` sets it.
  ///
  /// Scripted, recording, replaying and profiled transports and loopback servers that are made meanwhile are watched by
  /// themselves: a client or a call that lives on holds its transport.
  @TaskLocal public static var current: LeakCheck?

  /// Makes a check that watches nothing yet.
  public init() {}

  /// Watches an object.
  public func watch(_ object: any AnyObject & Sendable, _ name: String) {
    watched.withLock { $0.append(Watched(object: object, name: name)) }
  }

  /// The names of the objects that live on, once other tasks have had their turn to let go.
  ///
  /// - Parameters:
  ///   - turns: How many turns they get at least.
  ///   - patience: How long they get at least: on a busy machine a thread may come late to letting go.
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
