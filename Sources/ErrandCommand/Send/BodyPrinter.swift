import Errand
import Foundation

/// Decides how a body is printed.
enum BodyPrinter {
  /// The form in which a body is printed.
  enum Showing: Equatable {
    /// The body is printed as unchanged bytes.
    case raw(Data)
    /// The body is printed as this formatted text.
    case text(String)
    /// The body is not printed. A note states the reason.
    case note(String)
  }

  /// Writes a body, or a note instead of the body. Returns nil, or the system's error number if the write fails.
  static func write(_ body: Data, of response: HTTPResponse) -> Int32? {
    let isTerminal = Terminal.isTerminal(.output)
    switch showing(body, of: response, isTerminal: isTerminal, paint: Terminal.paint(for: .output)) {
    case .raw(let data): return Terminal.write(data)
    case .text(let text): return Terminal.write(text)
    case .note(let note):
      Terminal.reportError(note)
      return nil
    }
  }

  /// Chooses the form in which a body is printed. A pipe receives the unchanged bytes. A terminal shows indented and
  /// coloured JSON, text without control characters, or a note.
  static func showing(_ body: Data, of response: HTTPResponse, isTerminal: Bool, paint: Paint) -> Showing {
    guard isTerminal, !body.isEmpty else { return .raw(body) }
    if let text = String(validating: body, as: UTF8.self), (try? JSONValue(parsing: body)) != nil {
      return .text(JSONPrinter.pretty(text, paint: paint) + "\n")
    }
    guard isText(response), let text = try? response.text() else {
      let type = response.fields[.contentType].map { " of \(PlainText.visible($0))" } ?? ""
      return .note(
        "\(Wording.bytes(Int64(body.count)))\(type) are not shown on a terminal; use -o FILE or a pipe")
    }
    let visible = PlainText.visible(text, keepsLines: true)
    return .text(visible.hasSuffix("\n") ? visible : visible + "\n")
  }

  /// Whether the body is text. The content type decides. Without a content type, a body without zero bytes is text.
  private static func isText(_ response: HTTPResponse) -> Bool {
    guard let type = response.fields[.contentType].flatMap({ MediaType($0) }) else { return !response.body.contains(0) }
    let texts = ["application/xml", "application/javascript", "application/x-www-form-urlencoded", "image/svg+xml"]
    return type.matches("text/*") || type.isJSON || texts.contains(type.essence) || type.essence.hasSuffix("+xml")
  }
}
