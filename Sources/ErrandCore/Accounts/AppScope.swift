/// A part of a call in which code of the app runs that may send calls itself, and that the call waits for: a provider of
/// credentials, an interceptor, a hook, an accessory.
///
/// It is inherited by the tasks that the code starts, and counts as long as the call waits. Two rules rest on it:
///
/// - A call that a provider begins while it is asked for a credential, or refreshes one, shows no credential of that
///   provider, and joins no other call. So no provider waits for itself, also not by way of another client.
/// - Calls in calls are refused beyond a depth of ``limit``: the code sends a call for each call that it sees, also for
///   its own.
final class AppScope: Sendable {
  /// How deep calls may be nested.
  static var limit: Int { 8 }

  @TaskLocal private static var present: AppScope?

  private let name: Any.Type
  /// How many calls are around the code.
  private let depth: Int
  private let provider: ObjectIdentifier?
  private let outer: AppScope?
  private let time = MarkedTime()

  private init(_ name: Any.Type, _ depth: Int, _ provider: ObjectIdentifier?) {
    self.name = name
    self.depth = depth
    self.provider = provider
    outer = Self.innermost
  }

  /// The innermost scope that has not ended.
  private static var innermost: AppScope? {
    var scope = present
    while let found = scope, !found.time.lasts { scope = found.outer }
    return scope
  }

  // MARK: - What a call asks

  /// How many calls the present task is inside of.
  static var nesting: Int { innermost?.depth ?? 0 }

  /// Whether the present task works for a provider that is being asked.
  static func isInside(provider: ObjectIdentifier?) -> Bool {
    guard let provider, present != nil else { return false }
    return contains { $0.provider == provider }
  }

  /// Whether the present task works for any provider that is being asked.
  static var isInsideProvider: Bool { present != nil && contains { $0.provider != nil } }

  private static func contains(_ rule: (AppScope) -> Bool) -> Bool {
    var scope = innermost
    while let found = scope {
      if found.time.lasts, rule(found) { return true }
      scope = found.outer
    }
    return false
  }

  /// Why a call may not begin here; nil if it may.
  static func refusal(of nesting: Int) -> APIError? {
    guard nesting > limit else { return nil }
    let name = innermost.map { "\($0.name)" } ?? "code of the app"
    return APIError(
      .interceptor, .interceptor,
      "\(name) sends a call for each call that it sees, also for its own, and was nested \(limit) calls deep; let it"
        + " pass the calls that it sends itself.")
  }

  // MARK: - What a call does

  /// Runs code of the app that belongs to a call.
  /// - Parameters:
  ///   - name: The type that the code belongs to, for the sentence of a refusal.
  ///   - nesting: How many calls the call itself is inside of.
  ///   - provider: Which provider of credentials it is; nil for other code.
  static func during<Value, Failure: Error>(
    _ name: Any.Type, in nesting: Int, provider: ObjectIdentifier? = nil,
    _ work: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let scope = AppScope(name, nesting + 1, provider)
    defer { scope.time.end() }
    let result: Result<Value, Failure> = await $present.withValue(scope) {
      do throws(Failure) { return .success(try await work()) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Runs code that is a part of no call.
  static func leaving(_ work: () async throws -> Void) async rethrows {
    try await $present.withValue(nil) { try await work() }
  }

  /// Runs code of the app that belongs to a call and does not wait.
  static func during(_ name: Any.Type, in nesting: Int, _ work: () -> Void) {
    let scope = AppScope(name, nesting + 1, nil)
    defer { scope.time.end() }
    $present.withValue(scope, operation: work)
  }
}
