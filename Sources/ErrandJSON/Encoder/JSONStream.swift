import Foundation

/// The text of one value while it is written, and the levels that are open in it. Used by one thread at a time.
///
/// Containers and encoders name their level. What is written to a level ends all deeper ones. What is written to a
/// level that has ended, or that lies outside the value being encoded, cannot be put where it belongs: the stream
/// stops, and whoever began it turns to `JSONEncoder`.
final class JSONStream {
  let rules: JSONEncodingRules
  let bytes = JSONRoom<UInt8>(capacity: 512)
  let levels = JSONRoom<JSONLevel>(capacity: 32)
  let members = JSONRoom<JSONMember>(capacity: 64)
  let kinds = JSONKinds()
  let names: JSONNames
  /// The keys that lead to the levels which have one.
  @exclusivity(unchecked) private var keys: [any CodingKey] = []  // no foreign code runs while it changes
  /// The depth of the level that belongs to the innermost `encode(to:)` under way.
  private(set) var floor = 0
  private var lastID: UInt32 = 0
  /// How many arrays and objects are open.
  private(set) var nesting = 0
  /// The names in objects that have many, by the level's identifier.
  var crowds: [UInt32: Set<String>] = [:]
  /// Why it stopped; what was thrown for it may have been caught by the type.
  private(set) var stop: JSONStop?

  init(rules: JSONEncodingRules) {
    self.rules = rules
    names = JSONNames(rules)
  }

  /// The most arrays and objects in one another, as with `JSONEncoder`.
  static let nestingLimit = 511
  /// Values in one another, arrays, objects or not: a type that never comes to an end has to be stopped.
  static let depthLimit = 1_024

  /// Writes one whole value.
  /// - Throws: ``JSONStop``, `EncodingError`, or what the value's own code throws.
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
    for room in [levels.cut, members.cut, bytes.cut] { room(0) }
    keys.removeAll(keepingCapacity: true)
    if !crowds.isEmpty { crowds = [:] }
    (floor, nesting, stop) = (0, 0, nil)
  }

  /// Notes why nothing more can come of the stream.
  @inline(never) func halt(_ reason: JSONStop) -> JSONStop {
    if stop == nil { stop = reason }
    return stop ?? reason
  }
}

// MARK: - Levels

extension JSONStream {
  @inline(__always) func level(_ name: JSONLevel.Name) -> UnsafeMutablePointer<JSONLevel> {
    levels.start + Int(name.depth)
  }

  func isOpen(_ name: JSONLevel.Name) -> Bool {
    name.depth < levels.count && level(name).pointee.id == name.id
  }

  /// Makes a level the innermost one.
  @inline(__always) func enter(_ name: JSONLevel.Name) throws {
    if Int(name.depth) == levels.count - 1, level(name).pointee.id == name.id { return }
    try returnTo(name)
  }

  @inline(never) private func returnTo(_ name: JSONLevel.Name) throws {
    guard stop == nil, isOpen(name), name.depth >= floor else { throw halt(.handOver) }
    try close(downTo: Int(name.depth) + 1)
  }

  /// Opens a level below the innermost one. If it has a key, that was appended before.
  @inline(__always) func push(hasKey: Bool, isSorted: Bool = false) throws -> JSONLevel.Name {
    guard levels.count < Self.depthLimit else { throw halt(.tooDeep) }
    lastID &+= 1
    levels.append(
      JSONLevel(
        id: lastID, shape: .empty, hasKey: hasKey, isSorted: isSorted || rules.sortsAll,
        firstMember: members.count))
    return JSONLevel.Name(depth: Int32(truncatingIfNeeded: levels.count - 1), id: lastID)
  }

  /// Begins an array or object at the innermost level.
  @inline(__always) func open(_ shape: JSONLevel.Shape) throws {
    guard nesting < Self.nestingLimit else { throw halt(.tooDeep) }
    nesting += 1
    levels.last.pointee.shape = shape
    bytes.append(shape == .object ? UInt8(ascii: "{") : UInt8(ascii: "["))
  }

  /// Ends the innermost levels until so many are left.
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
    if last.count > JSONNames.few { crowds[last.id] = nil }
    members.cut(to: last.firstMember)
    levels.cut(to: levels.count - 1)
  }

  /// Adds the key of the next level, and of what is written instead of one.
  @inline(__always) func append(_ key: some CodingKey) -> Int {
    keys.append(key)
    return keys.count - 1
  }

  /// Drops the keys from so many on, which no level has taken with it.
  @inline(__always) func settle(_ count: Int) {
    if keys.count > count { keys.removeLast(keys.count - count) }
  }

  /// What must be put back where a value could not be written.
  struct Mark {
    let bytes: Int
    let members: Int
    let keys: Int
    let level: JSONLevel.Name
    let before: JSONLevel
  }

  @inline(__always) func mark(_ name: JSONLevel.Name) -> Mark {
    Mark(bytes: bytes.count, members: members.count, keys: keys.count, level: name, before: level(name).pointee)
  }

  /// Takes back what was written since the mark, so that a type may catch the error and go on.
  /// - Returns: The error to throw, with its place.
  @inline(never) func undo(_ mark: Mark, _ error: any Error, key: (any CodingKey)?) -> any Error {
    guard isOpen(mark.level) else { return halt(.handOver) }
    while levels.count > Int(mark.level.depth) + 1 {
      let last = levels.last.pointee
      if last.shape == .array || last.shape == .object { nesting -= 1 }
      drop(last)
    }
    bytes.cut(to: mark.bytes)
    members.cut(to: mark.members)
    crowds[mark.level.id] = nil
    settle(mark.keys)
    level(mark.level).pointee = mark.before
    guard let unwritable = error as? JSONUnwritable else { return error }
    let step = mark.before.shape == .array ? AnyKey(intValue: Int(mark.before.count)) : key
    let path = path(to: mark.level) + (step.map { [$0] } ?? [])
    return EncodingError.invalidValue(
      unwritable.value, EncodingError.Context(codingPath: path, debugDescription: unwritable.reason))
  }

  /// The keys and indices that lead to a level.
  func path(to name: JSONLevel.Name) -> [any CodingKey] {
    guard isOpen(name) else { return [] }
    var path: [any CodingKey] = []
    var used = 0
    for depth in 0...Int(name.depth) {
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

  /// Gives a value's own code an encoder for a new level.
  @inline(__always) func run(
    hasKey: Bool, isSorted: Bool = false, _ body: (JSONStreamEncoder) throws -> Void
  ) throws {
    let outside = floor
    let name = try push(hasKey: hasKey, isSorted: isSorted)
    floor = Int(name.depth)
    defer { floor = outside }
    try body(JSONStreamEncoder(stream: self, level: name))
    guard isOpen(name) else { throw halt(.handOver) }
    try close(downTo: Int(name.depth))
  }
}

/// Why a text cannot be written in one go.
enum JSONStop: Error {
  /// The type goes back to what is written already, or writes a key twice: `JSONEncoder`, which keeps all values until
  /// the end, can do that.
  case handOver
  /// The type writes two values where one is due.
  case misuse(String)
  /// Arrays and objects are nested too deeply.
  case tooDeep
}
