/// An array, or a dictionary whose keys are strings.
protocol JSONGroup {
  /// Writes the elements of a group, given as a value of this very type, to the innermost level.
  static func write<T>(elementsOf value: T, to stream: JSONStream) throws
}
