/// What of a document was read, by the keys as the decoder shows them. Used by one decoding on one thread.
final class JSONReading {
  private var asked: Set<JSONPath> = []
  private var whole: Set<JSONPath> = []

  /// Notes that a key was asked for.
  func note(_ path: [any CodingKey]) { asked.insert(JSONPath(coding: path)) }

  /// Notes that all that lies at a place was read.
  func noteWhole(_ path: [any CodingKey]) { whole.insert(JSONPath(coding: path)) }

  /// Whether a key was asked for.
  func hasAsked(for path: JSONPath) -> Bool { asked.contains(path) || whole.contains(path) }

  /// Whether all that lies at a place was read.
  func hasWhole(_ path: JSONPath) -> Bool { whole.contains(path) }
}
