import ErrandCore
import ErrandTesting
import Testing

@testable import ErrandTransfer

struct FileNameTests {
  @Test(arguments: [
    ("a.zip", "a.zip"), ("Größe 1.txt", "Größe 1.txt"), ("文件.tar.gz", "文件.tar.gz"), ("a/b/c", "c"), ("a\\b\\c", "c"),
    ("../../etc/passwd", "passwd"), ("..\\..\\x", "x"), ("C:\\Users\\x.exe", "x.exe"), ("C:x", "C_x"), ("a:b", "a_b"),
    (".bashrc", "bashrc"), ("...a", "a"), (". . a", "a"), (" a ", "a"), ("a. . ", "a"), ("a\u{0}b", "ab"),
    ("a\r\nb", "ab"), ("a\u{1B}[31mb", "a[31mb"), ("a\u{7F}b\u{9B}c", "abc"), ("a\u{2028}b", "ab"),
    ("invoice\u{202E}gpj.exe", "invoicegpj.exe"), ("\u{2067}a\u{2069}\u{200F}\u{061C}", "a"),
    ("a\u{FEFF}\u{200B}b", "ab"),
    ("\u{202E}.a", "a"), (".\u{200B}.a", "a"), ("a\u{3000}b\u{A0}c", "a b c"), ("a*?\"<>|b", "a______b"),
    ("👨\u{200D}👩\u{200D}👧.png", "👨\u{200D}👩\u{200D}👧.png"), ("CON", "_CON"), ("con.txt", "_con.txt"),
    ("nul.tar.gz", "_nul.tar.gz"), ("COM1", "_COM1"), ("lpt9.x", "_lpt9.x"), ("COM¹", "_COM¹"),
    ("Aux .txt", "_Aux .txt"),
    ("CONIN$", "_CONIN$"), ("COM10", "COM10"), ("console", "console"), (".con", "_con"), ("-rf", "-rf"), ("~", "~"),
    ("a.part.zip", "a.part.zip"), ("partial", "partial"), ("%2e%2e", "%2e%2e"), ("a.", "a"),
  ])
  func `unsafe characters are removed or replaced`(text: String, name: String) { #expect(FileName.safe(text) == name) }

  @Test(arguments: [
    "", " ", ".", "..", "...", "/", "a/", "a\\", "\u{0}", "\u{202E}", ". .", "a.part", "A.PART", "a.part.meta",
    "a.Part.Meta", "a.part.meta.tmp", ".part", "part.meta", ".part.meta", "a.part\u{200B}", "a.part.", "a.part ",
    "../.part", "\u{FEFF}.\u{200B}", "a/..", "a/.", "a\\..",
  ])
  func `an unsafe name gives nil`(text: String) { #expect(FileName.safe(text) == nil) }

  /// A suffix followed by a combining accent is not the suffix of a partial file. After U+0D4E, which forms one character
  /// with the dot that follows it, the bytes are those of the suffix.
  @Test(arguments: [
    ("a.part\u{301}", true), ("a.part.meta\u{308}", true), ("a.part.meta.tmp\u{30C}", true), ("part\u{301}", true),
    ("a\u{301}.part", false), ("a\u{D4E}.part", false), ("a\u{D4E}.part.meta", false),
  ])
  func `only the bytes of a suffix make a name the library's own`(text: String, isKept: Bool) {
    #expect(FileName.safe(text) == (isKept ? text : nil))
  }

  @Test(arguments: [
    (String(repeating: "a", count: 300), 241, "a"), (String(repeating: "a", count: 300) + ".tar.gz", 241, ".gz"),
    (String(repeating: "é", count: 300) + ".zip", 240, "é.zip"), (String(repeating: "😀", count: 99), 240, "😀"),
    ("a." + String(repeating: "b", count: 300), 241, "b"), (String(repeating: "a", count: 240) + " .zip", 241, "a.zip"),
    (String(repeating: "e\u{301}", count: 200), 241, "e"), ("a" + String(repeating: ".", count: 300) + "b", 3, ".b"),
  ])
  func `a shortened name keeps its extension`(text: String, length: Int, end: String) throws {
    let name = try #require(FileName.safe(text))
    #expect(name.utf8.count == length && name.unicodeScalars.reversed().starts(with: end.unicodeScalars.reversed()))
    #expect((name + PartNames.temporarySuffix).utf8.count <= 255)
  }

  @Test func `a shortened name is checked again`() {
    #expect(FileName.safe(String(repeating: "a", count: 250) + ".part") == nil)
    // Shortening leaves the name of a device.
    let spaces = String(repeating: " ", count: 300)
    #expect(FileName.safe("con" + spaces + "x.gz") == "_con.gz")
    #expect(FileName.safe("NUL" + spaces + "x") == "_NUL")
    #expect(FileName.safe("con." + String(repeating: "a", count: 237))?.utf8.count == FileName.limit)
  }

  @Test(arguments: [
    ("http://h/a/b.zip", "b.zip"), ("http://h/a/b.zip?x=/c", "b.zip"), ("http://h/a%20b", "a b"),
    ("http://h/%E2%82%AC", "€"),
    ("http://h/a%2Fb", "b"), ("http://h/..%2F..%2Fetc%2Fpasswd", "passwd"), ("http://h/a%00b", "ab"),
    ("http://h/a%5Cb", "b"),
    ("http://h/100%", "100%"), ("http://h/%zz", "%zz"), ("http://h/%252e", "%2e"), ("http://h/", nil),
    ("http://h", nil),
    ("http://h/a/", nil), ("http://h/..", nil), ("http://h/%2e%2e", nil), ("http://h/%FF", nil),
    ("http://h/a.part", nil),
  ])
  func `the name comes from the URL's last component`(url: String, name: String?) throws {
    #expect(FileName.of(try HTTPURL(url)) == name)
  }

  @Test(arguments: [
    ("attachment; filename=a.zip", "a.zip"), ("attachment; filename=\"a b.zip\"", "a b.zip"),
    ("inline;filename=a", "a"),
    ("ATTACHMENT; FILENAME=\"a\"", "a"), ("attachment; filename=\"a\\\"b\"", "a_b"),
    ("attachment; filename=a b.zip", "a b.zip"),
    ("attachment; filename=\"a;b\"; x=y", "a;b"), ("attachment; x=\"; filename=evil\"; filename=good", "good"),
    ("attachment; filename=\"x\"; filename*=UTF-8''%e2%82%ac%20rates", "€ rates"),
    ("attachment; filename*=utf-8'en'a%2Fb; filename=x", "b"), ("attachment; filename*=iso-8859-1''%A3", "£"),
    ("attachment; filename*=UTF-8''%ff; filename=x", "x"), ("attachment; filename*=KOI8-R''%C1; filename=x", "x"),
    ("attachment; filename*=UTF-8''; filename=x", nil), ("attachment; filename*=x; filename=y", "y"),
    ("attachment; filename*=UTF-8''a b; filename=y", "y"), ("attachment; filename*=\"UTF-8''a\"", "a"),
    ("attachment; filename=a; filename=b", "a"), ("attachment; filename = a", "a"),
    ("attachment;filename=\"../../a\"", "a"),
    ("attachment; filename=\"a", "a"), ("attachment; filename=\"a\\", "a"), ("attachment; filename=\"\"", nil),
    ("attachment", nil), ("", nil), (";", nil), (";;;=;=", nil), ("attachment; filename", nil), ("filename=a", nil),
    ("attachment; ; filename=a", "a"), ("attachment; \"; filename=b\"; filename=a", "a"),
    ("attachment; filename=a%20b", "a%20b"),
    ("attachment; filename=\"a\"junk; x=y", "a"), ("attachment; filename=\"\u{202E}gpj.exe\"", "gpj.exe"),
  ])
  func `the name comes from Content-Disposition`(value: String, name: String?) {
    #expect(FileName.of(HTTPFields([HTTPField("Content-Disposition", value)])) == name)
  }

  @Test func `two Content-Disposition fields give no name`() {
    let field = HTTPField("Content-Disposition", "attachment; filename=a")
    #expect(FileName.of(HTTPFields([field, field])) == nil && FileName.of(HTTPFields()) == nil)
  }

  /// Every result is one safe path component.
  @Test func `random texts give safe names or nil`() {
    var random = SeededNumbers(seed: 5)
    let alphabet = Array("./\\:%\"';= a\u{0}\u{202E}\u{200B}Cé😀\u{301}onNuL*partmeta.-".unicodeScalars)
    for _ in 0..<5_000 {
      let length = Int.random(in: 0..<40, using: &random)
      let text = String(
        String.UnicodeScalarView((0..<length).compactMap { _ in alphabet.randomElement(using: &random) }))
      let named = ContentDisposition("attachment; filename\(text)").fileName
      for name in [FileName.safe(text), named.flatMap(FileName.safe)].compactMap(\.self) {
        #expect(!name.isEmpty && !name.hasPrefix(".") && !name.hasPrefix(" ") && name.utf8.count <= FileName.limit)
        #expect(!name.unicodeScalars.contains { "/\\:\u{0}\u{202E}".unicodeScalars.contains($0) })
        #expect(FileName.safe(name) == name)
      }
    }
  }
}
