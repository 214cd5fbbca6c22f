import Foundation

/// Types that use an encoder in all possible ways.
enum Encoded {
  enum Keys: String, CodingKey { case a, b, c, someURLName, `super`, slash = "a/b", quote = "q\"", accent = "é" }

  /// A value that is encoded by a closure.
  struct By: Encodable, Sendable {
    let write: @Sendable (any Encoder) throws -> Void

    init(_ write: @escaping @Sendable (any Encoder) throws -> Void) { self.write = write }

    func encode(to encoder: any Encoder) throws { try write(encoder) }
  }

  static func object(
    _ write: @escaping @Sendable (inout KeyedEncodingContainer<Keys>) throws -> Void
  ) -> By {
    By { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      try write(&container)
    }
  }

  static func array(_ write: @escaping @Sendable (inout any UnkeyedEncodingContainer) throws -> Void) -> By {
    By { encoder in
      var container = encoder.unkeyedContainer()
      try write(&container)
    }
  }

  static func single(_ write: @escaping @Sendable (inout any SingleValueEncodingContainer) throws -> Void) -> By {
    By { encoder in
      var container = encoder.singleValueContainer()
      try write(&container)
    }
  }

  struct Person: Codable, Sendable, Equatable {
    var firstName = "Ada", age = 36, height: Double? = 1.65, tags = ["a", "b"], friends: [Person] = []
    var isActive = true, note: String?
  }

  enum Shape: Codable, Sendable {
    case circle(radius: Double)
    case square(Int)
    case point
  }

  enum Rank: String, Codable, Sendable { case low, high }
  enum Level: Int, Codable, Sendable { case one = 1, two }
  enum Name: String, Codable, Hashable, CodingKeyRepresentable, Sendable { case firstName, lastName }

  class Animal: Codable, @unchecked Sendable {  // never changed
    var name = "Rex"
    init() {}
  }

  /// Writes to the container of its superclass.
  final class Dog: Animal, @unchecked Sendable {  // never changed
    private enum Keys: CodingKey { case legs }

    override func encode(to encoder: any Encoder) throws {
      try super.encode(to: encoder)
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(4, forKey: .legs)
    }
  }

  /// Writes its superclass to a separate encoder.
  final class Cat: Animal, @unchecked Sendable {  // never changed
    private enum Keys: CodingKey { case lives, parent }

    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try super.encode(to: container.superEncoder())
      try container.encode(9, forKey: .lives)
      try super.encode(to: container.superEncoder(forKey: .parent))
    }
  }

  /// Nested arrays of the given depth.
  struct Nest: Encodable, Sendable {
    let depth: Int

    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      if depth > 1 { try container.encode(Nest(depth: depth - 1)) }
    }
  }

  /// Writes to the container that it is encoded into.
  struct Meddler: Encodable {
    let outer: KeyedEncodingContainer<Keys>

    func encode(to encoder: any Encoder) throws {
      var (container, outer) = (encoder.container(keyedBy: Keys.self), outer)
      try container.encode(1, forKey: .a)
      try outer.encode(2, forKey: .b)
      try container.encode(3, forKey: .c)
    }
  }

  struct Refusal: Error {}

  /// Writes a member, then fails.
  static let broken = object { container in
    try container.encode(1, forKey: .a)
    throw Refusal()
  }

  static let nothing = By { _ in }

  /// Writes the encoder's coding path as a string.
  static let place = By { encoder in
    let path = encoder.codingPath.map { "\($0.stringValue)/\($0.intValue.map(String.init) ?? "-")" }
    var container = encoder.singleValueContainer()
    try container.encode(path.joined(separator: " "))
  }
}
