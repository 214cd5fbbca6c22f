/// A period in which a call waits for code of the app that may send calls itself: a credential provider, an
/// interceptor, a hook or an accessory.
///
/// Tasks that the code starts inherit the scope. The scope ends when the call no longer waits for the code. Two rules
/// depend on the scope:
///
/// - A call that a provider starts while it supplies or refreshes a credential is sent without a credential of that
///   provider, and shares no exchange with other calls. So no provider waits for itself, not even through another
///   client.
/// - Calls that are nested more than ``limit`` deep are rejected. Such nesting happens if the code sends a call for
///   each call that it handles, including the calls that it sent itself.
final class UserCodeScope: Sendable {
  /// How deep calls may be nested.
  static var limit: Int { 8 }

  @TaskLocal private static var present: UserCodeScope?

  private let name: Any.Type
  /// How many calls are nested around the code.
  private let depth: Int
  private let provider: ObjectIdentifier?
  private let outer: UserCodeScope?
  private let time = TaskMark()

  private init(_ name: Any.Type, _ depth: Int, _ provider: ObjectIdentifier?) {
    self.name = name
    self.depth = depth
    self.provider = provider
    outer = Self.innermost
  }

  /// The innermost scope that has not ended.
  private static var innermost: UserCodeScope? {
    var scope = present
    while let found = scope, !found.time.lasts { scope = found.outer }
    return scope
  }

  // MARK: - Queries of a call

  /// How many calls are nested around the current task.
  static var nesting: Int { innermost?.depth ?? 0 }

  /// Whether the current task runs code of this credential provider.
  static func isInside(provider: ObjectIdentifier?) -> Bool {
    guard let provider, present != nil else { return false }
    return contains { $0.provider == provider }
  }

  /// Whether the current task runs code of any credential provider.
  static var isInsideProvider: Bool { present != nil && contains { $0.provider != nil } }

  private static func contains(_ rule: (UserCodeScope) -> Bool) -> Bool {
    var scope = innermost
    while let found = scope {
      if found.time.lasts, rule(found) { return true }
      scope = found.outer
    }
    return false
  }

  /// The error of a call that is nested too deep; nil if the call may start.
  static func refusal(of nesting: Int) -> APIError? {
    guard nesting > limit else { return nil }
    let name = innermost.map { "\($0.name)" } ?? "code of the app"
    return APIError(
      .interceptor, .interceptor,
      "Calls are nested \(limit) deep, because \(name) sends a new call for every call that it handles, including "
        + "its own calls; make sure that \(name) sends no new call for its own calls.")
  }

  // MARK: - Running code of the app

  /// Runs code of the app that belongs to a call.
  /// - Parameters:
  ///   - name: The type that the code belongs to, for the error message.
  ///   - nesting: How many calls are nested around the call.
  ///   - provider: The identity of the credential provider; nil for other code.
  static func during<Value, Failure: Error>(
    _ name: Any.Type, in nesting: Int, provider: ObjectIdentifier? = nil,
    _ work: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let scope = UserCodeScope(name, nesting + 1, provider)
    defer { scope.time.end() }
    let result: Result<Value, Failure> = await $present.withValue(scope) {
      do throws(Failure) { return .success(try await work()) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Runs code as if no call waited for the code.
  static func leaving(_ work: () async throws -> Void) async rethrows {
    try await $present.withValue(nil) { try await work() }
  }

  /// Runs synchronous code of the app that belongs to a call.
  static func during(_ name: Any.Type, in nesting: Int, _ work: () -> Void) {
    let scope = UserCodeScope(name, nesting + 1, nil)
    defer { scope.time.end() }
    $present.withValue(scope, operation: work)
  }
}
