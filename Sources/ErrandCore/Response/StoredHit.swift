package import ErrandJSON

/// The cache entry of a response that was served from the cache.
package protocol StoredHit: AnyObject, Sendable {
  /// The value that was decoded from the entry before, by these rules; nil if there is none.
  func value(for rules: DecodedRules) -> (any Sendable)?
  /// Stores a decoded value together with the bytes of the entry.
  func keep(_ value: any Sendable, for rules: DecodedRules)
  /// Removes the entry from the cache, because the response fails the rules of this call.
  func refuse()
}

/// The rules by which a value was validated and decoded: the type of the request and everything else that may change
/// the value.
///
/// The type is a class, because the rules are passed on many times and compared only once.
package final class DecodedRules: Sendable, Equatable {
  let type: ObjectIdentifier
  let status: StatusRule
  let contentTypes: [String]?
  let shape: JSONShape?
  let envelope: Envelope
  let json: JSONDecoding

  package init(
    type: Any.Type, status: StatusRule, contentTypes: [String]? = nil, shape: JSONShape? = nil,
    envelope: Envelope = .none, json: JSONDecoding
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
