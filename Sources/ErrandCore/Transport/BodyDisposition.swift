/// Where the body of an answer goes once its head is known.
public enum BodyDisposition: Sendable, Hashable {
  /// Into memory, up to a number of decoded bytes; more fail the exchange with ``TransportFailure/Kind/tooLarge``.
  case memory(limit: Int)
  /// Into the sink.
  case sink
  /// Nowhere: it is read and dropped.
  case discard
}
