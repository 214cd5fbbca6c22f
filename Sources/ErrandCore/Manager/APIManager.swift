/// One long-lived object for one API, for teams that like it so: it gets its requests from a source or from outside,
/// starts them, remembers the last outcome, cancels its own calls, and tells one delegate.
///
/// ```swift
/// let users = APIManager(client) { GetUser(id: page.userID) }
/// users.delegate = page
/// users.start()
/// ```
///
/// It is thin: what a request declares, and what it checks before it is sent, holds as everywhere. A manager that is
/// freed cancels its calls. It lives on the main actor, and tells its delegate there.
@MainActor
public final class APIManager<R: APIRequest>: APIManaging {
  /// Who is told; held weakly.
  public weak var delegate: (any APIManagerDelegate)?
  /// Makes the next request; nil where all come from outside. It is asked at each start.
  public var source: (@MainActor () throws -> R)?
  /// How the last call to end has ended; nil before.
  public private(set) var lastOutcome: Outcome<R.Response>?

  private let client: APIClient
  private let options: CallOptions
  private let owner = CallOwner()
  private var running = 0

  /// Makes a manager.
  ///
  /// - Parameters:
  ///   - client: Who sends.
  ///   - options: What is chosen for each call; the calls' owner is the manager.
  ///   - source: Makes the next request; nil where all come from outside.
  public init(
    _ client: APIClient, options: CallOptions = CallOptions(), source: (@MainActor () throws -> R)? = nil
  ) {
    self.client = client
    self.source = source
    var options = options
    options.owner = owner
    self.options = options
  }

  /// Whether one of its calls is under way.
  public var isLoading: Bool { running > 0 }

  /// The error of the last outcome; nil for success, and before.
  public var lastError: APIError? { lastOutcome?.error }

  /// Sends the request that the source makes. Where it makes none, the delegate is told why, and nil is returned.
  @discardableResult
  public func start() -> Call? {
    do {
      guard let source else {
        throw APIError(.build, .unsupported, "The manager has no source; set one, or give `start` a request.")
      }
      return start(try source())
    } catch {
      let failure =
        error as? APIError
        ?? APIError(.build, .parameter, APIError.sentence("the source made no request: \(error)"), cause: error)
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

  /// Cancels what is under way; the delegate is told a failure of stage `cancelled`.
  public func cancelAll() { owner.cancelAll() }

  /// Makes what a screen needs of the last value.
  /// - Throws: ``APIError``: that of the last outcome, or of the reformer; of code ``APIError/Code/parameter`` where
  ///   nothing has come.
  public func fetch<By: Reformer>(as reformer: By) throws(APIError) -> By.Output where By.Input == R.Response {
    guard let lastOutcome else {
      throw APIError(.build, .parameter, "The manager has no answer yet; start it, and wait for its delegate.")
    }
    return try lastOutcome.reformed(by: reformer).result.get()
  }

  private func end(_ outcome: Outcome<R.Response>) {
    lastOutcome = outcome
    if outcome.error == nil { delegate?.managerFinished(self) } else { delegate?.managerFailed(self) }
  }
}

/// Is told how the calls of managers end, on the main actor. One delegate may serve several managers: compare them with
/// `===`.
@MainActor
public protocol APIManagerDelegate: AnyObject {
  /// A call has its value.
  func managerFinished(_ manager: any APIManaging)
  /// A call failed, or could not be made; ``APIManaging/lastError`` says why.
  func managerFailed(_ manager: any APIManaging)
}

/// A manager of any API: what a delegate is given.
@MainActor
public protocol APIManaging: AnyObject, Sendable {
  /// Whether one of its calls is under way.
  var isLoading: Bool { get }
  /// The error of the last outcome; nil for success, and before.
  var lastError: APIError? { get }
  /// Cancels what is under way; the delegate is told a failure of stage `cancelled`.
  func cancelAll()
}
