import ErrandSupport
import ErrandJSON
import Foundation

/// Builds the ``ErrandHTTP/HTTPRequest`` of an ``APIRequest``: the URL, the header fields and the body.
///
/// The type is a class, so that calls share the configuration instead of copying it.
final class RequestBuilder: Sendable {
  private let configuration: ClientConfiguration
  private let bases: BaseURLs
  /// Whether the additions of the client run code of the app while a request is built. Stored, because calls on many
  /// threads ask for it, and a copy of the additions would change the reference counts that these threads share.
  let runsAdditions: Bool
  /// The default header fields of every request, except `Accept`.
  private let defaults: [HTTPField]
  /// The default header fields of requests for JSON and for any type, including `Accept`. They are made once, because
  /// most requests use them.
  private let defaultsOfJSON, defaultsOfAny: HTTPFields

  init(
    _ configuration: ClientConfiguration, _ bases: BaseURLs, contentCodings: [String]
  ) {
    (self.configuration, self.bases) = (configuration, bases)
    runsAdditions = configuration.additions.runsCode
    let codings = contentCodings.joined(separator: ", ")
    defaults = [HTTPField(.acceptEncoding, codings), HTTPField(.userAgent, configuration.additions.userAgent)]
      .filter { !$0.value.isEmpty }
    defaultsOfJSON = HTTPFields([HTTPField(.accept, DecoderInput.json.accept)] + defaults)
    defaultsOfAny = HTTPFields([HTTPField(.accept, DecoderInput.bytes.accept)] + defaults)
  }

  private func defaults(accepting types: String) -> HTTPFields {
    switch types {
    case DecoderInput.json.accept: defaultsOfJSON
    case DecoderInput.bytes.accept: defaultsOfAny
    default: HTTPFields([HTTPField(.accept, types)] + defaults)
    }
  }

  /// - Parameter formats: The formats of the request, with those of its family and of the client filled in.
  func build<R: APIRequest>(
    _ request: R, _ family: SharedFamily?, _ options: CallOptions, _ input: DecoderInput, _ formats: Formats
  ) throws(APIError) -> HTTPRequest {
    do {
      try request.check()
    } catch {
      throw .build(.parameter, "a parameter is wrong", from: error)
    }
    if var finished = try finished(request) {
      addDefaults(to: &finished.fields)
      options.headers.apply(to: &finished.fields)
      addKey(request.idempotency, to: &finished.fields)
      return finished
    }
    let draft = try draft(of: request, family, formats)
    let url = try URLBuilder(style: formats.argumentStyle).url(draft.target, base: base(of: draft.target, request))
    var fields = defaults(accepting: input.accept(in: formats.shared))
    if let type = draft.body?.contentType { fields.append(HTTPField(.contentType, type)) }
    if let coding = draft.body?.coding { fields.append(HTTPField(.contentEncoding, coding)) }
    add(configuration.headers, to: &fields, of: draft, url, family)
    if let family { add(family.value.headers, to: &fields, of: draft, url, family) }
    request.headers.apply(to: &fields)
    options.headers.apply(to: &fields)
    if let body = draft.body {
      try Self.checkBoundary(of: body, in: fields)
      try Self.checkCharset(of: body, in: fields)
    }
    addKey(request.idempotency, to: &fields)
    return HTTPRequest(method: draft.method, url: url, fields: fields, body: draft.body?.body)
  }

  /// Refuses a `Content-Type` of the request or of the call that does not contain the boundary of a multipart body, and
  /// its removal. A server could not find the parts of such a body. Another type is sent: a server may only store the
  /// bytes.
  private static func checkBoundary(of body: BodyBuilder.Body, in fields: HTTPFields) throws(APIError) {
    guard body.contentType.hasPrefix("multipart/"), let boundary = MediaType(body.contentType)?["boundary"] else {
      return
    }
    guard fields.contains(.contentType) else {
      throw .build(
        .invalidHeader,
        "The field Content-Type is removed, so a server cannot find the parts of the multipart body; do not remove it,"
          + " because it contains the boundary of the body.")
    }
    guard let sent = fields.mediaType, sent.essence.hasPrefix("multipart/"),
      !sent["boundary"].hasSameBytes(as: boundary)
    else { return }
    throw .build(
      .invalidHeader,
      "The field Content-Type is \(sent.essence) without the boundary of the body, so a server cannot find the parts;"
        + " remove the field, because the body sets it.")
  }

  /// Refuses a `Content-Type` with another charset than UTF-8 for a text that is sent in UTF-8. A server would read
  /// other characters. A text in ASCII has the same bytes in nearly all charsets. The text of a compressed body is not
  /// known here.
  private static func checkCharset(of body: BodyBuilder.Body, in fields: HTTPFields) throws(APIError) {
    guard body.isText, body.coding == nil, fields[.contentType]?.utf8.contains(UInt8(ascii: ";")) == true,
      let type = fields.mediaType, let charset = type["charset"]?.lowercased(),
      !["", "utf-8", "utf8"].contains(charset), let text = body.body.data, !isASCII(text, inForm: type.isForm)
    else { return }
    throw .build(
      .invalidHeader,
      "The field Content-Type names the charset \"\(APIError.words(charset))\", but the text of the body is sent in"
        + " UTF-8; name utf-8, or send the bytes of the text in that charset with `RequestBody.bytes`.")
  }

  /// Whether a text in UTF-8 is ASCII. In a form, an escape such as `%C3` is a byte beyond ASCII.
  private static func isASCII(_ text: Data, inForm: Bool) -> Bool {
    guard text.allSatisfy({ $0 < 0x80 }) else { return false }
    return !inForm || zip(text, text.dropFirst()).allSatisfy { $0 != UInt8(ascii: "%") || $1 < UInt8(ascii: "8") }
  }

  /// Builds the HTTP request of an ``APIRequest`` for a call without call options.
  package func build(whole request: some APIRequest) throws(APIError) -> HTTPRequest {
    let family = request.family.map(SharedFamily.init)
    let formats = request.formats.filled(by: family?.value.formats).filled(by: configuration.formats)
    return try build(request, family, CallOptions(), request.decoder.input, formats)
  }

  /// Adds a header field with an idempotency key if the request declares one. Each call has a new key, which all
  /// attempts of the call send.
  private func addKey(_ idempotency: Idempotency, to fields: inout HTTPFields) {
    guard case .keyed(let name) = idempotency, !fields.contains(name) else { return }
    fields.append(HTTPField(name, UUID().uuidString.lowercased()))
  }

  // MARK: - Parts

  private struct Draft {
    var method: HTTPMethod
    var target: URLFilter.Target
    var body: BodyBuilder.Body?
  }

  private func draft<R: APIRequest>(
    of request: R, _ family: SharedFamily?, _ formats: Formats
  ) throws(APIError) -> Draft {
    let path = request.path
    if let refusal = path.refusal { throw .build(.invalidPath, Self.sentence(for: refusal, in: path)) }
    let method = request.method
    let (own, declaredBody) = (request.arguments, request.body)
    let place = declaredBody == nil ? Self.place(of: formats.arguments, method) : .query
    let common = configuration.additions.arguments?() ?? Arguments()
    var inherited = family?.value.arguments ?? Arguments()
    var target = try self.target(of: request, path, family)
    if !path.isLink {
      target.arguments = (place == .query ? own.merged(over: inherited) : Arguments()).merged(over: common)
    }
    do {
      for filter in configuration.additions.filters { try filter.apply(&target, request) }
    } catch {
      throw .build(.invalidURL, "a URL filter failed", from: error)
    }
    // The filters may have chosen another server, so the secrets are withheld now, and the body is made afterwards.
    var commonInBody = configuration.additions.bodyArguments
    if commonInBody != nil || !common.isEmpty || !inherited.isEmpty, !names(target.base, family) {
      withholdSecrets(common.merged(over: inherited), place == .query ? own : Arguments(), from: &target)
      inherited = inherited.withoutSecrets
      commonInBody = commonInBody.map { common in { @Sendable in common().withoutSecrets } }
    }
    let bodies = BodyBuilder(style: formats.argumentStyle, encoding: formats.jsonEncoding, common: commonInBody)
    let body: BodyBuilder.Body? =
      if let declaredBody {
        try bodies.body(declaredBody)
      } else {
        try Self.body(of: own, over: inherited, place, bodies)
      }
    return Draft(method: method, target: target, body: body)
  }

  private static func sentence(for refusal: RequestPath.Refusal, in path: RequestPath) -> String {
    switch refusal {
    case .dotSegment(let segment):
      "A variable makes \"\(segment)\" a segment of \"\(path)\", which would change the path; check the value of the"
        + " variable."
    case .emptySegment:
      "A variable that is a whole segment of \"\(path)\" is empty, which would change the path; check the value of the"
        + " variable."
    case .notFinite:
      "A variable of the path \"\(path)\" is not a finite number; pass a finite value."
    case .unfit(let type):
      "A variable of the path \"\(path)\" is a value of the type \(type), whose description is not made for servers;"
        + " write it as the text that the server reads."
    case .wholeURL(let url):
      "The path begins with a variable that is a whole URL, \"\(Redaction.url(url))\"; pass the URL as"
        + " `RequestPath(text)`, which is used as written."
    }
  }

  /// Removes secret arguments from a request to a server that is not in ``NamedServers``. An argument is secret if its
  /// name suggests a secret, such as `token`; the same applies to the members of objects in the values. Only arguments
  /// of the client and of the ``RequestFamily`` are changed. The arguments `own`, which the request itself adds to the
  /// query, stay.
  private func withholdSecrets(_ inherited: Arguments, _ own: Arguments, from target: inout URLFilter.Target) {
    let names = Set(inherited.entries.map { ByteText($0.name) }).subtracting(own.entries.map { ByteText($0.name) })
    target.arguments = target.arguments.removingSecrets { names.contains($0) }
  }

  /// True if the server of a base URL is one of the ``NamedServers`` of the client and the ``RequestFamily``.
  private func names(_ base: String, _ family: SharedFamily?) -> Bool {
    guard let url = try? bases.url(for: base) else { return true }
    return NamedServers(bases, family).contains(url.origin)
  }

  private func target(
    of request: some APIRequest, _ path: RequestPath, _ family: SharedFamily?
  ) throws(APIError) -> URLFilter.Target {
    if HTTPURL.isAbsolute(path.text) {
      let (head, tail) = URLBuilder.split(absolute: path.text)
      return URLFilter.Target(base: head, path: tail, arguments: Arguments())
    }
    return URLFilter.Target(base: try baseURL(of: request.server, family), path: path.text, arguments: Arguments())
  }

  /// The parsed URL of the server. If it was taken from an absolute path and cannot be parsed, the error shows the whole
  /// path, redacted: of `https://ada:S3cr/et@h.example`, the part before the slash would show half of the password.
  private func base(of target: URLFilter.Target, _ request: some APIRequest) throws(APIError) -> HTTPURL {
    do {
      return try bases.url(for: target.base)
    } catch {
      let path = request.path.text
      if HTTPURL.isAbsolute(path), URLBuilder.split(absolute: path).head.hasSameBytes(as: target.base) {
        _ = try BaseURLs.parse(path).get()
      }
      throw error
    }
  }

  private func baseURL(of server: RequestServer, _ family: SharedFamily?) throws(APIError) -> String {
    switch server {
    case .base: return family?.value.baseURL ?? configuration.servers.current.baseURL
    case .cdn:
      return family?.value.cdnURL ?? configuration.servers.current.cdnURL ?? family?.value.baseURL
        ?? configuration.servers.current.baseURL
    case .environment(let name):
      if let found = configuration.servers.environment(named: name) { return found.baseURL }
      let known = configuration.servers.names.joined(separator: ", ")
      throw .build(.invalidURL, "No environment is named \"\(name)\"; the client's environments are: \(known).")
    }
  }

  private enum ArgumentPlace { case query, form, json, formUnlessEmpty, jsonUnlessEmpty }

  private static func place(of format: ArgumentFormat, _ method: HTTPMethod) -> ArgumentPlace {
    switch format {
    case .query: return .query
    case .form: return .form
    case .json: return .json
    case .jsonByMethod where method.takesArgumentsInQuery, .byMethod where method.takesArgumentsInQuery,
      .inherited where method.takesArgumentsInQuery:
      return .query
    case .jsonByMethod: return .jsonUnlessEmpty
    case .byMethod, .inherited: return .formUnlessEmpty
    }
  }

  /// The body that contains the arguments; nil if the arguments go into the query, or if there are none.
  private static func body(
    of own: Arguments, over inherited: Arguments, _ place: ArgumentPlace, _ bodies: BodyBuilder
  ) throws(APIError) -> BodyBuilder.Body? {
    switch place {
    case .query: nil
    case .form, .formUnlessEmpty:
      try bodies.form(own.merged(over: inherited), unlessEmpty: place == .formUnlessEmpty)
    case .json, .jsonUnlessEmpty: try bodies.json(own, over: inherited, unlessEmpty: place == .jsonUnlessEmpty)
    }
  }

  private func finished(_ request: some APIRequest) throws(APIError) -> HTTPRequest? {
    do {
      return try request.finishedRequest()
    } catch {
      throw .build(.invalidURL, "the request of `finishedRequest()` could not be created", from: error)
    }
  }

  /// Adds the header fields of the client or of the ``RequestFamily``, without `Content-Type` if there is no body whose
  /// type is open. Leaves out secret fields if the method is TRACE, or if the server of the request is not in
  /// ``NamedServers``.
  private func add(
    _ inherited: RequestHeaders, to fields: inout HTTPFields, of draft: Draft, _ url: HTTPURL, _ family: SharedFamily?
  ) {
    guard !inherited.isEmpty else { return }
    let headers = draft.body?.isOpenType == true ? inherited : inherited.without(.contentType)
    let isShown =
      !headers.hasSecrets || draft.method.mayCarryStoredSecrets && NamedServers(bases, family).contains(url.origin)
    (isShown ? headers : headers.withoutSecrets).apply(to: &fields)
  }

  private func addDefaults(to fields: inout HTTPFields) {
    for field in [HTTPField(.accept, "*/*")] + defaults where !fields.contains(field.name) { fields.append(field) }
  }
}
