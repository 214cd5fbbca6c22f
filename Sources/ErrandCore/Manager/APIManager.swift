/// A long-lived object that calls one API. The manager gets its requests from the closure ``source`` or from its
/// caller, sends them, stores the last outcome, cancels its own calls, and notifies one delegate.
///
/// ```swift
/// let users = APIManager(client) { GetUser(id: page.userID) }
/// users.delegate = page
/// users.start()
/// ```
///
/// A manager is a thin layer over the client: the settings and checks of a request apply as in a direct call of the
/// client. A manager that is deallocated cancels its calls. The manager is isolated to the main actor and notifies its
/// delegate on the main actor.
@MainActor
public final class APIManager<R: APIRequest>: APIManaging {
  /// The delegate of the manager. The reference is weak.
  public weak var delegate: (any APIManagerDelegate)?
  /// The closure that makes the next request. The closure is called once for each ``start()``. Nil if all requests are
  /// passed to ``start(_:)``.
  public var source: (@MainActor () throws -> R)?
  /// The outcome of the call that ended last; nil if no call has ended.
  public private(set) var lastOutcome: Outcome<R.Response>?

  private let client: APIClient
  private let options: CallOptions
  private let owner = CallOwner()
  private var running = 0

  /// Makes a manager.
  ///
  /// - Parameters:
  ///   - client: The client that sends the requests.
  ///   - options: The options of each call. The manager replaces the option `owner`, so that it can cancel its own
  ///     calls.
  ///   - source: The closure that makes the next request; nil if all requests are passed to ``start(_:)``.
  public init(
    _ client: APIClient, options: CallOptions = CallOptions(), source: (@MainActor () throws -> R)? = nil
  ) {
    self.client = client
    self.source = source
    var options = options
    options.owner = owner
    self.options = options
  }

  /// True if a call of the manager is running.
  public var isLoading: Bool { running > 0 }

  /// The error of the last outcome; nil if the last call succeeded, or if no call has ended.
  public var lastError: APIError? { lastOutcome?.error }

  /// Sends the request that ``source`` makes. If ``source`` throws an error or is nil, the delegate is notified of a
  /// failure, and the method returns nil.
  @discardableResult
  public func start() -> Call? {
    do {
      guard let source else {
        throw APIError(
          .build, .unsupported,
          "The manager has no source of requests; set `source`, or pass a request to `start`.")
      }
      return start(try source())
    } catch {
      end(.failed(.build(.parameter, "the `source` of the manager failed", from: error)))
      return nil
    }
  }

  /// Sends a request. The delegate is notified when the call ends.
  @discardableResult
  public func start(_ request: R) -> Call {
    running += 1
    return client.start(outcomeOf: request, options: options) { [weak self] outcome in
      self?.running -= 1
      self?.end(outcome)
    }
  }

  /// Cancels the running calls. The delegate is notified of a failure with the stage ``APIError/Stage/cancelled``.
  public func cancelAll() { owner.cancelAll() }

  /// Converts the value of the last outcome with a reformer, for example into the form that a screen shows.
  /// - Throws: ``APIError``: the error of the last outcome, or the error of the reformer. If no call has ended, the
  ///   code is ``APIError/Code/parameter``.
  public func fetch<By: Reformer>(as reformer: By) throws(APIError) -> By.Output where By.Input == R.Response {
    guard let lastOutcome else {
      throw APIError(
        .build, .parameter, "The manager has no outcome yet; call `start`, and wait until the delegate is notified.")
    }
    return try lastOutcome.reformed(by: reformer).result.get()
  }

  private func end(_ outcome: Outcome<R.Response>) {
    lastOutcome = outcome
    if outcome.error == nil { delegate?.managerFinished(self) } else { delegate?.managerFailed(self) }
  }
}

/// Receives a notification on the main actor when a call of a manager ends. One delegate may serve several managers;
/// compare the `manager` argument with `===` to distinguish them.
@MainActor
public protocol APIManagerDelegate: AnyObject {
  /// A call succeeded. The `lastOutcome` of the manager contains the value.
  func managerFinished(_ manager: any APIManaging)
  /// A call failed, or the manager could not make the request of the call. ``APIManaging/lastError`` contains the
  /// reason.
  func managerFailed(_ manager: any APIManaging)
}

/// An ``APIManager`` or a ``PageManager`` of any request type. Delegates receive managers as this type.
@MainActor
public protocol APIManaging: AnyObject, Sendable {
  /// True if a call of the manager is running.
  var isLoading: Bool { get }
  /// The error of the last outcome; nil if the last call succeeded, or if no call has ended.
  var lastError: APIError? { get }
  /// Cancels the running calls. The delegate is notified of a failure with the stage ``APIError/Stage/cancelled``.
  func cancelAll()
}
