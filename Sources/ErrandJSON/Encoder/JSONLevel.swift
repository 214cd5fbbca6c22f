/// A *level*: a value of the text that is still being written. It is an array, an object, or the place of a value that
/// an encoder has not written yet.
struct JSONLevel: BitwiseCopyable {
  /// The form of the value that has been written at the level.
  enum Shape: BitwiseCopyable {
    /// No part of the level's value has been written.
    case empty
    /// A single value container has written the level's value.
    case value
    case array, object
  }

  /// A number that distinguishes the level from earlier levels at the same depth.
  let serial: UInt32
  var shape: Shape
  /// Whether the last step of the coding path to this level is a key. If false, the step is an index, or there is no
  /// step because the value is in a single value container.
  let hasKey: Bool
  /// Whether the members of an object are sorted by their keys when the object ends.
  let isSorted: Bool
  /// The number of elements or members that have been written to the level's array or object.
  var count: Int32 = 0
  /// One bit for the six-bit hash of each key that has been written; see ``JSONBuffer/sixBitHash(of:)``.
  var keyHashBits: UInt64 = 0
  /// The index of the level's first member in the list `JSONStream.members`, which contains the members of all open
  /// levels.
  let firstMember: Int

  /// Identifies a level: an array, an object or the place of a value that a stream has not finished. After the level
  /// has ended, the identifier is still safe to use, but refers to no level.
  struct ID: BitwiseCopyable {
    let depth: Int32
    let serial: UInt32

    /// An identifier that refers to no level.
    static let none = ID(depth: .max, serial: 0)
  }
}
