import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rule 15: how a stored response is validated.
struct Rule15ValidationTests {
  static func added(_ stored: String, _ rules: CacheRules) -> [String] {
    let head = Scene.stored(stored, policy: rules.policy)
    guard case .validate(let validation) = rules.decide(head, at: Scene.at(100)) else { return ["none"] }
    return validation.fields.map { "\($0.name): \($0.value)" }
  }

  static let changed = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"
  static let since = "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"

  @Test(
    arguments: [
      (#"ETag: "x""#, [#"If-None-Match: "x""#]), (#"ETag: W/"x""#, [#"If-None-Match: W/"x""#]), (changed, [since]),
      (#"ETag: "x" | \#(changed)"#, [#"If-None-Match: "x""#, since]), ("", []), (#"ETag: "x" | ETag: "y""#, []),
      ("Last-Modified: yesterday", []), ("ETag: bare", ["If-None-Match: bare"]),
      ("ETag: \"a\u{1}\"", []), ("ETag: \"a\u{7F}\" | \(changed)", [since]),
    ] as [(String, [String])])
  func `validators become conditions`(stored: String, fields: [String]) throws {
    for policy in [CachePolicy.http, .lifetime(.seconds(5)), .httpElse(.seconds(5))] {
      let stored = "Cache-Control: no-cache | \(stored)"
      #expect(Self.added(stored, try Scene.rules(policy: policy)) == fields)
      #expect(Self.added(stored, try Scene.rules(.head, policy: policy)) == fields)
    }
  }

  @Test(arguments: [
    #"If-None-Match: "y""#, "If-Modified-Since: \(Scene.date)", #"If-Match: "y""#, "If-Unmodified-Since: \(Scene.date)",
    #"If-Range: "y""#,
  ])
  func `caller's conditions bypass the cache`(request: String) throws {
    let head = Scene.stored(#"Cache-Control: max-age=5 | ETag: "x""#)
    #expect(try Scene.rules(.get, request).decide(among: [head], at: Scene.at(10)).decision == .bypass(.conditional))
  }

  @Test(arguments: ["If-Match: *", "If-Unmodified-Since: \(Scene.date)", #"If-Range: "x""#])
  func `If-Match is sent to the server`(request: String) throws {
    let head = Scene.stored(#"Cache-Control: max-age=60 | ETag: "x""#)
    #expect(try Scene.rules(.get, request).decide(among: [head], at: Scene.at(1)).decision == .bypass(.conditional))
  }

  @Test func `background refresh sends conditions`() throws {
    let head = Scene.stored(#"Cache-Control: max-age=60, immutable | ETag: "x""#)
    let tag = HTTPField("If-None-Match", #""x""#)
    #expect(try Scene.rules().validation(of: head).fields == [tag])
    #expect(try Scene.rules(.get, #"If-None-Match: "y""#).validation(of: head).fields.isEmpty)
  }

  @Test func `other methods send no conditions`() throws {
    let rules = try Scene.rules(.post, policy: .lifetime(.seconds(5)))
    #expect(Self.added(#"ETag: "x""#, rules).isEmpty)
  }

  @Test(arguments: [
    (CacheReadMode.revalidating, "", ["Cache-Control: max-age=0", #"If-None-Match: "x""#]),
    (.revalidating, "Cache-Control: min-fresh=1", [#"If-None-Match: "x""#]),
    (.networkElseCached, "", [#"If-None-Match: "x""#]),
  ])
  func `revalidating adds Cache-Control`(mode: CacheReadMode, request: String, fields: [String]) throws {
    let rules = try Scene.rules(.get, request, mode: mode)
    #expect(Self.added(#"Cache-Control: max-age=999 | ETag: "x""#, rules) == fields)
    #expect(rules.fieldsToAdd.count == fields.count - 1)
  }
}
