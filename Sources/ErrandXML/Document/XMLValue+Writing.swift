public import ErrandCore
public import Foundation

extension XMLValue {
  /// The document as text in UTF-8, with a declaration.
  ///
  /// A namespace is declared where it differs from that of the element around it, without a prefix. Attributes stand in
  /// the order of their names; one with a prefix needs the attribute that declares it, such as `xmlns:p`.
  /// - Throws: ``ErrandCore/FormatFailure`` where a name is none, or a text has a character that XML cannot carry.
  public func serialized() throws(FormatFailure) -> Data {
    var out = Array(#"<?xml version="1.0" encoding="UTF-8"?>"#.utf8)
    try write(to: &out, inside: nil, path: name)
    return Data(out)
  }

  private func write(
    to out: inout [UInt8], inside outer: String?, path: String
  ) throws(FormatFailure) {
    try Self.check(name: name, path)
    out += "<\(name)".utf8
    if namespace != outer, attributes["xmlns"] == nil {
      try Self.write(attribute: "xmlns", namespace ?? "", to: &out, path)
    }
    for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
      try Self.write(attribute: name, value, to: &out, path)
    }
    if content.isEmpty { return out += "/>".utf8 }
    out.append(UInt8(ascii: ">"))
    for piece in content {
      switch piece {
      case .text(let text): try Self.write(text, to: &out, isValue: false, path)
      case .element(let child): try child.write(to: &out, inside: namespace, path: "\(path).\(child.name)")
      }
    }
    out += "</\(name)>".utf8
  }

  private static func write(
    attribute name: String, _ value: String, to out: inout [UInt8], _ path: String
  ) throws(FormatFailure) {
    try check(name: name, path)
    out += " \(name)=\"".utf8
    try write(value, to: &out, isValue: true, path)
    out.append(UInt8(ascii: "\""))
  }

  /// What would end a text or a value, or be changed by whoever reads it, goes as a reference.
  private static func write(
    _ text: String, to out: inout [UInt8], isValue: Bool, _ path: String
  ) throws(FormatFailure) {
    for scalar in text.unicodeScalars {
      switch scalar {
      case "<": out += "&lt;".utf8
      case ">": out += "&gt;".utf8
      case "&": out += "&amp;".utf8
      case "\"": out += "&quot;".utf8
      case "\t", "\n": out += isValue ? Array("&#\(scalar.value);".utf8) : Array(scalar.utf8)
      case "\r": out += "&#13;".utf8
      case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}":
        throw FormatFailure(
          .malformed, "the character U+\(String(scalar.value, radix: 16, uppercase: true)) cannot stand in XML",
          path: path)
      default: out += Array(scalar.utf8)
      }
    }
  }

  /// Refuses what could end a tag; the letters of names are not told apart further.
  private static func check(name: String, _ path: String) throws(FormatFailure) {
    let first = name.unicodeScalars.first
    let isName = name.unicodeScalars.allSatisfy {
      $0.value >= 0x80 || "-._:".unicodeScalars.contains($0) || ASCII.isAlphanumeric(UInt8($0.value))
    }
    guard let first, isName, !"-.0123456789".unicodeScalars.contains(first) else {
      throw FormatFailure(.malformed, "\"\(name)\" is no name of an element or attribute", path: path)
    }
  }
}

extension RequestBody {
  /// A document as XML; what cannot be written fails the call while it is built.
  public static func xml(_ document: XMLValue, type contentType: String = "application/xml") -> RequestBody {
    encoded(as: "XML", contentType) { try document.serialized() }
  }
}
