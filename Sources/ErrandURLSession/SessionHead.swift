import ErrandHTTP
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension ResponseHead {
  /// Converts the response headers of URLSession. The reason phrase and the order of fields are lost, and URLSession
  /// has combined fields with the same name. The HTTP version is not known before the end of the exchange; until then
  /// it is set to HTTP/1.1.
  init(_ response: HTTPURLResponse) {
    let pairs = response.allHeaderFields.compactMap { name, value in
      (name as? String).flatMap { name in (value as? String).map { (name, $0) } }
    }
    self.init(status: response.statusCode, fields: HTTPFields(Self.fields(pairs)))
  }

  /// The fields, sorted by name, without spaces and tabs around their values (RFC 9110 section 5.5). Cookies that
  /// URLSession has combined are separated again.
  static func fields(_ pairs: [(name: String, value: String)]) -> [HTTPField] {
    pairs.sorted { $0.name < $1.name }.flatMap { pair in
      let name = HTTPFieldName(pair.name)
      guard name == .setCookie else {
        return [HTTPField(name, String(Substring(ASCII.trimmed(Substring(pair.value).utf8))))]
      }
      return SetCookieList.values(of: pair.value).map { HTTPField(name, $0) }
    }
  }

  /// The approximate size of the header fields in bytes: each name and value, and a colon, a space and the line end.
  var measure: Int { fields.all.reduce(0) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count + 4 } }

  /// The announced length of the body. Nil if the body has a content coding, because this length then differs from the
  /// number of decoded bytes.
  var countableLength: Int64? { isCoded ? nil : announcedLength }

  /// The announced length of the encoded body; nil if the body has no content coding.
  var codedLength: Int64? { isCoded ? announcedLength : nil }

  private var isCoded: Bool {
    let codings = fields[.contentEncoding]?.lowercased()
    return codings != nil && codings != "" && codings != "identity"
  }

  private var announcedLength: Int64? { fields[.contentLength].flatMap { Int64($0) } }
}

/// Separates cookies in a `Set-Cookie` field. URLSession joins several cookies with commas, but a cookie's date also
/// contains a comma.
enum SetCookieList {
  /// Splits the text of the field into cookies. A comma separates two cookies if a name and `=` follow (RFC 6265
  /// section 4.1.1). After a comma in a date, a day and a month follow.
  ///
  /// The text is processed as bytes, because a separator and a combining mark after it are one `Character`.
  static func values(of text: String) -> [String] {
    let bytes = text.utf8
    var values: [Substring.UTF8View] = []
    for part in bytes.split(separator: 0x2C, omittingEmptySubsequences: false) {
      if let last = values.popLast() {
        if beginsCookie(part) {
          values += [last, part]
        } else {
          values.append(bytes[last.startIndex..<part.endIndex])
        }
      } else {
        values.append(part)
      }
    }
    return values.map { String(Substring($0.drop { $0 == 0x20 })) }
  }

  private static func beginsCookie(_ part: Substring.UTF8View) -> Bool {
    guard let equals = part.firstIndex(of: 0x3D) else { return false }
    return ASCII.isToken(String(Substring(part[..<equals].drop { $0 == 0x20 })))
  }
}

/// Checks whether the headers of a response say clearly where the body ends (RFC 9112 section 6). URLSession on Linux
/// does not check this.
enum SessionFraming {
  /// Says why it is unclear where the body of the response ends; nil if the end is clear.
  static func fault(of head: ResponseHead) -> String? {
    let length = head.fields[.contentLength]
    if let length, !isNumber(length) { return "Content-Length is not a single number" }
    guard let coding = head.fields["Transfer-Encoding"] else { return nil }
    if coding.lowercased() != "chunked" { return "Transfer-Encoding is not `chunked`" }
    return length == nil ? nil : "the response has both Content-Length and Transfer-Encoding"
  }

  private static func isNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(ASCII.isDigit) && Int64(text) != nil
  }
}
