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
