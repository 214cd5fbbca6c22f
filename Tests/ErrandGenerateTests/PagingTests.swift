import Testing

@testable import ErrandGenerate

/// Which operations become requests with several pages.
struct PagingTests {
  private static let list = #""data": {"type": "array", "items": {"type": "string"}}"#

  /// The methods of the request for a `GET` with parameters and a response; nil if it has no pages.
  private static func paging(
    _ parameters: String, _ properties: String, required: String = #""data""#, more: String = "", fields: String = ""
  ) throws -> (text: String?, notes: [String]) {
    let schema =
      properties.isEmpty
      ? #"{"type": "array", "items": {"type": "string"}}"#
      : #"{"type": "object", "required": [\#(required)], "properties": {\#(properties)}}"#
    let (files, notes) = try Generated.files(
      #"""
      {"openapi": "3.1.0", "info": {"title": "Shop"}, "paths": {"/a": {"get": {"operationId": "a", \#(more)
        "parameters": [\#(parameters)], "responses": {"200": {"description": "", "headers": {\#(fields)},
        "content": {"application/json": {"schema": \#(schema)}}}}}}}}
      """#)
    let text = files["Requests/A.swift"] ?? ""
    guard text.contains("struct A: ShopRequest, PagedRequest {") else { return (nil, notes) }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      .drop { !$0.contains("func items(of") }.prefix { !$0.contains("struct ") }
    return (lines.joined(separator: "\n"), notes)
  }

  private static func parameter(_ name: String, _ schema: String) -> String {
    #"{"name": "\#(name)", "in": "query", "schema": {\#(schema)}}"#
  }

  private static let text = #""type": "string""#
  private static let number = #""type": "integer""#

  @Test func `a cursor leads to the next page`() throws {
    let found = try Self.paging(
      Self.parameter("page_token", Self.text),
      Self.list + #", "paging": {"type": "object", "properties": {"nextPageToken": {"type": "string"}}}"#)
    #expect(
      found.text == #"""
          func items(of page: Response) -> [String] { page.data }

          func next(after page: APIResponse<Response>) -> Self? {
            guard let next = page.value.paging?.nextPageToken, !next.isEmpty else { return nil }
            var request = self
            request.pageToken = next
            return request
          }

        """#)
  }

  @Test func `the last item is a cursor`() throws {
    let items =
      #""data": {"type": "array", "items": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}}"#
    let found = try Self.paging(
      Self.parameter("starting_after", Self.text), items + #", "has_more": {"type": "boolean"}"#,
      required: #""data", "has_more""#)
    #expect(
      found.text?.contains("guard page.value.hasMore, let last = items(of: page.value).last else { return nil }")
        == true)
    #expect(found.text?.contains("func items(of page: Response) -> [Response.DataItem] { page.data }") == true)
    #expect(found.text?.contains("request.startingAfter = last.id") == true)
    let marked = items.replacing(#"{"type": "string"}}}}"#, with: #"{"type": "string", "readOnly": true}}}}"#)
    let text = try Self.paging(
      Self.parameter("starting_after", Self.text), marked + #", "has_more": {"type": "boolean"}"#,
      required: #""data", "has_more""#
    ).text
    #expect(text?.contains("let last = items(of: page.value).last?.id else { return nil }") == true)
    #expect(text?.contains("request.startingAfter = last\n") == true)
  }

  @Test(arguments: [
    (#""type": "integer", "default": 0"#, #""has_next": {"type": "boolean"}"#, "(self.page ?? 0) + 1"),
    (#""type": "integer", "minimum": 1"#, #""total_pages": {"type": "integer"}"#, "number + 1"),
    (#""type": "integer""#, #""next_page": {"type": ["integer", "null"]}"#, "next"),
    (#""type": "integer""#, #""next": {"type": ["string", "null"], "format": "uri"}"#, "number"),
  ])
  func `a number leads to the next page`(schema: String, sign: String, value: String) throws {
    let found = try Self.paging(Self.parameter("page", schema), "\(Self.list), \(sign)")
    #expect(found.text?.contains("request.page = \(value)\n") == true, "\(found)")
  }

  @Test func `an offset grows by the items`() throws {
    let found = try Self.paging(
      Self.parameter("offset", #""type": "integer", "format": "int64""#),
      Self.list + #", "total": {"type": "integer"}"#,
      required: "")
    #expect(found.text?.contains("page.data ?? []") == true)
    #expect(found.text?.contains("let next = (self.offset ?? 0) + Int64(clamping: count)") == true)
    #expect(found.text?.contains("guard let total = page.value.total, count > 0, next < total else") == true)
  }

  @Test func `the field Link leads to the next page`() throws {
    let found = try Self.paging(Self.parameter("page", Self.number), "", fields: #""link": {}"#)
    #expect(found.text?.contains("func items(of page: Response) -> [String] { page }") == true)
    #expect(found.text?.contains(#"let link = page.raw.link("next")"#) == true)
    #expect(try Self.paging(Self.parameter("page", Self.number), "").text == nil)
  }

  private static let ambiguous: [(parameters: [String], response: String)] = [
    // The first page may be 0 or 1.
    (["page", number], #""has_more": {"type": "boolean"}"#),
    // The cursor may be the one of this page.
    (["cursor", text], #""cursor": {"type": "string"}"#),
    // The text may be a URL.
    (["cursor", text], #""next": {"type": "string"}"#),
    // Each list may have the items.
    (["cursor", text], #""values": {"type": "array"}, "next_cursor": {"type": "string"}"#),
    // Each parameter may choose the page.
    (["cursor", text, "page", number], #""next_cursor": {"type": "string"}"#),
    // The types differ.
    (["cursor", number], #""next_cursor": {"type": "string"}"#),
    (["limit", number], #""next_cursor": {"type": "string"}"#),
  ]

  @Test(arguments: ambiguous.indices)
  func `ambiguous operations have no pages`(index: Int) throws {
    let (words, response) = Self.ambiguous[index]
    let parameters = stride(from: 0, to: words.count, by: 2).map { Self.parameter(words[$0], words[$0 + 1]) }
    #expect(try Self.paging(parameters.joined(separator: ","), "\(Self.list), \(response)").text == nil)
  }

  @Test(arguments: [
    (#"{"parameter": "from", "items": "list.rows", "next": "list.go"}"#, "request.from = next\n"),
    (#"{"parameter": "n", "items": "list.rows", "pages": "list.last"}"#, "let number = self.n ?? 1\n"),
    (#"{"parameter": "n", "items": "list.rows", "link": "Link"}"#, #"page.raw.link("next")"#),
  ])
  func `an extension declares pages`(hint: String, code: String) throws {
    let rows =
      #""list": {"type": "object", "properties": {"rows": {"type": "array", "items": {}}, "go": {"type": "string"}, "last": {"type": "integer"}}}"#
    let found = try Self.paging(
      Self.parameter("from", Self.text) + "," + Self.parameter("n", Self.number), rows, required: #""list""#,
      more: #""x-pagination": \#(hint),"#)
    #expect(found.text?.contains(code) == true, "\(found)")
    #expect(found.text?.contains("-> [JSONValue] { page.list.rows ?? [] }") == true)
  }

  @Test func `an extension can forbid pages`() throws {
    let sign = Self.list + #", "next_cursor": {"type": "string"}"#
    let parameter = Self.parameter("cursor", Self.text)
    #expect(try Self.paging(parameter, sign).text != nil)
    #expect(try Self.paging(parameter, sign, more: #""x-pagination": false,"#).text == nil)
    let wrong = try Self.paging(parameter, sign, more: #""x-pagination": {"parameter": "cursor", "items": "x"},"#)
    #expect(wrong.text == nil)
    #expect(wrong.notes.first?.contains("needs “items”") == true)
  }
}
