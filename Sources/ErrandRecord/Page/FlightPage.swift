import ErrandJSON
public import Foundation

/// A web page in one file that shows the calls of an HTTP archive (HAR 1.2): what happened, when, and why.
///
/// The page needs no network: its content security policy forbids every request. It shows archives of
/// `FlightRecord.har()` with their decisions, and those of browsers and proxies.
///
/// ```swift
/// let page = try FlightPage(archive: client.flightRecord.har())
/// try page.html.write(to: URL.temporaryDirectory.appending(path: "calls.html"))
/// ```
public struct FlightPage: Sendable {
  /// The page as HTML in UTF-8. It contains everything that the archive contains, so it is as confidential as the
  /// archive.
  public var html: Data { PageDocument.html(archive: archive, nonce: nonce, mode: .file) }

  /// The archive as JSON that cannot end the script element around it.
  private let archive: Data
  private let nonce = PageDocument.nonce()

  /// Creates a page from an archive, which is JSON in UTF-8.
  ///
  /// - Throws: ``FlightPageError`` if the data is not JSON or has no list of entries.
  public init(archive: Data) throws {
    let value: JSONValue
    do {
      value = try JSONValue(parsing: archive)
    } catch {
      throw FlightPageError("The archive is not JSON: \(error). Pass the bytes of a file in the format HAR 1.2.")
    }
    guard value["log"]?["entries"]?.arrayValue != nil else {
      throw FlightPageError(
        "The archive has no list `log.entries`. Pass the bytes of a file in the format HAR 1.2.")
    }
    self.archive = PageDocument.embeddable(try value.serialized())
  }
}

/// The reason why no page can be made.
public struct FlightPageError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, and the cure.
  public let description: String

  init(_ description: String) { self.description = description }
}

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
    (0..<16).map { _ in String(format: "%02x", UInt8.random(in: .min ... .max)) }.joined()
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

/// The script of the page. Its parts are in the folder `Script`.
///
/// The script writes texts of the archive only as text nodes and attributes of known names, never as markup.
enum PageScript {
  /// The parts in the order in which the page runs them. The last part starts the page.
  static let all = [model, element, filter, list, timing, detail, curl, swift, compare, live, start]
    .joined(separator: "\n")
}

/// The elements of the page that do not depend on the archive.
enum PageBody {
  static let html = #"""
    <header class="top">
      <h1>Flight record</h1>
      <p id="summary" role="status" aria-live="polite"></p>
      <p id="live" role="status" hidden></p>
      <div class="filters" role="search">
        <label class="search"><span class="hidden">Search</span>
          <input id="search" type="search" placeholder="Search calls, headers, decisions, bodies" autocomplete="off"
            spellcheck="false" aria-keyshortcuts="/"><kbd aria-hidden="true">/</kbd></label>
        <select id="filter-status" aria-label="Status"></select>
        <select id="filter-method" aria-label="Method"></select>
        <select id="filter-host" aria-label="Host"></select>
        <select id="filter-origin" aria-label="Source"></select>
        <label class="check"><input id="filter-failed" type="checkbox">Failed only</label>
        <button id="clear" class="quiet" hidden>Clear filters</button>
      </div>
    </header>
    <main>
      <section class="calls" aria-label="Calls">
        <div class="columns" aria-hidden="true"><span>Call</span><span>Status</span><span>Method</span>
          <span>Request</span><span class="right">Time</span><span>Attempts</span></div>
        <div id="list" role="listbox" tabindex="0" aria-label="Calls">
          <div id="rows" role="presentation"></div><p id="empty" hidden></p></div>
      </section>
      <section id="detail" aria-label="Selected call"></section>
    </main>
    <p id="toast" role="status" aria-live="polite"></p>
    <noscript><p class="hint">This page needs JavaScript. It makes no network requests.</p></noscript>
    """#
}
