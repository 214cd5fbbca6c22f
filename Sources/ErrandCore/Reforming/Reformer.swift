import ErrandSupport

/// Converts the value of a response for a screen. The request does not depend on the reformer.
///
/// ```swift
/// struct UserRow: Reformer {
///   func reform(_ user: User) -> Row { Row(title: user.name, badge: user.unread > 0) }
/// }
/// let row = try await client.send(GetUser(id: 7), as: UserRow())
/// ```
///
/// For a call of `start`, the reformer does not run on the main actor, even if the closures of the call do. For a call
/// of `send` or `outcome`, the reformer runs on the caller's executor if the body has at most 16 KiB. A reformer may
/// run more than once.
public protocol Reformer<Input, Output>: Sendable {
  /// The type that the reformer converts: the value of a response, or the output of another reformer.
  associatedtype Input: Sendable
  /// The type that the screen needs.
  associatedtype Output: Sendable

  /// Converts a value. If this function throws an ``APIError``, the caller receives that error unchanged. Any other
  /// error becomes the cause of an ``APIError`` of code ``APIError/Code/reform``.
  func reform(_ input: Input) throws -> Output
}

extension Reformer {
  /// Returns a reformer that runs this reformer, and then runs `next` on the output of this reformer.
  public func then<Next: Reformer>(_ next: Next) -> some Reformer<Input, Next.Output> where Next.Input == Output {
    Reform { input in try next.reform(self.reform(input)) }
  }

  /// A reformer that converts each value of an array with this reformer, in order.
  public var each: some Reformer<[Input], [Output]> { Reform { inputs in try inputs.map(reform) } }
}

/// A reformer that is made from a closure.
public struct Reform<Input: Sendable, Output: Sendable>: Reformer {
  private let closure: @Sendable (Input) throws -> Output

  /// Makes a reformer from a closure that converts a value.
  public init(_ closure: @escaping @Sendable (Input) throws -> Output) { self.closure = closure }

  /// Converts a value with the closure.
  public func reform(_ input: Input) throws -> Output { try closure(input) }
}

extension APIError.Code {
  /// The code of the error if a reformer could not convert the value.
  public static let reform = Self(rawValue: "reform")
}

extension Outcome {
  /// Returns a copy of the outcome in which the reformer has converted the value for a screen. The copy of a failed
  /// outcome has the same error. Several screens can convert the same outcome.
  public func reformed<By: Reformer>(by reformer: By) -> Outcome<By.Output> where By.Input == Value {
    with(
      result.flatMap { value in
        Result { () throws(APIError) in
          try APIError.reforming(value, by: reformer, request, response, metrics)
        }
      })
  }

  /// Converts the value of the outcome for a screen. If the body has more than 16 KiB, the reformer runs on the global
  /// executor, on which such a body is also decoded.
  func reformedElsewhere<By: Reformer>(by reformer: By) async -> Outcome<By.Output> where By.Input == Value {
    guard let response, response.body.count > Validating.inlineLimit else { return reformed(by: reformer) }
    return await onGlobalExecutor { reformed(by: reformer) }
  }
}

extension APIResponse {
  /// Returns a copy of the response in which the reformer has converted the value for a screen.
  /// - Throws: ``APIError`` of code ``APIError/Code/reform``.
  public func reformed<By: Reformer>(by reformer: By) throws(APIError) -> APIResponse<By.Output>
  where By.Input == Value {
    with(try APIError.reforming(value, by: reformer, request, raw, metrics))
  }
}

extension APIError {
  fileprivate static func reforming<By: Reformer>(
    _ value: By.Input, by reformer: By, _ request: HTTPRequest?, _ response: HTTPResponse?, _ metrics: CallMetrics
  ) throws(APIError) -> By.Output {
    do {
      return try reformer.reform(value)
    } catch let error as APIError {
      throw error
    } catch {
      let clause = "the response could not be converted by the reformer \(By.self): \(AppErrorText.of(error))"
      let secrets = KnownSecrets(request, response)
      throw APIError(
        Details(
          stage: .decode, code: .reform, message: secrets.masked(sentence(clause)), request: request,
          response: response, metrics: metrics, cause: error))
    }
  }
}

extension CallSender {
  /// Sends a request and returns its value, converted for a screen.
  ///
  /// If the reformer fails, this function throws an error, but hooks and accessories still receive a success. The
  /// reformer runs on the caller's executor. For bodies over 16 KiB, the reformer runs on the global executor.
  /// - Throws: ``APIError``. If the reformer failed, the code of the error is ``APIError/Code/reform``.
  public func send<R: APIRequest, By: Reformer>(
    _ request: R, as reformer: By, options: CallOptions = CallOptions()
  ) async throws(APIError) -> By.Output where By.Input == R.Response {
    try await outcome(of: request, as: reformer, options: options).result.get()
  }

  /// Sends a request and returns its outcome with the value converted for a screen. This function never throws. The
  /// reformer runs on the caller's executor. For bodies over 16 KiB, the reformer runs on the global executor.
  public func outcome<R: APIRequest, By: Reformer>(
    of request: R, as reformer: By, options: CallOptions = CallOptions()
  ) async -> Outcome<By.Output> where By.Input == R.Response {
    await outcome(of: request, options: options).reformedElsewhere(by: reformer)
  }
}

extension APIClient {
  /// Starts a request. At its end, exactly one of the closures `onSuccess` and `onFailure` is called on the main actor,
  /// with the converted value or the error. The reformer does not run on the main actor.
  @discardableResult
  public func start<R: APIRequest, By: Reformer>(
    _ request: R, as reformer: By, options: CallOptions = CallOptions(),
    onSuccess: @escaping @MainActor (By.Output) -> Void, onFailure: (@MainActor (APIError) -> Void)? = nil,
    onProgress: (@MainActor (TransferProgress) -> Void)? = nil
  ) -> Call where By.Input == R.Response {
    start(
      outcomeOf: request, as: reformer, options: options, { $0.result.notify(onSuccess, onFailure) },
      onProgress: onProgress)
  }

  /// Starts a request. The closure receives the outcome with the converted value exactly once, on the main actor.
  @discardableResult
  public func start<R: APIRequest, By: Reformer>(
    outcomeOf request: R, as reformer: By, options: CallOptions = CallOptions(),
    _ onEnd: @escaping @MainActor (Outcome<By.Output>) -> Void,
    onProgress: (@MainActor (TransferProgress) -> Void)? = nil
  ) -> Call where By.Input == R.Response {
    launch(request, options, .onMain(onProgress), by: reformer) { outcome in
      MainActor.assumeIsolated { onEnd(outcome) }
    }
  }

  /// Starts a request. The closure receives the outcome with the converted value exactly once, on the given executor.
  @discardableResult
  public func start<R: APIRequest, By: Reformer>(
    outcomeOf request: R, as reformer: By, on executor: CallbackExecutor, options: CallOptions = CallOptions(),
    _ onEnd: @escaping @Sendable (Outcome<By.Output>) -> Void,
    onProgress: (@Sendable (TransferProgress) -> Void)? = nil
  ) -> Call where By.Input == R.Response {
    launch(request, options, .on(executor, onProgress), by: reformer, onEnd)
  }

  private func launch<R: APIRequest, By: Reformer>(
    _ request: R, _ options: CallOptions, _ callbacks: CallRun.Callbacks, by reformer: By,
    _ onEnd: @escaping @Sendable (Outcome<By.Output>) -> Void
  ) -> Call where By.Input == R.Response {
    let typed = TypedCall(request)
    return launch(typed, options, callbacks) { _, outcome in
      let made = typed.outcome(outcome).reformed(by: reformer)
      return { ending in onEnd(ending.error == nil ? made : typed.outcome(ending).reformed(by: reformer)) }
    }
  }
}
