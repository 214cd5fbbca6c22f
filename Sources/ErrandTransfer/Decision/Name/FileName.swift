package import ErrandCore

/// Turns the name in a URL or from a server into a safe name for a file in the user's folder.
///
/// The result is one path component. It has no slash, backslash, colon or control character, does not start with a dot,
/// is not reserved by any system, displays its letters in their stored order, and is short enough for the suffixes that
/// a download appends.
package enum FileName {
  /// The maximum length in bytes: 255, the limit of most file systems, minus the longest suffix that a download
  /// appends.
  package static let limit = 255 - PartNames.temporarySuffix.utf8.count

  /// The file name of a URL: the last component of its path, percent-decoded. Nil if the component is empty or cannot
  /// be a file name.
  package static func of(_ url: HTTPURL) -> String? {
    let component = url.path.utf8.split(separator: 0x2F, omittingEmptySubsequences: false).last ?? [][...]
    return String(validating: PercentEncoding.decodedLeniently(component, plusIsSpace: false), as: UTF8.self)
      .flatMap(safe)
  }

  /// The file name in the `Content-Disposition` of a response; nil if there is no such field, or more than one.
  package static func of(_ fields: HTTPFields) -> String? {
    let values = fields.values(of: "Content-Disposition")
    guard values.count == 1, let value = values.first else { return nil }
    return ContentDisposition(value).fileName.flatMap(safe)
  }

  /// Removes everything unsafe from a name. Nil if nothing remains, or if other downloads could mistake the result for
  /// one of their own files (`.part`, `.part.meta` or `.part.meta.tmp`).
  package static func safe(_ text: String) -> String? {
    let last = text.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last ?? [][...]
    var name = String(String.UnicodeScalarView(last.filter { !isLeftOut($0) }.map(replaced)))
    name = trimmed(shortened(trimmed(name)))
    // Check for reserved names last, because shortening a name may produce the name of a device.
    if isReserved(name) { name = trimmed(shortened("_" + name)) }
    return name.isEmpty || isOurs(name) ? nil : name
  }

  /// True for the characters that are removed: control characters, characters that change the text direction, and
  /// invisible characters. The joiners U+200C and U+200D are kept.
  private static func isLeftOut(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: true
    case .format: scalar != "\u{200C}" && scalar != "\u{200D}"
    default: false
    }
  }

  /// Returns an underscore for a character that some system or shell interprets, and U+0020 for every kind of space.
  /// Returns all other characters unchanged.
  private static func replaced(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar {
    case ":", "*", "?", "\"", "<", ">", "|": "_"
    case _ where scalar.properties.generalCategory == .spaceSeparator: " "
    default: scalar
    }
  }

  /// Removes dots and spaces at both ends. A leading dot hides a file, and some systems drop trailing dots and spaces.
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

  /// Whether an operating system reserves the name for a device. The extension of the name does not matter.
  private static func isReserved(_ name: String) -> Bool {
    let stem = name.unicodeScalars.prefix { $0 != "." }
    return reserved.contains(trimmed(String(stem)).lowercased())
  }

  /// Whether the name ends in a suffix that downloads use for their own files. Also true if the name is such a suffix
  /// without the first dot. A suffix that is followed by a combining accent does not count, because file systems treat
  /// it as another suffix.
  private static func isOurs(_ name: String) -> Bool {
    // Compare bytes and not characters. Some letters, such as U+0D4E, form one character with the dot that follows. A
    // name with such a letter ends in the bytes of the suffix, but not in its characters.
    let name = Array(name.lowercased().utf8)
    return [PartNames.partSuffix, PartNames.metadataSuffix, PartNames.temporarySuffix].map { Array($0.utf8) }.contains {
      name.reversed().starts(with: $0.reversed()) || ([0x2E] + name).elementsEqual($0)
    }
  }

  /// Shortens a name to ``limit`` bytes. An extension of at most 20 bytes, including its dot, is kept.
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
