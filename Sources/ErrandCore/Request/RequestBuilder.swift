import ErrandSupport
import ErrandJSON
import Foundation

/// Makes the ``ErrandHTTP/HTTPRequest`` of an ``APIRequest``: URL, fields and body, in one pass each.
///
/// A class, so that a call shares the configuration instead of copying it.
final class RequestBuilder: Sendable {
  private let configuration: ClientConfiguration
  /// The environment's base URL as it was parsed when the configuration was set.
  private let base: Result<HTTPURL, APIError>
  /// Those of CDNs, families and absolute URLs, as they were parsed at their first use.
  private let otherBases = Locked<[ByteText: HTTPURL]>([:])
  /// The origins that the client names.
  let origins: Set<HTTPURL.Origin>
  /// The fields that every request has where nobody says anything else, all but `Accept`.
  private let defaults: [HTTPField]
  /// The same with `Accept` for JSON, which most requests have.
  private let defaultsOfJSON: HTTPFields

  init(_ configuration: ClientConfiguration, base: Result<HTTPURL, APIError>, contentCodings: [String]) {
    self.configuration = configuration
    self.base = base
    origins = Self.origins(in: configuration)
    let codings = contentCodings.joined(separator: ", ")
    defaults = [HTTPField(.acceptEncoding, codings), HTTPField(.userAgent, configuration.userAgent)]
      .filter { !$0.value.isEmpty }
    defaultsOfJSON = HTTPFields([HTTPField(.accept, Self.json)] + defaults)
  }

  private static let json = "application/json"

  func build<R: APIRequest>(
    _ request: R, _ family: RequestFamily?, _ options: CallOptions, _ decoder: ResponseDecoder<R.Response>
  ) throws(APIError) -> HTTPRequest {
    do {
      try request.check()
    } catch {
      if let error = error as? APIError { throw error }
      throw .build(.parameter, APIError.sentence("a parameter is wrong: \(error)"), cause: error)
    }
    if var finished = try finished(request) {
      addDefaults(to: &finished.fields)
      options.headers.apply(to: &finished.fields)
      addKey(request.idempotency, to: &finished.fields)
      return finished
    }
    let draft = try draft(of: request, family)
    let url = try URLBuilder(style: draft.style).url(draft.target, base: cachedBase(for: draft.target.base))
    let accept = decoder.accept(in: family?.responseFormat ?? configuration.responseFormat)
    var fields = accept == Self.json ? defaultsOfJSON : HTTPFields([HTTPField(.accept, accept)] + defaults)
    if let type = draft.body?.contentType { fields.append(HTTPField(.contentType, type)) }
    if let coding = draft.body?.coding { fields.append(HTTPField(.contentEncoding, coding)) }
    if !configuration.headers.isEmpty { shown(configuration.headers, to: url.origin, family).apply(to: &fields) }
    if let family { shown(family.headers, to: url.origin, family).apply(to: &fields) }
    request.headers.apply(to: &fields)
    options.headers.apply(to: &fields)
    askForOriginal(&fields)
    addKey(request.idempotency, to: &fields)
    return HTTPRequest(method: draft.method, url: url, fields: fields, body: draft.body?.body)
  }

  /// Makes what a request alone would send, without the options of any call.
  package func build(whole request: some APIRequest) throws(APIError) -> HTTPRequest {
    try build(request, request.family, CallOptions(), request.decoder)
  }

  /// A range counts the bytes of the coded body, so a piece of one could not be decoded: with a `Range` the body is
  /// asked for as it is (RFC 9110 section 14.2), unless the codings were set by hand.
  private func askForOriginal(_ fields: inout HTTPFields) {
    let codings = fields.values(of: .acceptEncoding)
    let standard = defaults.first { $0.name == .acceptEncoding }?.value
    guard fields.contains("Range"), let standard, codings == [standard] else { return }
    fields.replace(HTTPField(.acceptEncoding, "identity"))
  }

  /// A new key for each call; it stays the same over the call's attempts.
  private func addKey(_ idempotency: Idempotency, to fields: inout HTTPFields) {
    guard case .keyed(let name) = idempotency, !fields.contains(name) else { return }
    fields.append(HTTPField(name, UUID().uuidString.lowercased()))
  }

  // MARK: - Parts

  private struct Draft {
    var method: HTTPMethod
    var target: URLFilter.Target
    var body: BodyBuilder.Body?
    var style: ArgumentStyle
  }

  private func draft<R: APIRequest>(of request: R, _ family: RequestFamily?) throws(APIError) -> Draft {
    let path = request.path
    if let segment = path.refusedSegment {
      throw .build(
        .invalidPath,
        "A variable makes \"\(segment)\" a segment of \"\(path)\", which would change the path; check the value.")
    }
    let style = request.argumentStyle ?? family?.argumentStyle ?? configuration.argumentStyle
    let method = request.method
    var (query, body) = try arguments(of: request, path, method, family, style)
    let common = configuration.commonArguments?() ?? Arguments()
    query = query.merged(over: common)
    var target = try self.target(of: request, path, family)
    target.arguments = query
    do {
      for filter in configuration.filters { try filter.apply(&target, request) }
    } catch {
      if let error = error as? APIError { throw error }
      throw .build(.invalidURL, APIError.sentence("a URL filter failed: \(error)"), cause: error)
    }
    withholdSecrets(common.merged(over: family?.arguments ?? Arguments()), of: request, family, from: &target)
    return Draft(method: method, target: target, body: body, style: style)
  }

  /// Removes what client and family say under the names of secrets where they do not name the server; what the request
  /// itself says stays.
  private func withholdSecrets(
    _ inherited: Arguments, of request: some APIRequest, _ family: RequestFamily?, from target: inout URLFilter.Target
  ) {
    let secrets = inherited.secretNames
    guard !secrets.isEmpty, !names(target.base, family) else { return }
    let own = Set(request.arguments.entries.map { ByteText($0.name) })
    for name in secrets where !own.contains(ByteText(name)) { target.arguments[name] = nil }
  }

  /// Whether client or family name the server of a base URL.
  private func names(_ base: String, _ family: RequestFamily?) -> Bool {
    guard let url = try? cachedBase(for: base) else { return true }
    return NamedServers(self, family).contains(url.origin)
  }

  /// Whether a path is an absolute URL of a server that client and family do not name.
  private func isForeign(_ path: String, _ family: RequestFamily?) -> Bool {
    HTTPURL.isAbsolute(path) && !names(URLBuilder.split(absolute: path).0, family)
  }

  private func target(
    of request: some APIRequest, _ path: RequestPath, _ family: RequestFamily?
  ) throws(APIError) -> URLFilter.Target {
    if HTTPURL.isAbsolute(path.text) {
      let (head, tail) = URLBuilder.split(absolute: path.text)
      return URLFilter.Target(base: head, path: tail, arguments: Arguments())
    }
    return URLFilter.Target(base: try baseURL(of: request.server, family), path: path.text, arguments: Arguments())
  }

  private func baseURL(of server: RequestServer, _ family: RequestFamily?) throws(APIError) -> String {
    switch server {
    case .base: return family?.baseURL ?? configuration.environment.baseURL
    case .cdn:
      return family?.cdnURL ?? configuration.environment.cdnURL ?? family?.baseURL ?? configuration.environment.baseURL
    case .environment(let name):
      if let found = configuration.environments.first(where: { $0.name == name }) { return found.baseURL }
      if configuration.environment.name == name { return configuration.environment.baseURL }
      let known = ([configuration.environment] + configuration.environments).map(\.name).joined(separator: ", ")
      throw .build(.invalidURL, "There is no environment \"\(name)\"; the client knows: \(known).")
    }
  }

  func cachedBase(for text: String) throws(APIError) -> HTTPURL {
    if text.hasSameBytes(as: configuration.environment.baseURL) { return try base.get() }
    if let known = otherBases.withLock({ $0[ByteText(text)] }) { return known }
    let parsed = try Self.parse(base: text).get()
    otherBases.withLock { bases in
      if bases.count >= Self.rememberedBases { bases.removeAll() }
      bases[ByteText(text)] = parsed
    }
    return parsed
  }

  private static let rememberedBases = 64

  /// The origins of all servers that a configuration names.
  private static func origins(in configuration: ClientConfiguration) -> Set<HTTPURL.Origin> {
    let urls = ([configuration.environment] + configuration.environments).flatMap { environment in
      [environment.baseURL, environment.cdnURL].compactMap { $0 } + environment.fallbackURLs
    }
    return Set(urls.compactMap { try? HTTPURL($0).origin })
  }

  static func parse(base text: String) -> Result<HTTPURL, APIError> {
    do {
      return .success(try HTTPURL(text))
    } catch {
      let isMissing = text.isEmpty
      let clause = isMissing ? "the client has no base URL; set one, or give an absolute URL as path" : "\(error)"
      return .failure(.build(.invalidURL, APIError.sentence(clause), cause: error))
    }
  }

  private func arguments(
    of request: some APIRequest, _ path: RequestPath, _ method: HTTPMethod, _ family: RequestFamily?,
    _ style: ArgumentStyle
  ) throws(APIError) -> (query: Arguments, body: BodyBuilder.Body?) {
    var inherited = family?.arguments ?? Arguments()
    var common = configuration.commonBodyArguments
    if common != nil || !inherited.isEmpty, isForeign(path.text, family) {
      inherited = inherited.withoutSecrets
      common = common.map { common in { @Sendable in common().withoutSecrets } }
    }
    let own = request.arguments.merged(over: inherited)
    let bodies = BodyBuilder(
      style: style, encoding: request.jsonEncoding ?? configuration.jsonEncoding, common: common)
    if let body = request.body { return (own, try bodies.body(body)) }
    switch request.argumentFormat {
    case .query: return (own, nil)
    case .form: return (Arguments(), try bodies.form(own))
    case .json: return (Arguments(), try bodies.json(own))
    case .byMethod where method.takesArgumentsInQuery: return (own, nil)
    case .byMethod: return (Arguments(), try bodies.formUnlessEmpty(own))
    }
  }

  private func finished(_ request: some APIRequest) throws(APIError) -> HTTPRequest? {
    do {
      return try request.finishedRequest()
    } catch {
      if let error = error as? APIError { throw error }
      throw .build(.invalidURL, APIError.sentence("the finished request could not be made: \(error)"), cause: error)
    }
  }

  /// What client or family say, without its secrets where they do not name the server.
  private func shown(_ headers: RequestHeaders, to origin: HTTPURL.Origin, _ family: RequestFamily?) -> RequestHeaders {
    guard headers.hasSecrets, !NamedServers(self, family).contains(origin) else { return headers }
    return headers.withoutSecrets
  }

  private func addDefaults(to fields: inout HTTPFields) {
    for field in [HTTPField(.accept, "*/*")] + defaults where !fields.contains(field.name) { fields.append(field) }
  }
}
