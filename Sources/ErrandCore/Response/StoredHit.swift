package import ErrandJSON

/// The cache entry of a response that the cache has served.
package protocol StoredHit: AnyObject, Sendable {
  /// Returns the value that an earlier call has decoded from the cache entry by equal rules; nil if there is no such
  /// value.
  func value(for rules: DecodedRules) -> (any Sendable)?
  /// Stores a decoded value together with the bytes of the entry, so that the next call need not decode the bytes
  /// again.
  func keep(_ value: any Sendable, for rules: DecodedRules)
  /// Removes the entry from the cache, because its response fails the rules of a call.
  func reject()
}

/// The rules by which a response was validated and its value was decoded: the type of the request, and everything else
/// that may change the value.
///
/// `DecodedRules` is a class, so that a copy of the rules is only a reference. The rules are passed on many times and
/// compared only once.
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
