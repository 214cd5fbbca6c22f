import ErrandCore
import ErrandHTTP
import ErrandSupport
public import Foundation

/// One call of an ``HTTPArchive``: its exchanges, its outcome and its decisions.
///
/// In an archive of another program each entry is a call, numbered from 1.
public struct ArchivedCall: Sendable, Hashable {
  /// The number of the call, which is unique in a run.
  public let number: UInt64
  /// Identifies the process that wrote the call to a flight file; nil in other archives.
  public let run: String?
  /// The exchanges of the call in the order of their starts; at least one. A call that sent no request, such as a cache
  /// hit, has one entry without an exchange.
  public let entries: [HTTPArchive.Entry]

  /// The end of the call; nil in an archive of another program.
  private var end: HTTPArchive.End? { entries.last?.details?.end }

  /// The number of the call, with the run before it if there is one, such as `7` or `1f3a02c7:7`.
  public var id: String { run.map { "\($0):\(number)" } ?? "\(number)" }
  /// The name of the request's type; empty in an archive of another program.
  public var requestType: String { entries.last?.details?.requestType ?? "" }
  /// The tag of the call.
  public var tag: String? { entries.last?.details?.tag }
  /// The method of the first request; empty if it could not be built.
  public var method: String { entries.first?.request.method ?? "" }
  /// The URL of the first request; empty if it could not be built.
  public var url: String { entries.first?.request.url ?? "" }
  /// The time on the wall clock at which the call started.
  public var startedAt: Date { end?.startedAt ?? entries.first?.startedAt ?? .distantPast }
  /// The duration of the call.
  public var duration: Duration { end?.duration ?? entries.first?.time ?? .zero }
  /// How many requests the call sent over the network.
  public var attempts: Int { entries.count { $0.details?.attempt != 0 && !$0.isFromCache } }
  /// The status of the response; nil if there was none.
  public var status: Int? { end.map { $0.status } ?? entries.last?.response.status }
  /// The source of the response, such as `network`; nil if it is unknown or the call failed.
  public var origin: String? { end?.origin }
  /// The stage and the code of the error, such as `transport/idleTimeout`; nil if the call succeeded.
  public var failure: String? {
    if let end { return end.failure.map { "\($0.stage)/\($0.code)" } }
    return entries.last?.response.failure
  }
  /// The message of the error; nil if the call succeeded.
  public var failureMessage: String? { end?.failure?.message ?? entries.last?.response.failure }
  /// The decisions of the call.
  public var decisions: [HTTPArchive.Decision] { end?.decisions ?? [] }
}

extension HTTPArchive {
  /// The calls of the archive, in the order of their first entries.
  public var calls: [ArchivedCall] {
    indicesByCall.map { indices in
      let details = indices.first.flatMap { entries[$0].details }
      let number = details?.call ?? UInt64(indices.first ?? 0) + 1
      return ArchivedCall(number: number, run: details?.run, entries: indices.map { entries[$0] })
    }
  }

  /// The places of the entries of each call, in the order of their first entries.
  var indicesByCall: [[Int]] {
    struct Key: Hashable {
      let run: ByteText?
      let number: UInt64
    }
    var places: [Key: Int] = [:]
    var indices: [[Int]] = []
    for (index, entry) in entries.enumerated() {
      let number = entry.details?.call ?? UInt64(index) + 1
      let key = Key(run: entry.details.map { ByteText($0.run ?? "") }, number: number)
      if let place = places[key] {
        indices[place].append(index)
      } else {
        places[key] = indices.count
        indices.append([index])
      }
    }
    return indices
  }

  /// The calls that an id can mean: the calls with this ``ArchivedCall/id``, or, if there are none, those with this
  /// number. There are several if processes or clients that wrote to the same flight file used the same number.
  public func calls(withID id: String) -> [ArchivedCall] {
    let calls = calls
    let exact = calls.filter { $0.id.hasSameBytes(as: id) }
    return exact.isEmpty ? calls.filter { "\($0.number)".hasSameBytes(as: id) } : exact
  }

  /// The call with an ``ArchivedCall/id``, or with a number that only one call has; nil if the archive has no such call
  /// or several of them, see ``calls(withID:)``.
  public func call(_ id: String) -> ArchivedCall? {
    let found = calls(withID: id)
    return found.count == 1 ? found.first : nil
  }
}

extension HTTPArchive.Request {
  /// A curl command for bash that sends this request; nil if the URL has another scheme than HTTP, or if the method or
  /// the name of a field is no token (RFC 9110 section 5.6.2), so that curl could not send it.
  ///
  /// Secrets in the archive are part of the command: take the command from ``HTTPArchive/masked`` for people to read.
  public var curlCommand: String? {
    guard hasWebScheme, ASCII.isToken(method) else { return nil }
    let sent = headers.filter { !Self.isImplied($0.name) }
    guard sent.allSatisfy({ ASCII.isToken($0.name.rawValue) }) else { return nil }
    let verb =
      method == "HEAD" && body == nil ? ["--head"] : method == "GET" && body == nil ? [] : ["-X", Self.quoted(method)]
    var words = ["curl"] + verb
    if url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { words.append("--globoff") }
    if url.contains(bytesOf: "/.") { words.append("--path-as-is") }
    if headers.contains(where: { $0.name == .acceptEncoding }) { words.append("--compressed") }
    words.append(Self.quoted(url))
    for field in sent {
      words += ["-H", Self.quoted(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")]
    }
    guard let body else { return words.joined(separator: " ") }
    // Otherwise, curl describes each body as a form.
    if !headers.contains(where: { $0.name == .contentType }) { words += ["-H", "Content-Type:"] }
    words += ["--data-raw", Self.quoted(body)]
    return words.joined(separator: " ")
  }

  /// Whether curl can request the URL, and cannot mistake it for an option.
  private var hasWebScheme: Bool {
    ["http://", "https://"].contains { url.lowercased().utf8.starts(with: $0.utf8) }
  }

  /// Whether curl adds a field itself. Browsers also record the pseudo-header fields of HTTP/2, such as `:path`.
  private static func isImplied(_ name: HTTPFieldName) -> Bool {
    name.rawValue.utf8.first == UInt8(ascii: ":") || ["Content-Length", "Host"].contains(name)
  }

  /// A word of the command. An argument of a program cannot contain a zero byte.
  private static func quoted(_ text: String) -> String {
    ShellText.quoted(text.replacingBytes(of: "\0", with: "\u{FFFD}"))
  }
}
