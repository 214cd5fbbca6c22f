public import Foundation

// The declarations of CryptoKit that the sources use.

/// https://developer.apple.com/documentation/cryptokit/digest
public protocol Digest: Hashable, ContiguousBytes, CustomStringConvertible, Sequence where Element == UInt8 {}

/// https://developer.apple.com/documentation/cryptokit/hashfunction
public protocol HashFunction {
  associatedtype Digest: CryptoKit.Digest
  init()
  mutating func update(bufferPointer: UnsafeRawBufferPointer)
  func finalize() -> Digest
}

extension HashFunction {
  /// https://developer.apple.com/documentation/cryptokit/hashfunction/hash(data:)
  public static func hash<D: DataProtocol>(data: D) -> Digest { fatalError() }
}

/// https://developer.apple.com/documentation/cryptokit/sha256digest
public struct SHA256Digest: Digest, Sendable {
  public var description: String { fatalError() }
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
  public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
}

/// https://developer.apple.com/documentation/cryptokit/sha256
public struct SHA256: HashFunction, Sendable {
  public init() {}
  public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
  public func finalize() -> SHA256Digest { fatalError() }
}

/// https://developer.apple.com/documentation/cryptokit/insecure
public enum Insecure {
  /// https://developer.apple.com/documentation/cryptokit/insecure/md5digest
  public struct MD5Digest: Digest, Sendable {
    public var description: String { fatalError() }
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
    public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
  }

  /// https://developer.apple.com/documentation/cryptokit/insecure/md5
  public struct MD5: HashFunction, Sendable {
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> MD5Digest { fatalError() }
  }
}

/// https://developer.apple.com/documentation/cryptokit/sha512digest
public struct SHA512Digest: Digest, Sendable {
  public var description: String { fatalError() }
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
  public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
}

/// https://developer.apple.com/documentation/cryptokit/sha512
public struct SHA512: HashFunction, Sendable {
  public init() {}
  public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
  public func finalize() -> SHA512Digest { fatalError() }
}
