import Testing

@testable import ErrandHTTP

struct LinkFieldTests {
  @Test(arguments: [
    ([#"<https://h/x?page=2>; rel="next""#], "https://h/x?page=2"),
    ([#"<a>; rel="prev", <b>; rel="next", <c>; rel="next""#], "b"),
    ([#"<a>; rel=prev"#, #"<b>;rel=next"#], "b"),
    ([#"<a>; rel="start  NEXT last"; title="x""#], "a"),
    ([#"<a?x=1,2;3>; title="a, <b>; rel=\"next\""; rel=next"#], "a?x=1,2;3"),
    ([#"<a> ; REL = "next""#], "a"), ([#", ,<a>;rel=next"#], "a"), ([#"<>; rel="next""#], ""),
    (["<a>; rel=prev first, <b>; rel=next last"], "b"), (["<a>; rel=first next , <b>"], "a"),
    (["<a>; rel=next\t; title=x"], "a"), (["<a>; title=a b; rel=next"], "a"),
    ([#"<a>; rel="prev"; rel="next""#], nil), ([#"<a>; rel"#], nil), (["<a>"], nil), (["<a; rel=next"], nil),
    (["a; rel=next"], nil), ([#"<a>; rel="nextish""#], nil), ([""], nil), ([], nil), ([#"<a>; rel="next"#], "a"),
  ])
  func `next link is found`(values: [String], target: String?) {
    #expect(LinkField(values).target(of: "next") == target)
  }

  @Test func `broken link ends only its field`() {
    let broken = #"<a>; rel="prev" next, <b>; rel="next""#
    #expect(LinkField([broken]).links.map(\.target) == ["a"])
    #expect(LinkField(["x, <b>; rel=next"]).links.isEmpty)
    #expect(LinkField([broken, "<c>; rel=next"]).target(of: "next") == "c")
  }

  @Test func `long field takes linear time`() {
    let value = String(repeating: #"<a>; x="\\\""; rel="prev", "#, count: 50_000)
    #expect(LinkField([value + "<b>;rel=next"]).target(of: "next") == "b")
    #expect(LinkField([String(repeating: "<", count: 1 << 20)]).links.isEmpty)
    #expect(LinkField(["<a>" + String(repeating: ";", count: 1 << 20)]).links.count == 1)
  }

  @Test func `link targets are resolved`() throws {
    func link(_ value: String) throws -> String? {
      let url = try HTTPURL("https://h.example/v1/posts?page=1")
      let head = ResponseHead(status: 200, fields: HTTPFields([HTTPField("Link", value)]))
      return HTTPResponse(head: head, url: url).link("next")
    }
    #expect(try link("<?page=2>; rel=next") == "https://h.example/v1/posts?page=2")
    #expect(try link("</v1/x>; rel=next") == "https://h.example/v1/x")
    #expect(try link("<https://other.example/>; rel=next") == "https://other.example/")
    #expect(try link("<file:///etc/passwd>; rel=next") == nil)
    #expect(try link("<x>; rel=prev") == nil)
  }

  @Test func `link with another anchor is ignored`() {
    let field = LinkField([#"</comments?page=2>; rel="next"; anchor="/comments", </posts?page=2>; rel="next""#])
    #expect(field.target(of: "next") == "/posts?page=2")
    #expect(field.links.map(\.isOfAnother) == [true, false])
  }
}
