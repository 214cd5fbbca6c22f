import ErrandCore
import ErrandGenerate
import ErrandRecord
import Foundation

/// Reads the exchanges of an HTTP archive or a flight file for a draft.
enum RecordingReader {
  /// Whether a file is a recording, by the end of its name.
  static func isRecording(_ name: String) -> Bool {
    [".har", ".flight"].contains { name.lowercased().hasSuffix($0) }
  }

  /// The exchanges of an archive that ended with a response.
  static func exchanges(_ archive: HTTPArchive) -> [RecordedExchange] { archive.entries.compactMap(exchange) }

  private static func exchange(_ entry: HTTPArchive.Entry) -> RecordedExchange? {
    guard let status = entry.response.status, let parts = URLComponents(string: entry.request.url),
      let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme), let host = parts.encodedHost
    else { return nil }
    let port = parts.port.map { ":\($0)" } ?? ""
    var exchange = RecordedExchange(
      method: entry.request.method.uppercased(), origin: "\(scheme)://\(host.lowercased())\(port)",
      path: parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath, status: status)
    exchange.query = arguments(parts.percentEncodedQuery ?? "")
    exchange.fields = entry.request.headers.map { ($0.name.rawValue, $0.value) }
    exchange.body = body(entry.request)
    exchange.responseFields = Set(entry.response.headers.map { $0.name.rawValue.lowercased() })
    exchange.response = response(entry.response)
    return exchange
  }

  private static func body(_ request: HTTPArchive.Request) -> RecordedExchange.Content? {
    guard request.body?.isEmpty == false || (request.bodySize ?? 0) > 0 else { return nil }
    return RecordedExchange.Content(
      type: value("content-type", of: request.headers) ?? "", bytes: request.body.map { Array($0.utf8) },
      form: arguments(request.body ?? ""))
  }

  private static func response(_ response: HTTPArchive.Response) -> RecordedExchange.Content? {
    guard response.body?.isEmpty == false || (response.bodySize ?? 0) > 0 else { return nil }
    let type = response.mediaType.isEmpty ? value("content-type", of: response.headers) ?? "" : response.mediaType
    let bytes = response.body.flatMap { text in
      response.isBase64 ? Data(base64Encoded: text).map { Array($0) } : Array(text.utf8)
    }
    return RecordedExchange.Content(type: type, bytes: bytes)
  }

  /// The decoded arguments of a query or a form.
  private static func arguments(_ text: String) -> RecordedExchange.Arguments {
    text.split(separator: "&").compactMap { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map { $0.replacing("+", with: " ").removingPercentEncoding ?? "" }
      guard let name = parts.first, !name.isEmpty else { return nil }
      return (name, parts.count > 1 ? parts[1] : "")
    }
  }

  private static func value(_ name: String, of fields: [HTTPField]) -> String? {
    fields.first { $0.name.rawValue.lowercased() == name }?.value
  }
}
