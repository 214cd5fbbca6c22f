import Foundation

/// Makes JSON values from text by way of Foundation's parser.
enum JSONParser {
  /// The value of a whole text in any of the encodings of JSON.
  static func parse(_ data: Data) throws(JSONError) -> JSONValue {
    let utf8 = try JSONText.utf8(of: data)
    try JSONScan.check(utf8)
    do {
      return JSONTreeConversion.value(of: try JSONSerialization.jsonObject(with: utf8, options: .fragmentsAllowed))
    } catch {
      throw reason(for: error, in: utf8)
    }
  }

  private static func reason(for error: any Error, in utf8: Data) -> JSONError {
    if let number = JSONNumberScan.firstBeyondDouble(in: utf8) { return .numberOutOfRange(number) }
    let told = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String
    let phrase = told ?? "its grammar is wrong"
    return .notJSON(reason: phrase.hasSuffix(".") ? String(phrase.dropLast()) : phrase)
  }
}
