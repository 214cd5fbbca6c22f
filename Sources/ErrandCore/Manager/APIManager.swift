/// A long-lived object for one API, for teams that prefer such managers. It gets its requests from a source or from its
/// caller, starts them, stores the last outcome, cancels its own calls, and notifies one delegate.
///
/// ```swift
/// let users = APIManager(client) { GetUser(id: page.userID) }
/// users.delegate = page
/// users.start()
/// ```
///
/// A manager is a thin layer over the client: the declarations and checks of requests apply as in other calls. A
/// manager that is deallocated cancels its calls. It is isolated to the main actor and notifies its delegate on the
/// main actor.
@MainActor
public final class APIManager<R: APIRequest>: APIManaging {
  /// The delegate of the manager. The reference is weak.
  public weak var delegate: (any APIManagerDelegate)?
  /// Makes the next request, once for each ``start()``; nil if all requests are passed to ``start(_:)``.
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
  ///   - client: The client that sends.
  ///   - options: The options of each call; the manager becomes the owner of the calls.
  ///   - source: Makes the next request; nil if all requests are passed to ``start(_:)``.
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

  /// Sends the request that the source makes. If the source throws an error or is nil, the delegate is notified of the
  /// failure, and the function returns nil.
  @discardableResult
  public func start() -> Call? {
    do {
      guard let source else {
        throw APIError(.build, .unsupported, "The manager has no source; set one, or pass a request to `start`.")
      }
      return start(try source())
    } catch {
      let failure =
        error as? APIError
        ?? APIError(.build, .parameter, APIError.sentence("the source failed: \(error)"), cause: error)
      end(.failed(failure))
      return nil
    }
  }

  /// Sends a request.
  @discardableResult
  public func start(_ request: R) -> Call {
    running += 1
    return client.start(outcomeOf: request, options: options) { [weak self] outcome in
      self?.running -= 1
      self?.end(outcome)
    }
  }

  /// Cancels the running calls; the delegate receives a failure of stage `cancelled`.
  public func cancelAll() { owner.cancelAll() }

  /// Converts the last value into the form that a screen needs.
  /// - Throws: ``APIError``: the error of the last outcome, or the error of the reformer. If no call has ended, the
  ///   code is ``APIError/Code/parameter``.
  public func fetch<By: Reformer>(as reformer: By) throws(APIError) -> By.Output where By.Input == R.Response {
    guard let lastOutcome else {
      throw APIError(.build, .parameter, "The manager has no outcome yet; start it and wait for its delegate.")
    }
    return try lastOutcome.reformed(by: reformer).result.get()
  }

  private func end(_ outcome: Outcome<R.Response>) {
    lastOutcome = outcome
    if outcome.error == nil { delegate?.managerFinished(self) } else { delegate?.managerFailed(self) }
  }
}

/// Receives the endings of the calls of managers, on the main actor. One delegate may serve several managers: compare
/// the managers with `===`.
@MainActor
public protocol APIManagerDelegate: AnyObject {
  /// A call has its value.
  func managerFinished(_ manager: any APIManaging)
  /// A call failed, or its request could not be made. ``APIManaging/lastError`` contains the reason.
  func managerFailed(_ manager: any APIManaging)
}

/// A manager of any request type, as a delegate receives it.
@MainActor
public protocol APIManaging: AnyObject, Sendable {
  /// True if a call of the manager is running.
  var isLoading: Bool { get }
  /// The error of the last outcome; nil if the last call succeeded, or if no call has ended.
  var lastError: APIError? { get }
  /// Cancels the running calls; the delegate receives a failure of stage `cancelled`.
  func cancelAll()
}
