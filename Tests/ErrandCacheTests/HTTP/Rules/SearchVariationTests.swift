import Testing

@testable import ErrandCache
@testable import ErrandCore

/// `No-Vary-Search`, with the examples of its draft.
struct SearchVariationTests {
  private func variation(_ field: String) -> SearchVariation? {
    SearchVariation(Scene.fields("No-Vary-Search: \(field)"))
  }

  private func areEqual(_ field: String, _ one: String?, _ other: String?) throws -> Bool {
    let variation = try #require(self.variation(field))
    return variation.normalForm(of: one) == variation.normalForm(of: other)
  }

  @Test(arguments: [
    #"key-order="not a boolean""#, #"params="not an inner list""#, "params=(not-a-string)", "params=?0", "params=?1",
    #"params=?1, except=("x")"#, #"params=("a"), except=("x")"#, "params=(), except=()", #"except="not an inner list""#,
    "except=(not-a-string)", "except=?1", "params=()", "key-order=?0", "", "unknown-key", #"params=("a"),"#,
    #"params=("%ff")"#, #"key-order=1, params=("a")"#, "params", "params=a;b",
  ])
  func `other fields count the whole query`(_ field: String) {
    #expect(variation(field) == nil)
  }

  @Test func `absent and long fields are ignored`() {
    #expect(SearchVariation(HTTPFields()) == nil)
    func names(_ count: Int) -> String { Array(repeating: "\"a\"", count: count).joined(separator: " ") }
    #expect(variation("params=(\(names(65)))") == nil)
    #expect(variation("params=(\(names(64)))") == variation(#"params=("a")"#))
    let long = String(repeating: "x", count: 1_024 - #"params=("")"#.utf8.count)
    #expect(variation("params=(\"\(long)\")") != nil)
    #expect(variation("params=(\"\(long)x\")") == nil)
  }

  @Test(arguments: [
    (#"params=("a"), key-order=?1"#, #"key-order, params=("a")"#),
    (#"except=("x"), key-order"#, #"key-order, except=("x")"#),
    (#"params=("a" "a");q=1, other=5"#, #"params=("a")"#), (#"params=("a+b")"#, #"params=("a%20b")"#),
  ])
  func `forms of the field are equal`(_ one: String, _ other: String) throws {
    #expect(variation(one) != nil && variation(one) == variation(other))
  }

  @Test func `listed parameters are ignored`() throws {
    let field = #"params=("utm_source" "utm_medium")"#
    #expect(try areEqual(field, "id=1&utm_source=a", "utm_medium=b&id=1"))
    #expect(try areEqual(field, "id=1", "id=1&utm_source&utm_source=2"))
    #expect(try !areEqual(field, "id=1", "id=2"))
    #expect(try !areEqual(field, "id=1&x=1", "x=1&id=1"))
    #expect(try !areEqual(field, "id=1", "id=1&UTM_SOURCE=2"))
    #expect(try areEqual("except=()", "a=1&b", nil))
  }

  @Test func `unlisted parameters are ignored`() throws {
    let field = #"except=("productId")"#
    #expect(try areEqual(field, "productId=1&a=2", "b&productId=1"))
    #expect(try areEqual(field, "a", nil))
    #expect(try !areEqual(field, "productId=1", "productId=2"))
    #expect(try !areEqual(field, "productId=1", "productId=1&productId=1"))
  }

  @Test func `order of names is ignored`() throws {
    #expect(try areEqual("key-order", "a=1&b=2&c", "c=&b=2&a=1"))
    #expect(try areEqual("key-order", "b=1&a=1&a=2", "a=1&a=2&b=1"))
    #expect(try !areEqual("key-order", "a=1&a=2", "a=2&a=1"))
    #expect(try !areEqual("key-order", "a=1&b=2", "a=2&b=1"))
    #expect(try areEqual(#"key-order, params=("x")"#, "b&x=1&a", "a&b"))
    #expect(try !areEqual(#"params=("x")"#, "b&x=1&a", "a&b"))
  }

  @Test(
    arguments: [
      (nil, ""), ("a=x", "%61=%78"), ("a=%f6", "a=%ef%bf%bd"), ("a=x&&&&", "a=x"), ("a=", "a"), ("a=%20", "a= &"),
      ("a=+", "a=%20"), ("a=é", "a=%C3%A9"), ("%=1", "%25=1"), ("a=%4", "a=%254"), ("=", "=&"),
    ] as [(String?, String?)])
  func `queries are compared as forms`(_ one: String?, _ other: String?) throws {
    #expect(try areEqual("key-order", one, other))
  }

  @Test(arguments: [
    ("a=b%26c", "a=b&c"), ("a%3Db", "a=b"), ("a=1=2", "a=1"), ("a=%C3%A9", "a=e%CC%81"), ("=", ""),
    ("a=b%2Bc", "a=b+c"),
  ])
  func `different forms differ`(_ one: String, _ other: String) throws {
    #expect(try !areEqual("key-order", one, other))
  }

  @Test(arguments: ["é 気=1", "é+気=2", "%C3%A9%20気=3", "%C3%A9+%E6%B0%97=4"])
  func `names are decoded`(_ query: String) throws {
    #expect(try areEqual(#"params=("%C3%A9+%E6%B0%97")"#, query, nil))
  }

  @Test func `normal form keeps the rest`() throws {
    let variation = try #require(self.variation(#"key-order, params=("x")"#))
    for (url, expected) in [
      ("https://h/a/b?c=1&x=2&b=3", "https://h/a/b?b=3&c=1"), ("https://h", "https://h?"),
      ("https://h/?x", "https://h/?"),
    ] {
      let url = try HTTPURL(url)
      let form = variation.normalForm(of: url)
      #expect(form.string == expected && form.origin == url.origin && form.path == url.path)
    }
  }
}
