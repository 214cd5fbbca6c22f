package import ErrandCore

/// Makes a name that may be given to a file in a folder of the user's out of what a URL or a server says.
///
/// The result is one component: it has no slash, backslash, colon or control character, does not begin with a dot, is no
/// name that a system reserves, shows in the order of its letters, and leaves room for what a download adds to it.
package enum FileName {
  /// The most bytes: 255 as file systems have it, less what is added for a record that is being written.
  package static let limit = 255 - PartNames.temporarySuffix.utf8.count

  /// The name of a URL: the last component of its path, unescaped. Nil where that is empty or cannot be a name.
  package static func of(_ url: HTTPURL) -> String? {
    let component = url.path.utf8.split(separator: 0x2F, omittingEmptySubsequences: false).last ?? [][...]
    return String(validating: unescaped(component), as: UTF8.self).flatMap(safe)
  }

  /// The name that an answer gives by `Content-Disposition`; nil where there is none, or several.
  package static func of(_ fields: HTTPFields) -> String? {
    let values = fields.values(of: "Content-Disposition")
    guard values.count == 1, let value = values.first else { return nil }
    return ContentDisposition(value).fileName.flatMap(safe)
  }

  /// The name that is left of a text once everything is out that does harm; nil where nothing is left, or where it would
  /// be taken for what belongs to another download.
  package static func safe(_ text: String) -> String? {
    let last = text.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last ?? [][...]
    var name = String(String.UnicodeScalarView(last.filter { !isLeftOut($0) }.map(replaced)))
    name = trimmed(shortened(trimmed(name)))
    // Looked at last: what is cut off may leave a device's name.
    if isReserved(name) { name = trimmed(shortened("_" + name)) }
    return name.isEmpty || isOurs(name) ? nil : name
  }

  /// Undoes percent-encoding; what is no escape stays.
  static func unescaped(_ text: some Collection<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text[...]
    while let byte = rest.popFirst() {
      let two = rest.prefix(2).compactMap(ASCII.hexValue)
      if byte == 0x25, two.count == 2 {
        bytes.append(two[0] << 4 | two[1])
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }

  /// Controls, signs that turn the order of letters round, and signs that nobody sees but those that join letters.
  private static func isLeftOut(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: true
    case .format: scalar != "\u{200C}" && scalar != "\u{200D}"
    default: false
    }
  }

  /// What separates components or has a meaning to some system or shell. Every kind of space becomes the plain one.
  private static func replaced(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar {
    case ":", "*", "?", "\"", "<", ">", "|": "_"
    case _ where scalar.properties.generalCategory == .spaceSeparator: " "
    default: scalar
    }
  }

  /// Without dots and spaces at both ends: a leading dot hides a file, and some systems drop trailing ones.
  private static func trimmed(_ name: String) -> String {
    var scalars = name.unicodeScalars[...]
    while let first = scalars.first, first == "." || first == " " { scalars = scalars.dropFirst() }
    while let last = scalars.last, last == "." || last == " " { scalars = scalars.dropLast() }
    return String(scalars)
  }

  private static let reserved: Set<String> = {
    var names: Set<String> = ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"]
    for digit in "0123456789¹²³" { names.formUnion(["com\(digit)", "lpt\(digit)"]) }
    return names
  }()

  /// Whether it is the name of a device on some system, with any extension.
  private static func isReserved(_ name: String) -> Bool {
    let stem = name.unicodeScalars.prefix { $0 != "." }
    return reserved.contains(trimmed(String(stem)).lowercased())
  }

  private static func isOurs(_ name: String) -> Bool {
    // Byte by byte: with an accent behind it, a suffix is another one to Swift and not to every file system.
    let name = Array(name.lowercased().utf8)
    return [PartNames.partSuffix, PartNames.recordSuffix, PartNames.temporarySuffix].map { Array($0.utf8) }.contains {
      name.reversed().starts(with: $0.reversed()) || ([0x2E] + name).elementsEqual($0)
    }
  }

  /// At most ``limit`` bytes, the extension kept where it is one.
  private static func shortened(_ name: String) -> String {
    guard name.utf8.count > limit else { return name }
    let scalars = name.unicodeScalars
    var ending = ""
    if let dot = scalars.lastIndex(of: "."), name.utf8.distance(from: dot, to: name.endIndex) <= 20 {
      ending = String(scalars[dot...])
    }
    var stem = String.UnicodeScalarView()
    var count = ending.utf8.count
    for scalar in scalars.dropLast(ending.unicodeScalars.count) {
      count += UTF8.width(scalar)
      if count > limit { break }
      stem.append(scalar)
    }
    return trimmed(String(stem)) + ending
  }
}
