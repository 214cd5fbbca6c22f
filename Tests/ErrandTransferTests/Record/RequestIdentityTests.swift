import ErrandCore
import Testing

@testable import ErrandTransfer

struct RequestIdentityTests {
  static func identity(
    _ fields: HTTPFields = [:], account: String? = nil, url: String = "https://h/a?x=1#f", method: HTTPMethod = .get
  ) throws -> RequestIdentity {
    RequestIdentity(method: method, url: try HTTPURL(url), fields: fields, account: account)
  }

  @Test func `the fragment is ignored`() throws {
    #expect(try Self.identity() == Self.identity(url: "https://h/a?x=1"))
    #expect(try Self.identity().url == "https://h/a?x=1")
  }

  /// The value is fixed: a change would make every part of a released version unusable.
  @Test func `the hash is stable`() throws {
    let fields: HTTPFields = ["Accept": "*/*", "Authorization": "Bearer t"]
    #expect(try Self.identity(fields).variant == "9ca7eeaf93d06e4f4e0ba77d1025227f")
    #expect(try Self.identity(fields, account: "ann").variant == "a6c04f4009a8429e2efd5aa776df13d9")
  }

  @Test(
    arguments: [
      ["Range": "bytes=1-"], ["If-Range": "\"a\""], ["User-Agent": "x"], ["Accept-Encoding": "gzip"], ["Date": "x"],
      ["traceparent": "00"], ["X-Request-ID": "7"],
    ] as [HTTPFields])
  func `fields that select nothing are ignored`(fields: HTTPFields) throws {
    #expect(try Self.identity(fields) == Self.identity())
  }

  @Test(
    arguments: [
      ["Accept": "a"], ["Accept-Language": "de"], ["Cookie": "a=b"], ["Authorization": "Bearer a"], ["X-Any": ""],
    ] as [HTTPFields])
  func `fields that may select the response count`(fields: HTTPFields) throws {
    #expect(try Self.identity(fields) != Self.identity())
  }

  @Test func `tokens are ignored with an account`() throws {
    let one = try Self.identity(["Authorization": "Bearer a"], account: "ann")
    #expect(try one == Self.identity(["Authorization": "Bearer b"], account: "ann"))
    #expect(try one != Self.identity(["Authorization": "Bearer a"], account: "bob"))
    #expect(try one != Self.identity(["Authorization": "Bearer a"]))
    #expect(try Self.identity(["Authorization": "Bearer a"]) != Self.identity(["Authorization": "Bearer b"]))
  }

  @Test func `case and order of names are ignored`() throws {
    let one = try Self.identity(["Accept": "a", "X-B": "c"])
    #expect(try one == Self.identity(["x-b": "c", "ACCEPT": "a"]))
    #expect(try Self.identity(["X": "a", "x": "b"]) != Self.identity(["x": "b", "X": "a"]))
  }

  @Test func `field names and values stay separate`() throws {
    #expect(try Self.identity(["ab": "c"]) != Self.identity(["a": "bc"]))
    #expect(try Self.identity(["a": "b", "c": "d"]) != Self.identity(["a": "bcd"]))
  }

  @Test func `re-signed links differ only in the URL`() throws {
    let one = try Self.identity(url: "https://h/a?sig=1")
    let other = try Self.identity(url: "https://h/a?sig=2")
    #expect(one != other && one.isSame(exceptURL: other))
    #expect(try !one.isSame(exceptURL: Self.identity(account: "ann")))
  }

  @Test(arguments: [("", "6c62272e07bb014262b821756295c58d")])
  func `an empty hash is the offset basis`(text: String, digits: String) { #expect(StableHash().text == digits) }
}
