import ErrandCore

/// Parses field values that are lists (RFC 9110 section 5.6.1).
enum FieldList {
  /// Splits a list at commas outside quotes. Spaces around the members are removed, and empty members are left out.
  static func members(_ value: String) -> [Substring] {
    var members: [Substring] = []
    var rest = value.utf8[...]
    while !rest.isEmpty {
      let member = rest.prefix(upTo: end(of: rest))
      rest = rest[member.endIndex...].dropFirst()
      let text = ASCII.trimmed(member)
      if !text.isEmpty { members.append(Substring(text)) }
    }
    return members
  }

  /// The index of the first comma outside quotes. If there is no such comma, the end index of the text.
  private static func end(of bytes: Substring.UTF8View) -> Substring.UTF8View.Index {
    var isQuoted = false
    var isEscaped = false
    for index in bytes.indices {
      let byte = bytes[index]
      if isEscaped {
        isEscaped = false
      } else if byte == 0x22 {
        isQuoted.toggle()
      } else if isQuoted, byte == 0x5C {
        isEscaped = true
      } else if !isQuoted, byte == 0x2C {
        return index
      }
    }
    return bytes.endIndex
  }
}
