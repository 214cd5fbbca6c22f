/// Where the body of an answer goes once its head is known.
public enum BodyDisposition: Sendable, Hashable {
  /// Into memory, up to a number of decoded bytes. The rest is left where it is, and the answer counts as whole.
  case memory(limit: Int)
  /// Into the sink.
  case sink
  /// Nowhere: it is dropped. A long one need not be read to its end.
  case discard
}
