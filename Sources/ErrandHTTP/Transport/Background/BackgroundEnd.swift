/// How a transfer in a ``BackgroundSession`` ended.
public enum BackgroundEnd: Sendable, Hashable {
  /// Its answer was told before.
  case finished
  /// By ``BackgroundSession/cancel(_:)``, or by the system, which may say why in a clause.
  case cancelled(String?)
  /// No whole answer came.
  case failed(TransportFailure)
}
