/// Colours text for terminals, or leaves it unchanged.
struct Paint: Sendable {
  /// The styles by their SGR codes (ECMA-48 section 8.3.117).
  enum Style: String, Sendable {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case blue = "34"
    case magenta = "35"
    case cyan = "36"
  }

  /// Whether colours are enabled.
  let isOn: Bool

  /// A value that leaves all text unchanged.
  static let plain = Paint(isOn: false)

  func callAsFunction(_ style: Style, _ text: String) -> String {
    isOn && !text.isEmpty ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }
}
