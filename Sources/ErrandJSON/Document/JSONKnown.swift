/// What was found out about a document's containers that are asked again and again, by their indices on the tape.
struct JSONKnown {
  /// Where the elements of arrays lie.
  var elements: [Int: [Int]] = [:]
  /// Where the values of an object lie whose keys cannot be found by looking from one to the next.
  var keys: [Int: JSONKeyTable] = [:]
}
