/// A *level*: a value of the text that is still being written. It is an array, an object, or the place of a value that
/// an encoder has not written yet.
struct JSONLevel: BitwiseCopyable {
  /// What has been written of the level's value so far.
  enum Shape: BitwiseCopyable {
    /// Nothing is written yet.
    case empty
    /// A complete value is written.
    case value
    case array, object
  }

  /// A number that distinguishes the level from earlier levels at the same depth.
  let id: UInt32
  var shape: Shape
  /// Whether the last step of the coding path to this level is a key. If false, the step is an index, or there is no
  /// step because the value is in a single value container.
  let hasKey: Bool
  /// Whether the members of an object are sorted by their keys when the object ends.
  let isSorted: Bool
  /// The number of elements or members that have been written.
  var count: Int32 = 0
  /// One bit for the six-bit hash of each key that has been written; see ``JSONBuffer/sign(_:)``.
  var signs: UInt64 = 0
  /// The index of the level's first member in the stream's list, which contains the members of all open levels.
  let firstMember: Int

  /// Identifies a level in encoders and containers. After the level has ended, the identifier is still safe to use: it
  /// then refers to no level.
  struct Name: BitwiseCopyable {
    let depth: Int32
    let id: UInt32

    /// An identifier that refers to no level.
    static let none = Name(depth: .max, id: 0)
  }
}
