extension TextLayout {
  /// The text in at most so many columns, with “…” where something was left out: in the middle, so that a file's ending
  /// can be seen, or at the end.
  static func shortened(_ text: String, to columns: Int, keepsEnd: Bool = true) -> String {
    guard width(text) > columns else { return text }
    guard columns > 1 else { return columns == 1 ? "…" : "" }
    let room = columns - 1
    let tail = keepsEnd ? taken(text.reversed(), upTo: room / 3) : []
    let head = taken(text, upTo: room - tail.reduce(0) { $0 + width(String($1)) })
    return String(head) + "…" + String(tail.reversed())
  }

  private static func taken(_ characters: some Sequence<Character>, upTo columns: Int) -> [Character] {
    var left = columns
    return Array(
      characters.prefix { character in
        left -= width(String(character))
        return left >= 0
      })
  }
}
