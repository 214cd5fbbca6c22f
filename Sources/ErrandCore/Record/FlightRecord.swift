import ErrandSupport

/// The last calls of a client, with the decisions that the library made for them. See ``ClientConfiguration/record``.
///
/// A call is in the record as soon as its outcome is delivered. The functions may be called from any thread.
///
/// ```swift
/// if let call = client.flightRecord.calls.last { print(call.why) }
/// ```
public final class FlightRecord: Sendable {
  private struct State {
    var ring = Ring<FlightCall>()
    var observers: [Int: @Sendable (FlightCall) -> Void] = [:]
    var lastObserver = 0
  }

  private let state = Locked(State())

  init() {}

  /// The recorded calls, in the order in which they ended.
  public var calls: [FlightCall] { state.withLock { $0.ring.elements } }

  /// The recorded call with a number, such as `CallInfo.id`; nil if the record does not contain the call.
  public func call(_ number: UInt64) -> FlightCall? { calls.last { $0.number == number } }

  /// Removes all calls from the record.
  public func removeAll() { state.withLock { $0.ring = Ring() } }

  /// Adds a call that has ended. Afterwards the record has at most `limit` calls.
  func add(_ call: FlightCall, limit: Int) {
    let observers = state.withLock { state in
      state.ring.append(call, limit: limit)
      return state.observers
    }
    if !observers.isEmpty { for observer in observers.values { observer(call) } }
  }

  /// Calls a function with each call that is added from now on, on the thread that ended the call. Returns a number for
  /// ``removeObserver(_:)``.
  package func addObserver(_ observer: @escaping @Sendable (FlightCall) -> Void) -> Int {
    state.withLock { state in
      state.lastObserver += 1
      state.observers[state.lastObserver] = observer
      return state.lastObserver
    }
  }

  /// Removes an observer. It may still be running on another thread when this function returns.
  package func removeObserver(_ number: Int) { state.withLock { $0.observers[number] = nil } }
}

/// A list of the last elements that were added, with a limit on their number.
struct Ring<Element: Sendable>: Sendable {
  /// The elements in no particular order.
  private(set) var unordered: [Element] = []
  private var oldest = 0

  /// The elements, the oldest element first.
  var elements: [Element] { Array(unordered[oldest...] + unordered[..<oldest]) }

  /// Adds an element. Removes the oldest elements so that at most `limit` elements remain.
  /// - Returns: The oldest element of a full ring, which the new element replaces; otherwise nil.
  @discardableResult
  mutating func append(_ element: Element, limit: Int) -> Element? {
    if limit > 0, unordered.count == limit {
      let replaced = unordered[oldest]
      unordered[oldest] = element
      oldest = (oldest + 1) % limit
      return replaced
    }
    if oldest > 0 || unordered.count >= limit {
      unordered = elements.suffix(max(limit - 1, 0))
      oldest = 0
    }
    if limit > 0 { unordered.append(element) }
    return nil
  }
}

/// What a client records about its calls in its ``FlightRecord``; by default nothing.
///
/// ```swift
/// configuration.record = .ring(calls: 500)
/// ```
public struct FlightRecording: Sendable, Hashable {
  /// How much of a recorded call its outputs show. The outputs are the properties of ``FlightCall``, its descriptions,
  /// and ``FlightRecord/har()``.
  public enum Detail: Sendable, Hashable, CaseIterable {
    /// Secrets, credentials, cookies and the values of queries are masked, and header fields whose names suggest a
    /// secret, such as `X-Auth-Token`. In JSON bodies, the values whose names suggest a secret are masked; in forms, all
    /// values. Of other bodies only the length is shown. If a JSON or form body of a request could not be searched for
    /// secrets, the texts of the responses are hidden, too. This is the default.
    case masked
    /// As ``masked``, but the values of queries are shown, except those whose names suggest a secret.
    case addresses
    /// Everything is shown, including credentials and cookies. Do not pass on such a record.
    case everything
  }

  /// The number of calls that the ring keeps. If the ring is full, a new call replaces the oldest. Zero turns the
  /// recording off; less than zero counts as zero.
  package var calls: Int { didSet { calls = max(calls, 0) } }
  /// How much of a recorded call its outputs show.
  package var detail: Detail
  /// The number of bytes that are kept of each request body and of each response body. Zero, the default, keeps no
  /// bodies; less than zero counts as zero. A body that is streamed from or to a file is never kept.
  package var bodyLimit: Int { didSet { bodyLimit = max(bodyLimit, 0) } }

  private init(calls: Int, detail: Detail, bodyLimit: Int) {
    self.calls = max(calls, 0)
    self.detail = detail
    self.bodyLimit = max(bodyLimit, 0)
  }

  /// Nothing is recorded. Calls then spend neither time nor memory on the record.
  public static let off = FlightRecording(calls: 0, detail: .masked, bodyLimit: 0)

  /// The last calls are kept in memory.
  ///
  /// - Parameters:
  ///   - calls: The number of calls to keep.
  ///   - detail: How much of a recorded call its outputs show.
  ///   - bodyLimit: The number of bytes to keep of each request body and of each response body.
  public static func ring(calls: Int, detail: Detail = .masked, bodyLimit: Int = 0) -> FlightRecording {
    FlightRecording(calls: calls, detail: detail, bodyLimit: bodyLimit)
  }

  var isOn: Bool { calls > 0 }
}

/// The properties of a client that its recorded calls share.
final class FlightClient: Sendable {
  let detail: FlightRecording.Detail
  /// The type of the transport; nil if the client has no transport. The transport itself is not kept.
  private let transport: (any Transport.Type)?
  private let choice: CallDecision.Route.Choice

  init(_ configuration: ClientConfiguration, _ transport: (any Transport)?) {
    detail = configuration.record.detail
    self.transport = transport.map { type(of: $0) }
    choice =
      switch configuration.transport {
      case .platform: .platform
      case .named(let name): .named(name)
      case .own: .configured
      }
  }

  /// The route of an exchange with these measurements.
  func route(of metrics: ExchangeMetrics?) -> CallDecision.Route {
    CallDecision.Route(
      transport: transport.map { "\($0)" } ?? "no transport", choice: choice,
      isConnectionReused: metrics?.isConnectionReused, address: metrics?.remoteAddress)
  }
}
