package import ErrandJSON

/// The entry behind an answer that came from the cache.
package protocol StoredHit: AnyObject, Sendable {
  /// The value that was decoded of it before, by the same rules.
  func value(for rules: DecodedRules) -> (any Sendable)?
  /// Keeps a decoded value beside the bytes.
  func keep(_ value: any Sendable, for rules: DecodedRules)
  /// Removes the entry: this call's rules refuse it.
  func refuse()
}

/// By which rules a value was judged and decoded: the type of the request and all that may change the value.
///
/// An object, since it is handed on many times and compared once.
package final class DecodedRules: Sendable, Equatable {
  let type: ObjectIdentifier
  let status: StatusRule
  let contentTypes: [String]?
  let shape: JSONShape?
  let envelope: Envelope?
  let json: JSONDecoding

  package init(
    type: Any.Type, status: StatusRule, contentTypes: [String]? = nil, shape: JSONShape? = nil,
    envelope: Envelope? = nil, json: JSONDecoding
  ) {
    self.type = ObjectIdentifier(type)
    self.status = status
    self.contentTypes = contentTypes
    self.shape = shape
    self.envelope = envelope
    self.json = json
  }

  package static func == (left: DecodedRules, right: DecodedRules) -> Bool {
    left === right
      || left.type == right.type && left.json.isSame(as: right.json) && left.status == right.status
        && left.contentTypes == right.contentTypes && left.shape == right.shape && left.envelope == right.envelope
  }
}
