import Foundation

/// Writes one value as text. The stream has a list of the open *levels*: the arrays, objects and encoders that are not
/// finished. Only one thread at a time uses a stream.
///
/// Each container and encoder writes to one level. Writing to a level ends all deeper levels. The text can only be
/// extended at its end, so the stream stops if a container writes to a level that has ended, or to a level outside the
/// value that is being encoded. The caller then encodes the whole value with `JSONEncoder`.
final class JSONStream {
  let rules: JSONEncodingRules
  let bytes = JSONBuffer<UInt8>(capacity: 512)
  let levels = JSONBuffer<JSONLevel>(capacity: 32)
  let members = JSONBuffer<JSONMember>(capacity: 64)
  /// The members of the object that is being sorted.
  let order = JSONBuffer<JSONOrder>(capacity: 16)
  let kinds = JSONKinds()
  let names: JSONNames
  /// The keys of the open levels. A level without a key adds nothing to this list.
  @exclusivity(unchecked) private var keys: [any CodingKey] = []  // no code outside this class runs during a change
  /// The depth of the level at which the innermost running `encode(to:)` began.
  private(set) var floor = 0
  private var lastSerial: UInt32 = 0
  /// The number of open arrays and objects.
  private(set) var nesting = 0
  /// The sets of names in objects with many members. The key of each set is the `serial` of the object's level.
  var nameSets: [UInt32: Set<String>] = [:]
  /// The reason why the stream stopped; nil while the stream works. The reason is stored in the stream, because the
  /// value's own code may have caught the thrown error.
  private(set) var stop: JSONStreamFailure?

  init(rules: JSONEncodingRules) {
    self.rules = rules
    names = JSONNames(rules)
  }

  /// The maximum nesting of arrays and objects, as in `JSONEncoder`.
  static let nestingLimit = 511
  /// The maximum nesting of values of any kind. The limit stops a type that encodes itself without end.
  static let depthLimit = 1_024

  /// Writes one whole value as the text's root.
  /// - Throws: ``JSONStreamFailure``, `EncodingError`, or an error that the value's own code throws.
  func write<T: Encodable>(root value: T) throws {
    clear()
    defer { levels.cut(to: 0) }
    let root = try push(hasKey: false)
    do {
      if kinds.entry(of: T.self).kind == .other {
        try value.encode(to: JSONStreamEncoder(stream: self, level: root))
      } else {
        try fill(root, with: value)
      }
      let wroteNothing = levels.start.pointee.shape == .empty
      try close(downTo: 0)
      if wroteNothing, stop == nil { throw Self.nothing(of: value) }
    } catch {
      throw stop ?? error
    }
    if let stop { throw stop }
  }

  private static func nothing<T>(of value: T) -> EncodingError {
    let reason = "Top-level \(T.self) did not encode any values."
    return .invalidValue(value, EncodingError.Context(codingPath: [], debugDescription: reason))
  }

  private func clear() {
    for cut in [levels.cut, members.cut, bytes.cut] { cut(0) }
    keys.removeAll(keepingCapacity: true)
    if !nameSets.isEmpty { nameSets = [:] }
    (floor, nesting, stop) = (0, 0, nil)
  }

  /// Stops the stream because the stream cannot write the value. If the stream has already stopped, the first reason is
  /// kept.
  @inline(never) func halt(_ reason: JSONStreamFailure) -> JSONStreamFailure {
    if stop == nil { stop = reason }
    return stop ?? reason
  }
}

// MARK: - Levels

extension JSONStream {
  @inline(__always) func level(_ id: JSONLevel.ID) -> UnsafeMutablePointer<JSONLevel> {
    levels.start + Int(id.depth)
  }

  func isOpen(_ id: JSONLevel.ID) -> Bool {
    id.depth < levels.count && level(id).pointee.serial == id.serial
  }

  /// Ends all levels that are deeper than the given level, so that this level is the innermost level.
  @inline(__always) func enter(_ id: JSONLevel.ID) throws {
    if Int(id.depth) == levels.count - 1, level(id).pointee.serial == id.serial { return }
    try returnTo(id)
  }

  @inline(never) private func returnTo(_ id: JSONLevel.ID) throws {
    guard stop == nil, isOpen(id), id.depth >= floor else { throw halt(.needsJSONEncoder) }
    try close(downTo: Int(id.depth) + 1)
  }

  /// Opens a level (an array, an object or the place of a value) inside the innermost open level. If the new level has
  /// a key, the caller must have appended the key to `keys`.
  @inline(__always) func push(hasKey: Bool, isSorted: Bool = false) throws -> JSONLevel.ID {
    guard levels.count < Self.depthLimit else { throw halt(.tooManyLevels) }
    lastSerial &+= 1
    levels.append(
      JSONLevel(
        serial: lastSerial, shape: .empty, hasKey: hasKey, isSorted: isSorted || rules.sortsAll,
        firstMember: members.count))
    return JSONLevel.ID(depth: Int32(truncatingIfNeeded: levels.count - 1), serial: lastSerial)
  }

  /// Begins an array or object at the innermost level.
  @inline(__always) func open(_ shape: JSONLevel.Shape) throws {
    guard nesting < Self.nestingLimit else { throw halt(.tooDeep(limit: Self.nestingLimit)) }
    nesting += 1
    levels.last.pointee.shape = shape
    bytes.append(shape == .object ? UInt8(ascii: "{") : UInt8(ascii: "["))
  }

  /// Ends the innermost levels until only `count` levels are open.
  @inline(__always) func close(downTo count: Int) throws {
    while levels.count > count {
      let last = levels.last.pointee
      switch last.shape {
      case .empty: bytes.write(word: "{}")
      case .value: break
      case .array:
        bytes.append(UInt8(ascii: "]"))
        nesting -= 1
      case .object:
        if last.isSorted, last.count > 1 { try sort(last) }
        bytes.append(UInt8(ascii: "}"))
        nesting -= 1
      }
      drop(last)
    }
  }

  @inline(__always) private func drop(_ last: JSONLevel) {
    if last.hasKey { keys.removeLast() }
    if last.count > JSONNames.few { nameSets[last.serial] = nil }
    members.cut(to: last.firstMember)
    levels.cut(to: levels.count - 1)
  }

  /// Appends the key of the value that is written next.
  /// - Returns: The number of keys before the call, for `settle`.
  @inline(__always) func append(_ key: some CodingKey) -> Int {
    keys.append(key)
    return keys.count - 1
  }

  /// Removes all keys after the first `count`. The end of a level removes the key of the level. A value that was
  /// written without a level still has its key in the list, and this function removes that key.
  @inline(__always) func settle(_ count: Int) {
    if keys.count > count { keys.removeLast(keys.count - count) }
  }

  /// The state of a stream before a value is written. The state is restored if the value cannot be written.
  struct Mark {
    let bytes: Int
    let members: Int
    let keys: Int
    let level: JSONLevel.ID
    let before: JSONLevel
  }

  @inline(__always) func mark(_ id: JSONLevel.ID) -> Mark {
    Mark(bytes: bytes.count, members: members.count, keys: keys.count, level: id, before: level(id).pointee)
  }

  /// Removes the output that was written since `mark` was taken. So a type can catch the error and continue to encode.
  /// - Returns: The error to throw, with its coding path.
  @inline(never) func undo(_ mark: Mark, _ error: any Error, key: (any CodingKey)?) -> any Error {
    guard isOpen(mark.level) else { return halt(.needsJSONEncoder) }
    while levels.count > Int(mark.level.depth) + 1 {
      let last = levels.last.pointee
      if last.shape == .array || last.shape == .object { nesting -= 1 }
      drop(last)
    }
    bytes.cut(to: mark.bytes)
    members.cut(to: mark.members)
    nameSets[mark.level.serial] = nil
    settle(mark.keys)
    level(mark.level).pointee = mark.before
    guard let unwritable = error as? JSONUnwritable else { return error }
    let step = mark.before.shape == .array ? AnyKey(intValue: Int(mark.before.count)) : key
    let path = path(to: mark.level) + (step.map { [$0] } ?? [])
    return EncodingError.invalidValue(
      unwritable.value, EncodingError.Context(codingPath: path, debugDescription: unwritable.reason))
  }

  /// The coding path of a level: the keys and indices from the root to the level's value.
  func path(to id: JSONLevel.ID) -> [any CodingKey] {
    guard isOpen(id) else { return [] }
    var path: [any CodingKey] = []
    var used = 0
    for depth in 0...Int(id.depth) {
      let level = levels.start[depth]
      if level.hasKey {
        path.append(keys[used])
        used += 1
      } else if depth > 0, levels.start[depth - 1].shape == .array {
        path.append(AnyKey(intValue: Int(levels.start[depth - 1].count) - 1))
      }
    }
    return path
  }

  /// Opens a level and runs a value's own `encode(to:)` with an encoder for this level.
  @inline(__always) func run(
    hasKey: Bool, isSorted: Bool = false, _ body: (JSONStreamEncoder) throws -> Void
  ) throws {
    let outside = floor
    let id = try push(hasKey: hasKey, isSorted: isSorted)
    floor = Int(id.depth)
    defer { floor = outside }
    try body(JSONStreamEncoder(stream: self, level: id))
    guard isOpen(id) else { throw halt(.needsJSONEncoder) }
    try close(downTo: Int(id.depth))
  }
}

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

/// The reason why the stream cannot write a value.
enum JSONStreamFailure: Error {
  /// `JSONEncoder` must write the value: the type returns to a container that has ended, or writes a key twice.
  /// `JSONEncoder` supports both cases, because it keeps all values in memory until the end.
  case needsJSONEncoder
  /// The type violates the rules of `Encoder`. The text describes the violation.
  case misuse(String)
  /// More arrays and objects than `limit` are nested.
  case tooDeep(limit: Int)
  /// More values of any kind than ``JSONStream/depthLimit`` are nested.
  case tooManyLevels
}

/// The error for a value that JSON cannot represent. The coding path is added later.
struct JSONUnwritable: Error {
  let value: any Sendable
  let reason: String
}
