/// What a ``BodySource`` threw, or the closure that makes one.
public struct BodySourceFailure: Error, CustomStringConvertible {
  /// What was thrown.
  public let cause: any Error

  /// An English sentence that names the cause.
  public var description: String { "What the body is read from failed: \(cause)" }

  /// Marks what `body` throws, so that the caller can tell it from failures of the line. What speaks for itself stays.
  static func naming<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let failure as TransportFailure {
      throw failure
    } catch let failure as BodySourceFailure {
      throw failure
    } catch {
      throw BodySourceFailure(cause: error)
    }
  }
}
