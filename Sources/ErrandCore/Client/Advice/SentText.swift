import ErrandSupport
import Foundation

/// The text that a request sends: its path, its query, the fields that it declares, and its body. A property whose
/// value is part of this text is data of the request, although it may have the name of a setting of another library.
struct SentText {
  /// The largest body that is searched, in bytes. A larger body may contain any value.
  private static let mostSearched = 16_384

  /// Nil if the body is not in memory or too large, so that its content is unknown.
  private let texts: [[UInt8]]?

  init(_ built: HTTPRequest, of request: any APIRequest) {
    let target = "\(built.url.path)?\(built.url.query ?? "")"
    let fields = request.headers.entries.compactMap { $0.value?.text }
    let body = built.body?.data ?? Data()
    guard built.body == nil || built.body?.data != nil, body.count <= Self.mostSearched else {
      texts = nil
      return
    }
    // JSON encoders may escape slashes, and a form writes a space as a plus sign.
    let plain = String(decoding: body, as: UTF8.self).replacingBytes(of: "\\/", with: "/")
    let form = plain.replacingBytes(of: "+", with: " ")
    texts = ([target, plain, form].flatMap { [$0, $0.removingPercentEncoding ?? ""] } + fields).map { Array($0.utf8) }
  }

  /// Whether the text may contain the value of a property, or a part of the value.
  func contains(_ value: Any) -> Bool {
    guard let texts else { return true }
    return Self.parts(of: value).contains { part in
      let part = Array(part.utf8)
      return texts.contains { Self.occurs(part, in: $0) }
    }
  }

  /// The texts of a value and of the values inside it.
  private static func parts(of value: Any, depth: Int = 0) -> [String] {
    let whole = (value as? Double).flatMap { Int(exactly: $0) }.map { ["\($0)"] } ?? []
    let children = depth < 6 ? Mirror(reflecting: value).children.prefix(64).map { $0.value } : []
    let text = "\(value)"
    return (text.isEmpty || text == "nil" ? [] : [text]) + whole + children.flatMap { parts(of: $0, depth: depth + 1) }
  }

  /// Whether the part occurs as a whole word or number.
  private static func occurs(_ part: [UInt8], in text: [UInt8]) -> Bool {
    let isNumber = part.allSatisfy { ASCII.isDigit($0) || $0 == 0x2D || $0 == 0x2E }
    func isWord(_ index: Int) -> Bool {
      guard text.indices.contains(index) else { return false }
      return ASCII.isAlphanumeric(text[index]) || text[index] >= 0x80 || isNumber && text[index] == 0x2E
    }
    guard part.count <= text.count else { return false }
    return (0...(text.count - part.count)).contains { start in
      text[start...].starts(with: part) && !isWord(start - 1) && !isWord(start + part.count)
    }
  }
}
