import StoreSamples
import Testing

@testable import ErrandCache
@testable import ErrandCore

/// The table of responses that are found by equivalent URLs.
struct SearchTableTests {
  private let variations = (0..<6).compactMap {
    SearchVariation(HTTPFields([HTTPField("No-Vary-Search", "params=(\"\($0)\")")]))
  }

  private func url(_ path: String = "/a", _ origin: String = "https://h") throws -> HTTPURL {
    try HTTPURL(origin + path)
  }

  private func insert(_ table: inout SearchTable, _ url: HTTPURL, _ variation: Int, _ name: String) {
    table.insert(
      url, variations[variation], entry: Sample.digest(name), key: Sample.key(name))
  }

  @Test func `response is found by its path only`() throws {
    var table = SearchTable()
    insert(&table, try url("/a?x=1"), 0, "one")
    let entry = Sample.digest("one")
    #expect(table.variations(of: try url("/a?y")) == [variations[0]])
    #expect(table.key(try url("/a?y"), variations[0], entry: entry) == Sample.key("one"))
    #expect(table.key(try url("/a"), variations[1], entry: entry) == nil)
    #expect(table.key(try url("/a"), variations[0], entry: Sample.digest("two")) == nil)
    for other in [try url("/a/"), try url("/A"), try url("/a", "http://h"), try url("/a", "https://h:8443")] {
      #expect(table.variations(of: other).isEmpty && table.key(other, variations[0], entry: entry) == nil)
    }
    insert(&table, try url(""), 0, "root")
    #expect(table.variations(of: try url("/?x")) == [variations[0]])
  }

  @Test func `four variations are kept per path`() throws {
    var table = SearchTable()
    for index in 0..<4 { insert(&table, try url(), index, "one") }
    let full = table.bytes
    for index in 4..<6 { insert(&table, try url(), index, "one") }
    #expect(table.bytes == full)
    insert(&table, try url(), 3, "one")
    #expect(try table.variations(of: url()) == [3, 5, 4, 2].map { variations[$0] } && table.bytes == full)
  }

  @Test func `full table starts again`() throws {
    var table = SearchTable()
    var (inserted, before) = (0, 0)
    while table.bytes >= before, inserted < 10_000 {
      before = table.bytes
      insert(&table, try url("/\(inserted % 7)"), 0, "\(inserted)")
      inserted += 1
    }
    #expect((3_000..<5_000).contains(inserted), "about 256 bytes per response")
    #expect(before <= SearchTable.mostBytes && table.bytes < 2_000)
  }

  @Test func `long names and paths are counted`() throws {
    let long = try #require(
      SearchVariation(HTTPFields([HTTPField("No-Vary-Search", "params=(\"\(String(repeating: "x", count: 900))\")")])))
    var (short, other) = (SearchTable(), SearchTable())
    insert(&short, try url(), 0, "one")
    other.insert(
      try url("/" + String(repeating: "y", count: 500)), long, entry: Sample.digest("one"), key: Sample.key("one"))
    #expect(other.bytes - short.bytes == 899 + 499)
  }

  @Test func `forgotten responses are not counted`() throws {
    var table = SearchTable()
    insert(&table, try url(), 0, "one")
    let one = table.bytes
    for name in ["two", "two"] { insert(&table, try url(), 0, name) }
    let two = table.bytes
    table.forget(try url(), variations[1], entry: Sample.digest("one"))
    #expect(table.bytes == two && two > one)
    for _ in 0..<2 { table.forget(try url(), variations[0], entry: Sample.digest("two")) }
    #expect(try table.bytes == one && table.key(url(), variations[0], entry: Sample.digest("two")) == nil)
    #expect(table.key(try url(), variations[0], entry: Sample.digest("one")) == Sample.key("one"))
  }
}
