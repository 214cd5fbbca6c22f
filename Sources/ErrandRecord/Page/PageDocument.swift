import Foundation

/// Composes the HTML of the page from its style, its scripts and its data.
enum PageDocument {
  /// The source of the calls that a page shows.
  enum Mode: String {
    /// The embedded archive.
    case file
    /// The events of the server that delivered the page.
    case live
  }

  /// A page. `archive` is the result of ``embeddable(_:)``.
  static func html(archive: Data, nonce: String, mode: Mode) -> Data {
    let head = """
      <!DOCTYPE html>
      <html lang="en" data-mode="\(mode.rawValue)">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="\(policy(nonce, mode))">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="referrer" content="no-referrer">
      <meta name="color-scheme" content="light dark">
      <title>Flight record</title>
      <style nonce="\(nonce)">
      \(PageStyle.all)
      </style>
      </head>
      <body>
      \(PageBody.html)
      <script type="application/json" id="archive">
      """
    let tail = """
      </script>
      <script nonce="\(nonce)">
      \(PageScript.all)
      </script>
      </body>
      </html>

      """
    return Data(head.utf8) + archive + Data(tail.utf8)
  }

  /// The content security policy. Only the style and the script with the nonce are used, and no request is possible. A
  /// live page may connect to its server.
  static func policy(_ nonce: String, _ mode: Mode) -> String {
    "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; "
      + (mode == .live ? "connect-src 'self'; " : "") + "base-uri 'none'; form-action 'none'"
  }

  /// A random number of 128 bits in hexadecimal digits.
  static func nonce() -> String {
    var numbers = SystemRandomNumberGenerator()
    return (0..<2).map { _ in
      let digits = String(numbers.next() as UInt64, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// JSON with the same value in which no byte sequence has a meaning in HTML or ends a line in a script. These
  /// characters can occur only in texts of JSON, where they can be escaped.
  static func embeddable(_ json: Data) -> Data {
    var result = Data(capacity: json.count + json.count / 16)
    var rest = json[...]
    while let byte = rest.first {
      switch byte {
      case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"):
        result.append(contentsOf: "\\u00\(String(byte, radix: 16))".utf8)
      case 0xE2 where rest.starts(with: [0xE2, 0x80, 0xA8]) || rest.starts(with: [0xE2, 0x80, 0xA9]):
        result.append(contentsOf: rest.dropFirst(2).first == 0xA8 ? "\\u2028".utf8 : "\\u2029".utf8)
        rest = rest.dropFirst(2)
      default: result.append(byte)
      }
      rest = rest.dropFirst()
    }
    return result
  }
}

/// The script of the page. Each part is a text in a file of its own.
///
/// The script writes texts of the archive only as text nodes and attributes of known names, never as markup.
enum PageScript {
  /// The parts in the order in which the page runs them. The last part starts the page.
  static let all = [model, element, filter, list, timing, detail, curl, swift, compare, live, start]
    .joined(separator: "\n")
}
