import ErrandHTTP
import Testing

struct PercentEncodingTests {
  @Test(arguments: [
    ("", "", ""), ("a%20b", "a b", "a b"), ("a+b", "a+b", "a b"), ("%2B+", "++", "+ "), ("%c3%A9", "é", "é"),
    ("100%", "100%", "100%"), ("%4", "%4", "%4"), ("%zz%41", "%zzA", "%zzA"), ("%%41", "%A", "%A"),
    ("%4%41", "%4A", "%4A"), ("%2541", "%41", "%41"),
  ])
  func `invalid escapes stay unchanged`(text: String, plain: String, spaced: String) {
    #expect(PercentEncoding.decodedLeniently(text.utf8, plusIsSpace: false) == Array(plain.utf8))
    #expect(PercentEncoding.decodedLeniently(text.utf8, plusIsSpace: true) == Array(spaced.utf8))
  }

  @Test func `strict decoding rejects invalid escapes`() {
    #expect(PercentEncoding.decoded("%4".utf8, plusIsSpace: false) == nil)
    #expect(PercentEncoding.decoded("%41+".utf8, plusIsSpace: true) == [0x41, 0x20])
  }

  @Test(
    arguments: [
      ("a/é", ["a%2F%C3%A9", "a%2f%c3%a9"]), ("a b", ["a%20b", "a+b"]), ("%", ["%25"]), ("plain-1", []), ("", []),
    ] as [(String, [String])])
  func `text has these encoded forms`(text: String, forms: [String]) {
    #expect(Set(PercentEncoding.forms(of: text)) == Set(forms))
  }
}
