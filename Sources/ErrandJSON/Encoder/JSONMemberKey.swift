/// The key of a dictionary's member, as the dictionary's own `encode(to:)` makes it.
struct JSONMemberKey: CodingKey {
  let stringValue: String
  private let mayBeNumber: Bool

  var intValue: Int? { mayBeNumber ? Int(stringValue) : nil }

  init(_ name: String, mayBeNumber: Bool) {
    stringValue = name
    self.mayBeNumber = mayBeNumber
  }

  init(stringValue: String) { self.init(stringValue, mayBeNumber: false) }

  init(intValue: Int) { self.init(String(intValue), mayBeNumber: true) }
}
