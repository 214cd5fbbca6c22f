/// Is told how the calls of managers end, on the main actor. One delegate may serve several managers: compare them with
/// `===`.
@MainActor
public protocol APIManagerDelegate: AnyObject {
  /// A call has its value.
  func managerFinished(_ manager: any APIManaging)
  /// A call failed, or could not be made; ``APIManaging/lastError`` says why.
  func managerFailed(_ manager: any APIManaging)
}
