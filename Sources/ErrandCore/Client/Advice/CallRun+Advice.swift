import ErrandJSON
import ErrandSupport
import Foundation

/// Warnings about mistakes in the declaration of a request type. Each is written once per type and process, and only in
/// debug builds, so that release builds do no work for them.
extension CallRun {
  /// Warns about properties that the client ignores, a method in the wrong case, a body without a method, a form that
  /// is labelled as JSON, retries that cannot apply, a body that a second call cannot send, and an argument that
  /// repeats a name of the path's query.
  func advise(on built: HTTPRequest, _ plan: CallPlan) {
    adviseOnProperties(of: built)
    adviseOnMethod(of: built)
    adviseOnGET(built)
    adviseOnContentType(of: built)
    adviseOnRetries(of: built, plan)
    adviseOnBody(of: built)
    adviseOnQuery(of: built)
  }

  /// Warns about stored properties that the client never reads; see ``IgnoredProperties``. `built` is nil if the
  /// request cannot be built. A request with a link sends no arguments, so it does not show whether a property is read.
  func adviseOnProperties(of built: HTTPRequest? = nil) {
    let request = info.request
    guard kind.isOrdinary, Advice.properties.isOpen(type(of: request)) else { return }
    let sentences = IgnoredProperties.sentences(about: request, built: built)
    if !sentences.isEmpty, request.path.isLink { return }
    if Advice.properties.take(type(of: request)) { warn(sentences) }
  }

  /// Warns about a method such as "post", because methods are case-sensitive and most servers reject it.
  private func adviseOnMethod(of built: HTTPRequest) {
    let (method, right) = (built.method.rawValue, built.method.rawValue.uppercased())
    let known = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "QUERY"]
    guard kind.isOrdinary, method != right, known.contains(right), Advice.methods.take(type(of: info.request)) else {
      return
    }
    warn([
      "the method \"\(method)\" is not \(right), because methods are case-sensitive (RFC 9110 section 9.1); "
        + "declare it as `.\(right.lowercased())`."
    ])
  }

  /// Warns about a GET request with a body, because most servers ignore this body. Usually the declaration of the
  /// method is missing. A HEAD request with a body is an error of the call. A request of `finishedRequest()` names its
  /// method and its body in one place, so it needs no warning.
  private func adviseOnGET(_ built: HTTPRequest) {
    guard kind.isOrdinary, built.method == .get, let body = built.body, body.length != 0,
      (try? info.request.finishedRequest()) == nil, Advice.bodiesOfGET.take(type(of: info.request))
    else {
      return
    }
    let other =
      info.request.body == nil
      ? ", or set `arguments` of `formats` to `.jsonByMethod` or `.byMethod`, so that they go into the query." : "."
    warn([
      "the method is GET, and most servers ignore the body of a GET (RFC 9110 section 9.3.1); declare `method` as "
        + "`.post`, or as `.query` if the request only reads" + other
    ])
  }

  /// Warns if the request or the call labels a form as JSON, because no server can read such a body.
  private func adviseOnContentType(of built: HTTPRequest) {
    // JSON of `finishedRequest()` begins with a bracket, a form never does.
    guard kind.isOrdinary, let label = built.fields.mediaType, label.isJSON, let first = built.body?.data?.first,
      first != UInt8(ascii: "{"), first != UInt8(ascii: "["), sendsForm(info.request),
      Advice.contentTypes.take(type(of: info.request))
    else {
      return
    }
    warn([
      "the field Content-Type is \(label.essence), but the body is a form; if the server reads JSON, remove the field, "
        + "and declare `formats` as `.json` or the `body` as `.json(…)`."
    ])
  }

  private func sendsForm(_ request: any APIRequest) -> Bool {
    guard let body = request.body else {
      return !request.arguments.isEmpty && [.form, .byMethod].contains(formats.arguments)
    }
    if case .form = body.content { return true }
    return false
  }

  /// Warns if a call or its request declares retries for a request that must not be sent twice. Retries of the client
  /// are meant for all its requests, so they need no warning.
  private func adviseOnRetries(of built: HTTPRequest, _ plan: CallPlan) {
    guard kind.isOrdinary, plan.sending.retries.sendsAgain, plan.sending.idempotency == .byMethod,
      !built.method.isIdempotent
    else {
      return
    }
    let declared = options.retries.filled(by: info.request.retries)
    guard !declared.isInherited, Advice.retries.take(type(of: info.request)) else { return }
    warn([
      "`retries` applies only to failures before the request is sent, because \(built.method) is not idempotent "
        + "(RFC 9110 section 9.2.2); declare `idempotency` as `.keyed()` or `.assumed` if the server recognises "
        + "repeated requests, or as `.never` if this is intended."
    ])
  }

  /// Warns if the property `body` makes a new body of a source that can be read only once, at each reading. The body of
  /// a second call then does not know that the source is used up, and sends nothing, without an error.
  private func adviseOnBody(of built: HTTPRequest) {
    let request = info.request
    let type = type(of: request)
    guard kind.isOrdinary, built.body?.isReplayable == false, Advice.bodies.isOpen(type),
      let first = request.body?.singleUses, let second = request.body?.singleUses,
      zip(first, second).contains(where: { !$0.sharesReading(with: $1) }), Advice.bodies.take(type)
    else {
      return
    }
    warn([
      "each reading of `body` makes a new body whose source can be read only once, so a second call may send an empty "
        + "body; make the body once and store it: `let body: RequestBody?`, or, if each source gives the same bytes, "
        + "make a stream with `isReplayable: true`."
    ])
  }

  /// Warns if the URL repeats a name of the path's query with another value. A server uses one of the values, so a link
  /// to the next page may lead to the first page again.
  private func adviseOnQuery(of built: HTTPRequest) {
    let request = info.request
    // Only a URL that repeats a name needs the path, which is read a second time here.
    guard kind.isOrdinary, Self.repeatsName(built.url), Advice.queries.isOpen(type(of: request)) else { return }
    let path = request.path
    guard !path.isLink, let mark = path.text.utf8.firstIndex(of: UInt8(ascii: "?")),
      (try? request.finishedRequest()) == nil
    else { return }
    let query = path.text.utf8[mark...].dropFirst().prefix { $0 != UInt8(ascii: "#") }
    guard let name = repeatedName(of: String(Substring(query)), in: built.url),
      Advice.queries.take(type(of: request))
    else { return }
    warn([
      "the URL contains the argument \"\(name)\" of the path's query again with another value, and a server uses only "
        + "one of them; pass a link of a server as `RequestPath(link:)`, which adds no arguments, or remove the "
        + "argument."
    ])
  }

  private static func repeatsName(_ url: HTTPURL) -> Bool {
    let names = QueryPair.all(in: url.query ?? "").map(\.name)
    return Set(names).count < names.count
  }

  /// The first name of the path's query that the URL contains again with another value; nil if there is none.
  private func repeatedName(of query: String, in url: HTTPURL) -> String? {
    // A URL escapes the characters of a query that are not legal, so the query of the path is read as that of a URL.
    let own = QueryPair.all(in: (try? HTTPURL("http://h/?" + query))?.query ?? "")
    var others = QueryPair.all(in: url.query ?? "")
    for pair in own {
      if let place = others.firstIndex(of: pair) { others.remove(at: place) }
    }
    return others.first { pair in own.contains { $0.name == pair.name } && !own.contains(pair) }?.name.text
  }

  /// The largest body whose dates are checked, in bytes. The check decodes the body again.
  private static let mostChecked = 1 << 20

  /// Warns if the response type reads seconds since 1970 as seconds since 2001. The responses of a type are checked
  /// until eight of them had only right dates. Bodies over 16 KiB are checked on the global executor.
  func adviseOnDates(in response: HTTPResponse, _ rules: DecodingRules) async {
    let type = type(of: info.request)
    guard kind.isOrdinary, response.body.count <= Self.mostChecked, Advice.dates.isOpen(type) else { return }
    let isLarge = response.body.count > Validating.inlineLimit
    let dates =
      isLarge
      ? await onGlobalExecutor { typed.epochDates(in: response, rules) } : typed.epochDates(in: response, rules)
    switch dates {
    case .none: return
    case .right: Advice.dates.countTry(of: type)
    case .wrong(let path, let year, let strategy):
      guard Advice.dates.take(type) else { return }
      warn([
        "the date \(path) of the response is read as a date in the year \(year), because by default numbers count "
          + "seconds since 2001; if this server counts from 1970, set `jsonDecoding` of the `formats` to "
          + "`.fast(dates: \(strategy))`."
      ])
    }
  }

  private func warn(_ sentences: [String]) {
    guard !sentences.isEmpty else { return }
    let text = Redaction.visible("\(info.name): \(sentences.joined(separator: " "))")
    snapshot.configuration.warningLog(LogLine(level: .warning, call: info.id, text: text))
  }
}

/// A name and a value of a query, as they are written.
private struct QueryPair: Equatable {
  let name: ByteText
  let value: ByteText

  static func all(in query: String) -> [QueryPair] {
    query.utf8.split(separator: UInt8(ascii: "&")).map { pair in
      let name = pair.prefix { $0 != UInt8(ascii: "=") }
      return QueryPair(
        name: ByteText(String(Substring(name))), value: ByteText(String(Substring(pair[name.endIndex...]))))
    }
  }
}

/// The request types for which a warning was written, or that need none.
private enum Advice {
  static let properties = Types()
  static let methods = Types()
  static let bodiesOfGET = Types()
  static let contentTypes = Types()
  static let retries = Types()
  static let bodies = Types()
  static let queries = Types()
  static let dates = Types()

  final class Types: Sendable {
    private static let mostTries = 8
    private let tries = Locked<[ObjectIdentifier: Int]>([:])

    /// True at the first call for a type.
    func take(_ type: any Any.Type) -> Bool {
      tries.withLock { ($0.updateValue(.max, forKey: ObjectIdentifier(type)) ?? 0) < .max }
    }

    /// Whether a type was not taken, and was tried less than eight times.
    func isOpen(_ type: any Any.Type) -> Bool {
      tries.withLock { $0[ObjectIdentifier(type), default: 0] < Self.mostTries }
    }

    func countTry(of type: any Any.Type) {
      tries.withLock { tries in
        let count = tries[ObjectIdentifier(type), default: 0]
        if count < Self.mostTries { tries[ObjectIdentifier(type)] = count + 1 }
      }
    }
  }
}

extension ClientConfiguration {
  var warningLog: @Sendable (LogLine) -> Void {
    log ?? { try? FileHandle.standardError.write(contentsOf: Data("errand \($0)\n".utf8)) }
  }
}
