import ErrandHTTP
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension ResponseHead {
  /// The head as URLSession tells it: without the reason, fields of one name as one, their order lost. The version is
  /// known at the end at the earliest; until then it counts as HTTP/1.1.
  init(_ response: HTTPURLResponse) {
    let pairs = response.allHeaderFields.compactMap { name, value in
      (name as? String).flatMap { name in (value as? String).map { (name, $0) } }
    }
    self.init(status: response.statusCode, fields: HTTPFields(Self.fields(pairs)))
  }

  /// The fields in the order of their names, cookies taken apart.
  static func fields(_ pairs: [(name: String, value: String)]) -> [HTTPField] {
    pairs.sorted { $0.name < $1.name }.flatMap { pair in
      let name = HTTPFieldName(pair.name)
      guard name == .setCookie else { return [HTTPField(name, pair.value.trimmingCharacters(in: .whitespaces))] }
      return SetCookieList.values(of: pair.value).map { HTTPField(name, $0) }
    }
  }

  /// What the head takes on the wire, nearly: each field with its colon, blank and line end.
  var measure: Int { fields.all.reduce(0) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count + 4 } }

  /// The length that the head announces, where the body's bytes can be counted against it: not that of a coded one.
  var countableLength: Int64? { isCoded ? nil : announcedLength }

  /// The length of the coded body, where it is coded and the head announces one.
  var codedLength: Int64? { isCoded ? announcedLength : nil }

  private var isCoded: Bool {
    let codings = fields[.contentEncoding]?.lowercased()
    return codings != nil && codings != "" && codings != "identity"
  }

  private var announcedLength: Int64? { fields[.contentLength].flatMap { Int64($0) } }
}

/// Takes apart what URLSession has put together: `Set-Cookie` fields joined by commas, though their dates hold commas.
enum SetCookieList {
  /// A cookie begins behind a comma where a name and `=` follow (RFC 6265 section 4.1.1); the comma in a date is
  /// followed by a day and its month.
  static func values(of text: String) -> [String] {
    var values: [Substring] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      if let last = values.popLast() {
        if beginsCookie(part) {
          values += [last, part]
        } else {
          values.append(text[last.startIndex..<part.endIndex])
        }
      } else {
        values.append(part)
      }
    }
    return values.map { String($0.drop { $0 == " " }) }
  }

  private static func beginsCookie(_ part: Substring) -> Bool {
    guard let equals = part.firstIndex(of: "=") else { return false }
    return ASCII.isToken(String(part[..<equals].drop { $0 == " " }))
  }
}
