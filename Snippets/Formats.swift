// Responses and bodies that are not JSON: XML, property lists and forms.
import Errand
import ErrandCore
import ErrandTesting
import ErrandXML
import Foundation

// snippet.xml
struct GetCatalog: APIRequest {
  var path: Path { "/catalog.xml" }
  var validation: ResponseValidation {
    ResponseValidation(contentTypes: ["application/xml", "text/xml", "application/atom+xml"])
  }
  var decoder: ResponseDecoder<Catalog> { .xml() }
}

struct Catalog: Decodable, Sendable {
  struct Book: Decodable, Sendable {
    let id: String  // <book id="7">: no child has this name, so it is the attribute
    let title: String
    let price: Decimal
    let author: [String]  // every <author> of the book; an empty array if there is none
  }
  let issued: Date?
  let book: [Book]
}
// snippet.end

let catalogText = """
  <catalog>
    <issued>2026-01-31T10:00:00Z</issued>
    <book id="7"><title>Tea &amp; I</title><price>12.50</price><author>A. B.</author></book>
  </catalog>
  """
let server = try LoopbackServer { request in
  switch request.path {
  case "/catalog.xml", "/soap": .data(catalogText.utf8, contentType: "application/xml")
  case "/fault": .data("<fault><code>7</code></fault>".utf8, contentType: "text/xml", status: 400)
  case "/token":
    .data("oauth_token=a%2Fb&scope=x".utf8, contentType: "application/x-www-form-urlencoded")
  default: .data(request.body, contentType: "application/x-plist")
  }
}
let client = APIClient(baseURL: server.url)

// snippet.keys
struct Price: Decodable, Sendable {  // <price currency="EUR">12.50</price>
  enum CodingKeys: String, CodingKey { case currency = "@currency", amount = "#text" }
  let currency: String
  let amount: Decimal
}
// snippet.end

let catalog = try await client.send(GetCatalog())
print(catalog.book.first?.title ?? "none")

// snippet.document
struct GetDocument: APIRequest {
  var path: Path { "/catalog.xml" }
  var decoder: ResponseDecoder<XMLValue> { .xml(limits: XMLLimits(depth: 20, nodes: 50_000)) }
}

let document = try await client.send(GetDocument())
for book in document.children("book") {
  print(book.attributes["id"] ?? "", book["title"]?.text ?? "")
}
// snippet.end

// snippet.soap
struct Call: APIRequest {
  var path: Path { "/soap" }
  var method: HTTPMethod { .post }
  var body: RequestBody? {
    let order = XMLValue("order", namespace: "urn:shop", content: [.text("tea & cake")])
    return .xml(XMLValue("calls", content: [.element(order)]))
  }
  var decoder: ResponseDecoder<XMLValue> { .xml() }
}
// snippet.end
print(try await client.send(Call()).name)

// snippet.fault
struct Fault: Decodable, Sendable {
  let code: Int
}

struct Failing: APIRequest {
  var path: Path { "/fault" }
  var decoder: ResponseDecoder<XMLValue> { .xml() }
}

do {
  _ = try await client.send(Failing())
} catch {
  if let fault = error.body(as: Fault.self, by: XMLFormat()) { print(fault.code) }
}
// snippet.end

// snippet.plist
struct Settings: Codable, Sendable {
  var name: String
  var sounds: Bool
}

struct SaveSettings: APIRequest {
  let settings: Settings
  var path: Path { "/settings" }
  var method: HTTPMethod { .put }
  var body: RequestBody? { .encoded(settings, as: PropertyListFormat(.binary)) }
  var decoder: ResponseDecoder<Settings> { .propertyList() }
}
// snippet.end
print(try await client.send(SaveSettings(settings: Settings(name: "Ada", sounds: true))).name)

// snippet.form
struct GetToken: APIRequest {
  var path: Path { "/token" }
  var method: HTTPMethod { .post }
  var decoder: ResponseDecoder<FormValues> { .form() }
}

let token = try await client.send(GetToken())["oauth_token"]
// snippet.end
print(token ?? "none", server.requests.count)

// snippet.default
client.configure { $0.formats.response = PropertyListFormat() }
// snippet.end
