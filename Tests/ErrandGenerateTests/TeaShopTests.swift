import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandGenerate
@testable import GeneratedTeaShop

/// The checked-in requests of `Tests/GeneratedTeaShop`: the generator still writes them, and they work over a socket.
struct TeaShopTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "GeneratedTeaShop")

  @Test func `generator writes the same bytes`() throws {
    let document = try JSONReader.read(Array(Data(contentsOf: Self.folder.appending(path: "openapi.json"))))
    var options = GenerateOptions()
    options.access = .package
    let result = try RequestGenerator.generate(document, source: "openapi.json", options: options) { _ in document }
    var existing: [String: String] = [:]
    for file in result.files {
      existing[file.path] = try? String(contentsOf: Self.folder.appending(path: file.path), encoding: .utf8)
    }
    let plan = FilePlan(result.files, existing: existing, source: "openapi.json")
    #expect(plan.isEmpty, "run errand generate again: \(plan.writes.map(\.path))")
    #expect(result.notes == [])
  }

  @Test func `calendar dates have one form`() {
    #expect(TeaShop.CalendarDate("2026-01-31") == TeaShop.CalendarDate(year: 2026, month: 1, day: 31))
    for text in ["2026-1-31", "2026--01-31-", "+2026-+1-5", "2026-13-01", "2026-01-32", ""] {
      #expect(TeaShop.CalendarDate(text) == nil, "\(text)")
    }
  }

  @Test func `dates keep their milliseconds`() throws {
    let formats = TeaShop.family.formats
    let dates = [Date(timeIntervalSince1970: 1_769_860_800.25)]
    let text = try formats.jsonEncoding.encode(dates)
    #expect(text == Data(#"["2026-01-31T12:00:00.250Z"]"#.utf8))
    #expect(try formats.jsonDecoding.decode([Date].self, from: text) == dates)
  }

  private static func client(_ server: LoopbackServer) -> APIClient { APIClient(baseURL: server.url + "/v1") }

  @Test func `parameters arrive as declared`() async throws {
    let server = try LoopbackServer { _ in
      .json(
        #"[{"id": 1, "name": "Sencha", "kind": "white", "added": "2026-01-31T12:00:00.250Z", "harvested": "2026-01-09"}]"#
      )
    }
    let request = ListTeas(
      limit: 5, kinds: [.green, .value5050], tags: ["a", "b"], words: ["x", "y"], price: ListTeas.Price(min: 1.5),
      day: TeaShop.CalendarDate(year: 2026, month: 1, day: 9), session: "s1")
    let teas = try await Self.client(server).send(request)
    #expect(teas.first?.kind == .other("white"))
    #expect(teas.first?.added == Date(timeIntervalSince1970: 1_769_860_800.25))
    #expect(teas.first?.harvested == TeaShop.CalendarDate(year: 2026, month: 1, day: 9))
    let sent = try await server.request(number: 1)
    #expect(
      sent.target
        == "/v1/teas?limit=5&kinds=green,50%2F50&words=x%7Cy&price%5Bmin%5D=1.5&day=2026-01-09&tags=a&tags=b")
    #expect(sent.headers["Cookie"] == "session=s1")
  }

  @Test func `bodies arrive as declared`() async throws {
    let server = try LoopbackServer { _ in .json(#"{"ok": true}"#) }
    let response = try await Self.client(server).send(ChangeTea(teaID: 7, content: ChangeTea.Content()))
    #expect(response.ok)
    let sent = try await server.request(number: 1)
    #expect(sent.method == "PATCH")
    #expect(sent.bodyText == #"{"note":null}"#)
  }

  @Test func `type of a JSON body arrives`() async throws {
    let server = try LoopbackServer { _ in .json(#"[{"text": "a", "id": 1, "parts": [{"text": "b"}]}]"#) }
    let request = LabelTea(
      teaID: 7, clerk: #"a; b="ü%2F""#, labels: ["y": "2 3", "x": "1"], content: LabelTea.Content(label: "new"))
    let labels = try await Self.client(server).send(request)
    #expect(labels == [Label(id: 1, text: "a", parts: [Label(text: "b")])])
    let sent = try await server.request(number: 1)
    #expect(sent.target == "/v1/teas/7/labels?x=1&y=2%203")
    #expect(sent.headers["Content-Type"] == "application/merge-patch+json")
    #expect(sent.headers["Cookie"] == "clerk=a%3B%20b=%22%C3%BC%2F%22")
    #expect(sent.bodyText == #"{"label":"new"}"#)
    _ = try await Self.client(server).send(LabelTea(teaID: 7, clerk: "\"a b\""))
    let second = try await server.request(number: 2)
    #expect(second.headers["Content-Type"] == nil)
    #expect(second.headers["Cookie"] == "clerk=\"a%20b\"")
  }

  @Test func `forms and texts arrive as declared`() async throws {
    let server = try LoopbackServer { _ in .text("token") }
    let token = try await Self.client(server).send(Login(content: Login.Content(user: "a b", scopes: ["x", "y"])))
    #expect(token == "token")
    let sent = try await server.request(number: 1)
    #expect(sent.bodyText == "user=a+b&scopes=x&scopes=y")
  }

  @Test func `unions and further members are decoded`() async throws {
    let json = #"""
      [{"kind": "cup", "size": 3}, {"kind": "pot", "contents": [{"kind": "cup", "size": "big"}]}, {"kind": "jug"}]
      """#
    let server = try LoopbackServer { _ in .json(json) }
    let drinks = try await Self.client(server).send(ListDrinks())
    let cup = Cup(size: .string("big"))
    #expect(drinks == [.cup(Cup(size: .int(3))), .pot(Pot(contents: [.cup(cup)])), .other(["kind": "jug"])])
    #expect(try JSONEncoding.standard.encode(Drink.cup(cup)) == Data(#"{"kind":"cup","size":"big"}"#.utf8))
    let place = try JSONDecoder().decode(Place.self, from: Data(#"{"country": "JP", "city": "Uji"}"#.utf8))
    #expect(place.additionalProperties == ["city": "Uji"])
    #expect(try JSONEncoding.standard.encode(place) == Data(#"{"city":"Uji","country":"JP"}"#.utf8))
  }

  @Test func `a struct inside itself is decoded`() throws {
    let json = #"{"name": "a", "kind": "black", "blend_of": {"name": "b", "kind": "green"}}"#
    let tea = try JSONDecoder().decode(NewTea.self, from: Data(json.utf8))
    #expect(tea.blendOf?.name == "b")
    #expect(tea.blendOf?.blendOf == nil)
    #expect("\(tea)".contains(#"NewTea(name: "b""#) && !"\(tea)".contains("Box"), "\(tea)")
    #expect(try JSONDecoder().decode(NewTea.self, from: JSONEncoder().encode(tea)) == tea)
  }

  @Test func `cursors lead through pages`() async throws {
    let server = try LoopbackServer { request in
      let isSecond = request.target.contains("cursor=a%2Bb")
      let meta = isSecond ? "null" : #""a+b""#
      return .json(#"{"orders": [{"id": \#(isSecond ? 2 : 1), "tea": "t"}], "meta": {"next_cursor": \#(meta)}}"#)
    }
    var ids: [Int] = []
    for try await order in Self.client(server).items(of: ListOrders(limit: 1)) { ids.append(order.id) }
    #expect(ids == [1, 2])
    #expect(try await server.request(number: 2).target == "/v1/orders?cursor=a%2Bb&limit=1")
  }

  @Test func `links and offsets lead through pages`() async throws {
    let server = try LoopbackServer { request in
      if request.target.contains("/cups") {
        return .json(#"{"data": [{"kind": "cup", "size": 1}], "total": 2}"#)
      }
      guard !request.target.contains("page=2") else { return .json(#"["c"]"#) }
      return .json(#"["a", "b"]"#, fields: ["Link": #"</v1/teas/7/reviews?x=1&page=2>; rel="next""#])
    }
    var reviews: [String] = []
    for try await review in Self.client(server).items(of: ListReviews(teaID: 7)) { reviews.append(review) }
    #expect(reviews == ["a", "b", "c"])
    var cups = 0
    for try await _ in Self.client(server).items(of: ListCups()) { cups += 1 }
    #expect(cups == 2)
    #expect(try await server.request(number: 4).target == "/v1/cups?offset=1")
  }

  @Test(arguments: [
    ("https://a/b?page=2&c=a%20b+c%2Bd#page=9", "a b c+d"), ("?c=", ""), ("?x=1", nil), ("", nil),
  ])
  func `links contain arguments`(link: String, value: String?) {
    #expect(TeaShop.PageLink.argument("c", in: link) == value)
  }

  @Test func `errors have the declared body`() async throws {
    let server = try LoopbackServer { _ in
      .json(#"{"message": "no tea", "code": 7}"#, status: 404)
    }
    let error = await Self.client(server).outcome(of: GetTea(teaID: 1)).error
    #expect(error?.body(as: ErrorModel.self)?.message == "no tea")
  }
}
