/// One value that is being written and may get more: a place that waits for its value, or an array or object.
struct JSONLevel: BitwiseCopyable {
  /// What became of the place so far.
  enum Shape: BitwiseCopyable {
    /// Nothing was written.
    case empty
    /// A whole value was written.
    case value
    case array, object
  }

  /// Tells it from those that were at the same depth before.
  let id: UInt32
  var shape: Shape
  /// Whether the path's step to it is a key; else it is an index, or none for a value in a single value container.
  let hasKey: Bool
  /// Whether an object's members are brought into the order of their keys when it ends.
  let isSorted: Bool
  /// How many elements or members it has.
  var count: Int32 = 0
  /// A bit for each key's sign.
  var signs: UInt64 = 0
  /// The index of its first member among the members of all levels.
  let firstMember: Int

  /// Names a level to those who write to it, also when it is over.
  struct Name: BitwiseCopyable {
    let depth: Int32
    let id: UInt32

    /// Of no level at all.
    static let none = Name(depth: .max, id: 0)
  }
}
