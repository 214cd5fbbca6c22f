public import Foundation

extension JSONValue {
  /// The value as a JSON text in UTF-8, keys in the order of their characters, so equal values give equal bytes.
  /// - Parameter pretty: Whether to write a line for each member, indented by two spaces.
  /// - Throws: ``JSONError``: a number that is not finite, or nesting beyond ``depthLimit``.
  public func serialized(pretty: Bool = false) throws(JSONError) -> Data {
    var writer = JSONWriter(pretty: pretty)
    try writer.write(self)
    return Data(writer.bytes)
  }
}

extension JSONValue: CustomStringConvertible {
  /// The JSON text on one line, secrets included. Numbers that are not finite appear as `null`, those of a text that no
  /// `Double` can hold as they stand there.
  public var description: String {
    var writer = JSONWriter(strict: false)
    do throws(JSONError) {
      try writer.write(self)
    } catch {
      return error.description
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
