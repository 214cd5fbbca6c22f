public import ErrandCache
import ErrandHTTP
public import Foundation

#if canImport(Network)
  import Network
#endif

/// The settings of an ``Outbox``.
public struct OutboxConfiguration: Sendable {
  /// The most entries that are sent at the same time, each of another lane; at least 1 and at most 1,000.
  public var parallel = 4
  /// The longest wait after the first failed attempt of an entry. It doubles with each further failure.
  public var firstDelay = Duration.seconds(1)
  /// The longest wait between two attempts of an entry, unless the server asks for a longer one by `Retry-After`.
  public var longestDelay = Duration.seconds(300)
  /// Encrypts the stored requests; nil to store them as plain JSON.
  public var seal: (any OutboxSeal)?
  /// Sources of events after which entries are tried again at once, such as a network that is available again.
  public var wakers: [any OutboxWaker] = []
  /// How often this process looks for entries that other processes have added; nil not to look. Set it if several
  /// processes share the folder. A process that waits for the right to send always looks, at least every five seconds.
  public var pollInterval: Duration?
  /// How long delivered and cancelled entries can still be looked up; one day by default. Their requests are removed at
  /// once, except those that are kept for their changes (``OptimisticRequest``).
  public var history = OutboxPeriod.days(1)
  /// The wall clock, by which stored times such as the end of a wait are compared. The client's timers only wake the
  /// outbox, so a test that replaces the timers must set a clock that follows them.
  public var clock: @Sendable () -> WallTime = { .now }
  /// Is called at each ``OutboxPoint``. Tests end the process there.
  public var onPoint: (@Sendable (OutboxPoint) -> Void)?

  /// Makes the default settings.
  public init() {}

  /// ``parallel`` within its limits.
  var allowedParallel: Int { max(1, min(parallel, 1_000)) }

  var backOff: BackOff {
    BackOff(
      first: max(1, firstDelay.clampedNanoseconds / 1_000_000),
      longest: max(1, longestDelay.clampedNanoseconds / 1_000_000))
  }
}

/// A named point in the life of an entry at which a test may end the process.
public enum OutboxPoint: String, Sendable, CaseIterable {
  /// An entry is about to be stored.
  case adding
  /// The entry is stored, and ``Outbox/add(_:)`` has not returned yet.
  case added
  /// An attempt is about to be recorded.
  case beginning
  /// The attempt is recorded, and no byte was sent yet.
  case began
  /// The call has ended, and its result is not recorded yet.
  case answered
  /// The result is recorded, and was not published yet.
  case ended
}

/// A source of events after which an ``Outbox`` tries its entries again at once.
///
/// ```swift
/// struct Foreground: OutboxWaker {
///   var wakes: AsyncStream<Void> { AsyncStream { continuation in … } }
/// }
/// ```
public protocol OutboxWaker: Sendable {
  /// A new sequence with one element for each event. The outbox reads it until it is closed.
  var wakes: AsyncStream<Void> { get }
}

/// Wakes an ``Outbox`` when one of several notifications is posted, for example when the app comes to the foreground.
public struct NotificationWaker: OutboxWaker {
  private let names: [Notification.Name]

  /// Wakes the outbox when a notification with one of the names is posted to the default notification center.
  public init(_ names: Notification.Name...) { self.names = names }

  /// Wakes the outbox when the app becomes active, on each of Apple's platforms.
  public static let foreground = NotificationWaker(
    Notification.Name("UIApplicationDidBecomeActiveNotification"),
    Notification.Name("NSApplicationDidBecomeActiveNotification"),
    Notification.Name("WKApplicationDidBecomeActiveNotification"))

  /// A new sequence with one element for each notification.
  public var wakes: AsyncStream<Void> {
    AsyncStream { continuation in
      let observers = names.map { name in
        NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in continuation.yield() }
      }
      nonisolated(unsafe) let tokens = observers  // a notification center may be used from any thread
      continuation.onTermination = { _ in
        for token in tokens { NotificationCenter.default.removeObserver(token) }
      }
    }
  }
}

#if canImport(Network)
  /// Wakes an ``Outbox`` when a network is available again, by `NWPathMonitor`.
  public struct NetworkWaker: OutboxWaker {
    /// Makes a waker for all networks.
    public init() {}

    /// A new sequence with one element for each change to a network that can be used.
    public var wakes: AsyncStream<Void> {
      AsyncStream { continuation in
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { path in
          if path.status == .satisfied { continuation.yield() }
        }
        continuation.onTermination = { _ in monitor.cancel() }
        monitor.start(queue: DispatchQueue(label: "errand.outbox.network"))
      }
    }
  }
#endif
