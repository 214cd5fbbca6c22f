import Testing

@testable import ErrandCache

/// Entity tags (RFC 9110 section 8.8.3) and field values that are lists (section 5.6.1).
struct FieldListTests {
  @Test(arguments: [
    (#""a""#, true), (#""""#, true), (#"W/"a""#, true), (#""!#~é\""#, true), ("a", false), (#"""#, false),
    (#""a"#, false), (#"w/"a""#, false), (#""a b""#, false), (#""a"b""#, false), ("\"a\u{7F}\"", false),
    ("\"a\u{9}\"", false),
  ])
  func `an entity tag has quotes and no spaces`(text: String, isTag: Bool) {
    #expect((EntityTag(text) != nil) == isTag)
  }

  @Test func `only the prefix makes a tag weak`() throws {
    let (strong, weak) = (try #require(EntityTag(#""a""#)), try #require(EntityTag(#"W/"a""#)))
    #expect(!strong.isWeak && weak.isWeak && strong.opaque == weak.opaque)
    #expect(strong != weak && strong.isWeaklyEqual(weak))
  }

  @Test(arguments: [
    ("", []), (" a , b,,c ", ["a", "b", "c"]), (#""a,b",c"#, [#""a,b""#, "c"]),
    (#""a\",b",c"#, [#""a\",b""#, "c"]), (#""a\\",b"#, [#""a\\""#, "b"]), (#"a\",b",c"#, [#"a\",b""#, "c"]),
    (#""a,b"#, [#""a,b"#]),
  ])
  func `commas in quotes do not separate`(value: String, members: [Substring]) {
    #expect(FieldList.members(value) == members)
  }
}
