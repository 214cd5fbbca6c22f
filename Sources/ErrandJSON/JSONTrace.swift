import Foundation

/// The place where a decoding failed, and what was read, noted by ``TracingDecoder``. Used by one decoding on one
/// thread.
final class JSONTrace {
  /// What was read; nil where nobody wants to know.
  let reading: JSONReading?

  init(noting reading: JSONReading? = nil) { self.reading = reading }

  /// Where and as which type, innermost; nil while nothing has failed.
  private(set) var failure: (path: [any CodingKey], type: any Any.Type)?

  /// Decodes one value that has no parts to be traced.
  func leaf<T>(_ type: any Any.Type, at path: [any CodingKey], _ decode: () throws -> T) throws -> T {
    reading?.noteWhole(path)
    do {
      let value = try decode()
      failure = nil
      return value
    } catch {
      failure = (Self.place(of: error, reading: type, at: path), type)
      throw error
    }
  }

  /// The place that an error tells, where a type has read its parts unseen; else the type's own.
  private static func place(
    of error: any Error, reading type: any Any.Type, at path: [any CodingKey]
  ) -> [any CodingKey] {
    guard type is any JSONReadable.Type, case .dataCorrupted(let context)? = error as? DecodingError,
      context.codingPath.count > path.count
    else { return path }
    return context.codingPath
  }

  /// Decodes a value with parts; a failure noted by one of them stands.
  func branch<T>(_ type: any Any.Type, at path: [any CodingKey], _ decode: () throws -> T) throws -> T {
    do {
      let value = try decode()
      failure = nil
      return value
    } catch {
      if failure == nil { failure = (path, type) }
      throw error
    }
  }

  /// Types that a decoder reads by strategies or rules of its own and that must reach it untouched.
  static func isLeaf<T>(_ type: T.Type) -> Bool {
    if leaves.contains(ObjectIdentifier(type)) { return true }
    if case .json = TapeReaders.Reader(of: type) { return true }
    return false
  }

  private static let leaves: Set<ObjectIdentifier> = Set(
    [
      String.self, Bool.self, Double.self, Float.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self,
      Int128.self, UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, UInt128.self, Date.self, Data.self,
      URL.self, Decimal.self, JSONValue.self,
    ].map { (type: any Any.Type) in ObjectIdentifier(type) })
}

/// What of a document was read, by the keys as the decoder shows them. Used by one decoding on one thread.
final class JSONReading {
  private var asked: Set<JSONPath> = []
  private var whole: Set<JSONPath> = []

  /// Notes that a key was asked for.
  func note(_ path: [any CodingKey]) { asked.insert(JSONPath(coding: path)) }

  /// Notes that all that lies at a place was read.
  func noteWhole(_ path: [any CodingKey]) { whole.insert(JSONPath(coding: path)) }

  /// Whether a key was asked for.
  func hasAsked(for path: JSONPath) -> Bool { asked.contains(path) || whole.contains(path) }

  /// Whether all that lies at a place was read.
  func hasWhole(_ path: JSONPath) -> Bool { whole.contains(path) }
}
