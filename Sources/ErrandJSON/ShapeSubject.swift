/// What a shape is compared with: a value that was made, or one on a tape.
protocol ShapeSubject {
  associatedtype Elements: Sequence<Self>

  var kind: ShapeSubjectKind { get }
  /// Whether a number that is written as a fraction or with an exponent is whole.
  var isWhole: Bool { get }
  /// The elements of an array.
  var elements: Elements { get }
  /// The value of an object's key.
  func member(_ key: String) -> Self?
  /// The value itself, for constants and for telling what was found.
  var value: JSONValue { get }
}
