import Testing

@testable import ErrandGenerate

/// Drafts from recorded exchanges.
struct RecordingTests {
  private static let host = "https://api.tea-shop.example"

  private static func exchange(
    _ path: String, method: String = "GET", status: Int = 200, _ response: String? = nil, body: String? = nil,
    query: RecordedExchange.Arguments = [], fields: [(name: String, value: String)] = [], origin: String = host
  ) -> RecordedExchange {
    let content = { (text: String) in
      RecordedExchange.Content(type: "application/json; charset=utf-8", bytes: Array(text.utf8))
    }
    var exchange = RecordedExchange(method: method, origin: origin, path: path, status: status)
    (exchange.body, exchange.response) = (body.map(content), response.map(content))
    (exchange.query, exchange.fields) = (query, fields)
    return exchange
  }

  private static func files(_ exchanges: [RecordedExchange], host: String? = nil) throws -> [String: String] {
    let draft = try RecordingDraft(exchanges, host: host)
    let result = try RequestGenerator.generate(draft.document, source: "a.har", options: GenerateOptions()) { _ in [:] }
    #expect(result.notes.map(\.description) == [])
    return Dictionary(uniqueKeysWithValues: result.files.map { ($0.path, $0.text) })
  }

  /// The lines with the properties of a type for samples of a JSON value.
  private static func properties(_ samples: String...) throws -> [String] {
    let files = try files(samples.map { exchange("/things/1", $0) })
    let lines = (files["Models/Thing.swift"] ?? files["Requests/GetThing.swift"] ?? "").split(separator: "\n")
    return lines.map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("var ") && !$0.contains(" = ") }
      .map { String($0.dropFirst(4)) }
  }

  @Test(arguments: [
    ("/users/7", "/users/{user_id}"),
    ("/users/7/orders/550e8400-e29b-41d4-a716-446655440000", "/users/{user_id}/orders/{order_id}"),
    ("/blobs/3b18e512dba79e4c8300dd08aeb37f8e728b8dad", "/blobs/{blob_id}"),
    ("/v1/7", "/v1/{id}"), ("/users/7.json", "/users/{user_id}.json"), ("/days/2026-01-31", "/days/{day}"),
    ("/a/7/8", "/a/{a_id}/{id}"), ("/users/me", "/users/me"), ("/", "/"), ("/users/", "/users/"),
    ("/mail/ada@example.com", "/mail/{mail_id}"), ("/find/John%20Smith", "/find/{find_id}"),
    ("/reset/Zk3xq9PaW1", "/reset/{reset_id}"), ("/{a}/b", "/{id}/b"),
    ("/phones/+4912345678", "/phones/{phone_id}"), ("/hosts/192.168.0.1", "/hosts/{host_id}"),
    ("/months/2026-01", "/months/{month_id}"), ("/orders/ORD-12345", "/orders/{order_id}"),
    ("/users/123456.json", "/users/{user_id}.json"), ("/1.0/users", "/1.0/users"), ("/iso-8601", "/iso-8601"),
    ("/cart;sid=abc", "/{id}"), ("/.7", "/.7"), ("/address/7", "/address/{address_id}"),
  ])
  func `values in paths become variables`(path: String, template: String) {
    #expect(RecordedPath(path).template == template)
  }

  @Test func `a path can have many variables`() {
    let path = RecordedPath(String(repeating: "/1", count: 10_000))
    #expect(path.variables.count == 10_000 && path.template.hasSuffix("/{id9999}/{id10000}"))
  }

  @Test func `several values are one request`() throws {
    let files = try Self.files([
      Self.exchange("/api/v2/teas/7", "{}"), Self.exchange("/api/v2/teas/8", "{}"),
      Self.exchange("/api/v2/days/2026-01-31", "{}"), Self.exchange("/api/v2/files/1", "{}"),
      Self.exchange("/api/v2/files/550e8400-e29b-41d4-a716-446655440000", "{}"),
    ])
    #expect(
      files.keys.filter { $0.hasPrefix("Requests/") }.sorted() == [
        "Requests/GetDay.swift", "Requests/GetFile.swift", "Requests/GetTea.swift",
      ])
    #expect(files["TeaShop.swift"]?.contains(#"static let baseURL = "https://api.tea-shop.example/api/v2""#) == true)
    #expect(files["Requests/GetTea.swift"]?.contains("var teaID: Int\n") == true)
    #expect(files["Requests/GetFile.swift"]?.contains("var fileID: String\n") == true)
  }

  @Test func `samples are merged`() throws {
    #expect(try Self.properties(#"{"a": 1, "b": "x"}"#, #"{"a": 2}"#) == ["a: Int", "b: String?"])
    #expect(try Self.properties(#"{"a": null}"#, #"{"a": "x"}"#) == ["a: String?"])
    #expect(try Self.properties(#"{"a": 1}"#, #"{"a": 2.5}"#) == ["a: Double"])
    #expect(try Self.properties(#"{"a": 1}"#, #"{"a": "x"}"#) == ["a: JSONValue"])
    #expect(try Self.properties(#"{"a": []}"#, #"{"a": [true]}"#) == ["a: [Bool]"])
    #expect(try Self.properties(#"{"a": []}"#) == ["a: [JSONValue]"])
    #expect(try Self.properties(#"{"a": "2026-01-31T12:00:00Z"}"#) == ["a: Date"])
    #expect(try Self.properties(#"{"a": "2026-01-31"}"#, #"{"a": ""}"#) == ["a: String"])
    #expect(
      try Self.properties(#"{"a": {"b": 1}}"#, #"{"a": {"c": [{"d": 1}, {}]}}"#) == [
        "a: A", "b: Int?", "c: [CItem]?", "d: Int?",
      ])
    #expect(try Self.properties(#"{"a": {"17": 1, "18": 2}}"#) == ["a: [String: Int]"])
  }

  @Test(arguments: [
    #"{"addressLine1": 1, "city": 2}"#, #"{"@odata.context": 1, "value": 2}"#, #"{"sha256Hash": 1, "size": 2}"#,
    #"{"items@odata.count": 1, "items": 2}"#, #"{"@type": 1}"#, #"{"+1": 1, "-1": 2}"#,
    #"{"q1_2024": 1}"#, #"{"base64Data": 1, "utf8Base64Text": 2, "a": 3}"#,
  ])
  func `names with digits and signs are names`(object: String) throws {
    #expect(try Self.properties(#"{"a": \#(object)}"#).first == "a: A")
  }

  @Test(arguments: [
    "17", "2026-01-31", "550e8400-e29b-41d4-a716-446655440000", "ada@example.com", "a%20b", "Zk3xq9PaW1", "3b18e512",
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9eyJzdWIi", "a=b", "192.168.0.1", "2026-01", "+4912345678", "10:30",
    "2026-01-31T12:00:00Z",
  ])
  func `a value among the keys makes a dictionary`(key: String) throws {
    #expect(try Self.properties(#"{"a": {"\#(key)": 1, "city": 2}}"#) == ["a: [String: Int]"])
  }

  @Test func `one sample with unclear keys makes a dictionary`() throws {
    #expect(try Self.properties(#"{"a": {"code": 1}}"#, #"{"a": {"canary7f3c": 1}}"#) == ["a: [String: Int]"])
    #expect(try Self.properties(#"{"a": {"canary7f3c": 1}}"#, #"{"a": {"code": 1}}"#) == ["a: [String: Int]"])
  }

  @Test func `the type of a JSON body is kept`() throws {
    var exchange = Self.exchange("/a/1", method: "PATCH", status: 204)
    for (type, isWritten) in [("application/merge-patch+json", true), ("application/json; charset=utf-8", false)] {
      exchange.body = .init(type: type, bytes: Array(#"{"a": 1}"#.utf8))
      let text = try Self.files([exchange])["Requests/PatchA.swift"] ?? ""
      #expect(text.contains(#""Content-Type": "\#(type)""#) == isWritten && text.contains("var a: Int"), "\(text)")
    }
  }

  @Test func `lists and details share a type`() throws {
    let files = try Self.files([
      Self.exchange("/teas", #"{"teas": [{"id": 1}], "total": 1}"#),
      Self.exchange("/teas/1", #"{"id": 1, "name": "Assam", "tags": [{"word": "black"}]}"#),
      Self.exchange("/teas", method: "POST", status: 201, #"{"id": 2}"#, body: #"{"name": "Sencha"}"#),
      Self.exchange("/teas/1", method: "DELETE", status: 204),
    ])
    #expect(files["Models/Tea.swift"]?.contains("var name: String?") == true)
    #expect(files["Requests/GetTeas.swift"]?.contains("var teas: [Tea]") == true)
    #expect(files["Requests/GetTea.swift"]?.contains("typealias Response = Tea\n") == true)
    #expect(files["Requests/PostTeas.swift"]?.contains("typealias Response = Tea\n") == true)
    #expect(files["Requests/DeleteTea.swift"]?.contains("typealias Response = Nothing\n") == true)
  }

  @Test func `arguments that are missing are optional`() throws {
    let files = try Self.files([
      Self.exchange("/teas", query: [("page", "1"), ("kind", "green"), ("kind", "7")], fields: [("X-Shop", "1")]),
      Self.exchange("/teas", query: [("page", "2"), ("all", "true")]),
    ])
    let text = files["Requests/GetTeas.swift"] ?? ""
    for line in ["var page: Int\n", "var kind: [String]?", "var all: Bool?", "var xShop: String?"] {
      #expect(text.contains(line), "\(text)")
    }
  }

  @Test func `errors have a type by status`() throws {
    let files = try Self.files([
      Self.exchange("/teas/1", "{}"), Self.exchange("/teas/2", status: 404, #"{"code": 4}"#),
      Self.exchange("/pots/2", status: 500, #"{"code": 5, "hint": "x"}"#),
    ])
    #expect(files["Models/FailureBody.swift"]?.contains("var hint: String?") == true)
    #expect(files["TeaShop.swift"]?.contains("where ErrorBody == FailureBody") == true)
  }

  @Test func `forms become properties`() throws {
    var exchange = Self.exchange("/login", method: "POST", status: 204)
    exchange.body = .init(
      type: "application/x-www-form-urlencoded", bytes: Array("user=ada&pin=1".utf8),
      form: [("user", "ada"), ("pin", "1")])
    let text = try Self.files([exchange])["Requests/PostLogin.swift"] ?? ""
    #expect(text.contains("var user: String") && text.contains("var pin: Int"), "\(text)")
  }

  @Test func `no value is written`() throws {
    let secret = "canary7f3c"
    let files = try Self.files([
      Self.exchange(
        "/a/\(secret)", method: "POST", status: 201, #"{"token": "\#(secret)", "n": 918273}"#, body: #"["\#(secret)"]"#,
        query: [("key", secret)],
        fields: [
          ("Authorization", "Bearer \(secret)"), ("Cookie", "sid=\(secret)"), ("X-Api-Key", secret), ("X-Own", secret),
          ("Referer", secret), ("User-Agent", secret),
        ]),
      Self.exchange("/a/\(secret)", method: "POST", status: 400, #"{"\#(secret)": {"error": "\#(secret)"}}"#),
    ])
    for (path, text) in files {
      #expect(!path.contains(secret) && !text.lowercased().contains(secret) && !text.contains("918273"), "\(text)")
    }
    #expect(files["TeaShop.swift"]?.contains(#"headers["x-api-key"] = .secret(key)"#) == true)
    #expect(files["TeaShop.swift"]?.contains(".bearer(token)") == true)
  }

  @Test(arguments: [
    ("canary7f3c", ""), (#"{"user":"canary"}"#, ""), (#"{"user":"canary","pad":"a"#, #"="}"#),
    ("canary@example.com", "1"), ("918273", "1"),
  ])
  func `names of arguments are no values`(name: String, value: String) throws {
    var exchange = Self.exchange("/find", method: "POST", status: 204)
    exchange.query = [(name, value), ("recursive", ""), ("q", "x")]
    exchange.body = .init(
      type: "application/x-www-form-urlencoded", bytes: nil, form: [(name, value), ("user", "ada")])
    let text = try Self.files([exchange])["Requests/PostFind.swift"] ?? ""
    #expect(!text.contains("canary") && !text.contains("918273"), "\(text)")
    for line in ["var recursive: String\n", "var q: String\n", "var user: String\n"] {
      #expect(text.contains(line), "\(text)")
    }
  }

  @Test func `zeros before a number are kept`() throws {
    let files = try Self.files([Self.exchange("/teas/007", "{}"), Self.exchange("/teas/8", "{}")])
    #expect(files["Requests/GetTea.swift"]?.contains("var teaID: String\n") == true)
  }

  @Test func `the draft says what it is`() throws {
    let exchanges = [
      Self.exchange("/a", #"{"x": 1}"#), Self.exchange("/b", #"{"y": 1}"#),
      Self.exchange("/c", origin: "https://other.example"),
    ]
    let files = try Self.files(exchanges)
    let comment = "/// A draft from 2 recorded exchanges with api.tea-shop.example."
    #expect(files["TeaShop.swift"]?.contains(comment) == true)
    #expect(try Self.files(exchanges) == files)
    #expect(try Self.files([exchanges[1], exchanges[2], exchanges[0]]) == files)
  }

  @Test func `the host is chosen`() throws {
    var page = Self.exchange("/page", origin: "https://www.example")
    page.response = .init(type: "text/html", bytes: [])
    let exchanges = [
      Self.exchange("/a", origin: "https://b.example:8443"), Self.exchange("/a"), Self.exchange("/b"),
      Self.exchange("/old", status: 301, origin: "https://c.example"), page, page, page,
    ]
    let draft = try RecordingDraft(exchanges, host: nil)
    #expect(draft.host == "api.tea-shop.example")
    #expect(draft.otherHosts == ["b.example:8443"])
    #expect(try RecordingDraft(exchanges, host: "B.example").host == "b.example:8443")
    #expect(throws: RecordingDraft.NoExchanges.self) { try RecordingDraft(exchanges, host: "c.example") }
    #expect(throws: RecordingDraft.NoExchanges.self) { try RecordingDraft([page], host: nil) }
  }
}
