import Synchronization

/// A period in which a call waits for code of the app that may send calls itself: a credential provider, an
/// interceptor, a hook that runs before the end, an accessory, or the additions of the client, such as a URL filter.
///
/// Tasks that the code of the app starts inherit the scope. The scope ends when the call no longer waits for the code.
/// A call that was started in the scope stays nested after the scope has ended. The same applies to the members of a
/// group that was started in the scope. Two rules depend on the scope:
///
/// - A call that a provider starts while it supplies or refreshes a credential is sent without a credential of that
///   provider, and shares no exchange with other calls. So no provider waits for itself, not even through another
///   client.
/// - Calls that are nested more than ``limit`` deep are rejected. Such nesting happens if code of the app sends a new
///   call for each call that it handles, including the calls that it sent itself.
final class UserCodeScope: Sendable {
  /// The maximum depth of nested calls. A call is nested if code of the app sends the call while an outer call waits
  /// for this code.
  static var limit: Int { 8 }

  @TaskLocal private static var present: UserCodeScope?

  private let name: Name
  /// The number of calls and groups that wait for the code of the app that runs in this scope, directly or through
  /// other calls.
  let depth: Int
  private let provider: ObjectIdentifier?
  private let outer: UserCodeScope?
  private let period = TaskPeriod()

  /// The name of the code of the app that runs in a scope, for error messages: the name of a type or of a group.
  private enum Name: Sendable, CustomStringConvertible {
    case type(Any.Type)
    case text(String)

    var description: String {
      switch self {
      case .type(let type): "\(type)"
      case .text(let text): text
      }
    }
  }

  private init(_ name: Name, _ depth: Int, _ provider: ObjectIdentifier? = nil) {
    self.name = name
    self.depth = depth
    self.provider = provider
    outer = Self.innermost
  }

  /// The innermost scope of the current task that has not ended; nil if the current task is in no such scope.
  static var innermost: UserCodeScope? {
    var scope = present
    while let found = scope, !found.period.lasts { scope = found.outer }
    return scope
  }

  // MARK: - Queries of a call

  /// The number of calls and groups that wait for the current task, directly or through other calls.
  static var nesting: Int { innermost?.depth ?? 0 }

  /// True if the current task runs code of the given credential provider. False if `provider` is nil.
  static func isInside(provider: ObjectIdentifier?) -> Bool {
    guard let provider, present != nil else { return false }
    return contains { $0.provider == provider }
  }

  /// True if the current task runs code of any credential provider.
  static var isInsideProvider: Bool { present != nil && contains { $0.provider != nil } }

  private static func contains(_ rule: (UserCodeScope) -> Bool) -> Bool {
    var scope = innermost
    while let found = scope {
      if found.period.lasts, rule(found) { return true }
      scope = found.outer
    }
    return false
  }

  /// The error of a call that is nested too deeply; nil if the call may start.
  static func refusal(of nesting: Int) -> APIError? {
    guard nesting > limit else { return nil }
    let name = innermost.map { "\($0.name)" } ?? "code of the app"
    return APIError(
      .interceptor, .interceptor,
      "Calls are nested \(limit) deep, because \(name) sends a new call for every call that it handles, including "
        + "its own calls; make sure that \(name) sends no new call for its own calls.")
  }

  // MARK: - Running code of the app

  /// Runs code of the app while a call waits for the code.
  /// - Parameters:
  ///   - name: The type that contains the code of the app, for the error message.
  ///   - nesting: The number of calls in which the waiting call is nested.
  ///   - provider: The identity of the credential provider whose code runs; nil for other code of the app.
  static func during<Value, Failure: Error>(
    _ name: Any.Type, in nesting: Int, provider: ObjectIdentifier? = nil,
    _ work: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await run(in: UserCodeScope(.type(name), nesting + 1, provider), work)
  }

  /// Runs a hook of a group while the group waits for the hook.
  /// - Parameter name: The name of the group, for the error message.
  static func during(_ name: String, in nesting: Int, _ work: () async -> Void) async {
    await run(in: UserCodeScope(.text(name), nesting + 1), work)
  }

  /// Runs the body of a group in a new scope with the name and the depth of the scope in which the group was started.
  /// The code that started the group may return before the body ends, which ends the original scope. The new scope
  /// keeps later members of the group nested.
  /// - Parameter origin: The ``innermost`` scope when the group was started; nil if the group is not nested.
  static func continuing<Value>(_ origin: UserCodeScope?, _ work: () async -> Value) async -> Value {
    guard let origin else { return await work() }
    return await run(in: UserCodeScope(origin.name, origin.depth), work)
  }

  private static func run<Value, Failure: Error>(
    in scope: UserCodeScope, _ work: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    defer { scope.period.end() }
    let result: Result<Value, Failure> = await $present.withValue(scope) {
      do throws(Failure) { return .success(try await work()) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Runs `work` outside all scopes, as if no call waited for the current task.
  static func leaving(_ work: () async throws -> Void) async rethrows {
    try await $present.withValue(nil) { try await work() }
  }

  /// Runs synchronous code of the app while a call waits for the code.
  static func during<Value>(_ name: Any.Type, in nesting: Int, _ work: () -> Value) -> Value {
    let scope = UserCodeScope(.type(name), nesting + 1)
    defer { scope.period.end() }
    return $present.withValue(scope, operation: work)
  }
}

/// A period of time, stored in a task-local value. A task that is started during the period inherits the value, and may
/// run longer than the period. So code that reads the value must check whether the period still lasts.
final class TaskPeriod: Sendable {
  private let isOver = Atomic(false)

  var lasts: Bool { !isOver.load(ordering: .acquiring) }
  func end() { isOver.store(true, ordering: .releasing) }
}
