/// Writes the protocol and the settings that all requests of a document share.
struct FamilyWriter {
  let access: String
  let family: String
  let error: String?
  let usesDates: Bool

  func write(_ root: Cursor, to text: inout SwiftText) {
    text.doc(["A request of \(root["info"]?.text("title") ?? family)."])
    let errors = error.map { " where ErrorBody == \($0)" } ?? ""
    text.line("\(access)protocol \(family)Request: APIRequest\(errors) {}")
    text.blank()
    text.block("extension \(family)Request") { text in
      text.line("\(access)var family: RequestFamily? { \(family).family }")
    }
    text.blank()
    text.doc([root["info"]?.text("description") ?? ""].filter { !$0.isEmpty } + securityDoc(root))
    text.block("\(access)enum \(family)") { text in
      writeServers(root, &text)
      writeFamily(root, &text)
    }
  }

  private func writeServers(_ root: Cursor, _ text: inout SwiftText) {
    let servers = root["servers"]?.elements ?? []
    let urls = servers.compactMap(Self.url)
    guard let first = urls.first else { return }
    var doc = ["The base URL for a client: `APIClient(baseURL: \(family).baseURL)`."]
    if !first.hasPrefix("http") { doc.append("The document names only a path; put the server before it.") }
    for (server, url) in zip(servers, urls).dropFirst() {
      doc.append("Another server: \(url)\(server.text("description").map { " (\($0))" } ?? "")")
    }
    text.doc(doc)
    text.line("\(access)static let baseURL = \(SwiftText.literal(first))")
  }

  /// The URL of a server with the defaults of its variables.
  static func url(_ server: Cursor) -> String? {
    guard let url = server.text("url") else { return nil }
    return PathTemplate(url).parts.enumerated().map { index, part in
      index % 2 == 0 ? part : server["variables"]?[part]?.node["default"]?.scalarText ?? "{\(part)}"
    }.joined()
  }

  private func writeFamily(_ root: Cursor, _ text: inout SwiftText) {
    let title = SwiftText.literal(root["info"]?.text("title") ?? family)
    var formats = ["arguments: .query", "argumentStyle: ArgumentStyle()"]
    if usesDates {
      formats += [
        "jsonDecoding: .fast(dates: .custom(date))", "jsonEncoding: .fast(dates: .iso8601WithFractionalSeconds)",
      ]
    }
    let (start, joint, end) = usesDates ? ("\n  ", ",\n  ", "\n") : ("", ", ", "")
    let item = "formats: Formats(\(start)\(formats.joined(separator: joint))\(end))"
    text.blank()
    text.doc(["The settings that all requests share."])
    text.list("\(access)static let family = RequestFamily(", [title, item], ")")
    guard usesDates else { return }
    text.blank()
    text.doc(["Reads a date of RFC 3339, with or without fractions of a second."])
    text.block("@Sendable private static func date(_ decoder: any Decoder) throws -> Date") { text in
      text.line("let container = try decoder.singleValueContainer()")
      text.line("let text = try container.decode(String.self)")
      text.line("let fractions = Date.ISO8601FormatStyle(includingFractionalSeconds: true)")
      text.line(
        "if let date = (try? Date(text, strategy: .iso8601)) ?? (try? Date(text, strategy: fractions)) { return date }")
      text.line(
        "throw DecodingError.dataCorruptedError(in: container, debugDescription: \"expected a date of RFC 3339\")")
    }
  }

  /// How a client gets the credentials that the document describes.
  private func securityDoc(_ root: Cursor) -> [String] {
    (root["components"]?["securitySchemes"]?.members ?? []).compactMap { name, scheme in
      let title = "Credential “\(name)”: "
      let field = SwiftText.literal(scheme.text("name") ?? "")
      switch (scheme.text("type"), scheme.text("scheme")?.lowercased(), scheme.text("in")) {
      case ("http", "basic", _):
        return title + "`configuration.credentials = FixedCredential(.basic(user: user, password: password))`"
      case ("http", "bearer", _), ("oauth2", _, _), ("openIdConnect", _, _):
        return title + "`configuration.credentials = FixedCredential(.bearer(token))`"
      case ("apiKey", _, "header"): return title + "`configuration.headers[\(field)] = .secret(key)`"
      case ("apiKey", _, "query"): return title + "`configuration.additions.arguments = { [\(field): key] }`"
      case ("apiKey", _, "cookie"):
        return title + "a cookie named \(field), by the client's cookie jar or the field Cookie."
      default: return nil
      }
    }
  }
}
