import Foundation

/// One look at a JSON text before it is parsed: finds what Foundation's parser lets pass or reports badly.
///
/// It knows strings and brackets, no more; the parser judges the rest.
struct JSONScan {
  private var depth = 0
  private var inString = false
  private var escaped = false
  private var last: UInt8 = 0

  /// Refuses a text that is empty, is nested too deeply, or has a comma before a closing bracket or a zero byte.
  static func check(_ utf8: Data) throws(JSONError) {
    var scan = JSONScan()
    if let error = utf8.withUnsafeBytes({ scan.takeAll($0) }) { throw error }
    guard scan.last != 0 else { throw JSONError.empty }
  }

  private mutating func takeAll(_ bytes: UnsafeRawBufferPointer) -> JSONError? {
    do throws(JSONError) {
      for byte in bytes { try take(byte) }
      return nil
    } catch {
      return error
    }
  }

  private mutating func take(_ byte: UInt8) throws(JSONError) {
    if inString {
      takeInString(byte)
      return
    }
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): return
    case 0: throw JSONError.notJSON(reason: "a zero byte stands outside of a string")
    case UInt8(ascii: "\""): inString = true
    case UInt8(ascii: "["), UInt8(ascii: "{"): try open()
    case UInt8(ascii: "]"), UInt8(ascii: "}"): try close()
    default: break
    }
    last = byte
  }

  private mutating func takeInString(_ byte: UInt8) {
    if escaped {
      escaped = false
    } else if byte == UInt8(ascii: "\\") {
      escaped = true
    } else if byte == UInt8(ascii: "\"") {
      inString = false
    }
  }

  private mutating func open() throws(JSONError) {
    depth += 1
    guard depth <= JSONValue.depthLimit else { throw JSONError.tooDeep(limit: JSONValue.depthLimit) }
  }

  private mutating func close() throws(JSONError) {
    guard last != UInt8(ascii: ",") else { throw JSONError.notJSON(reason: "a comma stands before a closing bracket") }
    depth -= 1
  }
}
