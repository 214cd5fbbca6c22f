public import ErrandCore
import ErrandSupport
import Foundation

/// A web page on this machine that shows the calls of a client while they end.
///
/// The page is off until a value of this type is created, and ends with ``stop()`` or when the value is deallocated.
/// Only programs on this machine that know ``url`` can read it. It shows what `FlightRecord.har()` contains.
///
/// ```swift
/// let live = try await FlightLivePage(of: client.flightRecord)
/// print(live.url)     // http://127.0.0.1:41234/7f3a…/
/// ```
public final class FlightLivePage: Sendable {
  /// The address of the page. It contains a random token of 128 bits, so it is a secret.
  public let url: String

  private let record: FlightRecord
  private let observer: Int
  private let inbox: LiveInbox
  private let thread = DispatchGroup()

  /// Starts the page on a free port of 127.0.0.1.
  ///
  /// - Throws: ``FlightPageError`` if the system has no free port, descriptor or thread.
  public convenience init(of record: FlightRecord) async throws {
    try self.init(of: record, limits: LiveLimits())
  }

  init(of record: FlightRecord, limits: LiveLimits) throws {
    let listener = try LiveListener()
    guard let wake = WakePipe() else { throw LiveSocket.failure("pipe") }
    let gate = LiveGate(port: listener.port, token: PageDocument.nonce())
    let inbox = LiveInbox(wake, most: limits.queue)
    (self.record, self.inbox) = (record, inbox)
    url = "http://127.0.0.1:\(gate.port)/\(gate.token)/"
    observer = record.addObserver { inbox.add($0) }
    let thread = thread
    thread.enter()
    let isStarted = DetachedThread.start(named: "errand-live-page") {
      var server = LiveServer(listener, inbox, gate, limits) { record.calls }
      server.run()
      thread.leave()
    }
    guard isStarted else {
      thread.leave()
      throw FlightPageError("The live page needs a thread, and the system cannot create one. End other work first.")
    }
  }

  deinit {
    record.removeObserver(observer)
    inbox.stop()
  }

  /// Ends the page: closes all connections and the port. Waits for this at most five seconds, usually less than one
  /// millisecond. Later calls have no effect.
  public func stop() {
    record.removeObserver(observer)
    inbox.stop()
    _ = thread.wait(timeout: .now() + .seconds(5))
  }
}

/// The limits of a live page, so that no reader can use much memory or time.
struct LiveLimits: Sendable {
  /// The largest number of open connections. Further ones wait in the queue of the system.
  var connections = 32
  /// The largest size of a request line and header section in bytes.
  var head = 16 << 10
  /// The time in which a request must arrive.
  var headTime: Duration = .seconds(10)
  /// The time after which a reader that accepts no bytes is dropped.
  var stallTime: Duration = .seconds(30)
  /// The largest number of new calls that wait for a slow reader.
  var queue = 1_000
  /// The largest number of calls that are encoded for one reader before the other connections get their turn.
  var callsPerTurn = 64
}

/// The calls that have ended since the server looked last. Any thread may add a call.
final class LiveInbox: Sendable {
  struct Content: Sendable {
    var calls: [FlightCall] = []
    /// Whether calls were left out, because the server did not take them in time.
    var isOverfull = false
    var isStopped = false
  }

  private let wake: WakePipe
  private let most: Int
  private let content = Locked(Content())

  init(_ wake: WakePipe, most: Int) { (self.wake, self.most) = (wake, most) }

  /// The descriptor that is readable if there is new content.
  var descriptor: Int32 { wake.readEnd }

  func add(_ call: FlightCall) {
    content.withLock { content in
      if content.isStopped { return }
      if content.calls.count < most { content.calls.append(call) } else { content.isOverfull = true }
    }
    wake.wake()
  }

  func stop() {
    content.withLock { content in (content.isStopped, content.calls) = (true, []) }
    wake.wake()
  }

  /// Returns and removes the content. `isStopped` stays.
  func take() -> Content {
    wake.drain()
    return content.withLock { content in
      defer { content = Content(isStopped: content.isStopped) }
      return content
    }
  }
}
