public import Foundation

#if canImport(Network)
  import Network
#endif

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
