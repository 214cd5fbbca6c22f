import ErrandCore
import Foundation
import Testing

struct DigestFieldsTests {
  /// Two algorithms with short digests, which are easy to read.
  private static let known = [algorithm("sha-256", 4), algorithm("sha-512", 6)]

  private final class NoHash: ChecksumHash {
    func update(_ bytes: UnsafeRawBufferPointer) {}
    func finish() -> Data { Data() }
  }

  private static func algorithm(_ name: String, _ length: Int) -> DigestAlgorithm {
    DigestAlgorithm(name: name, length: length) { NoHash() }
  }

  private func read(_ lines: [String]) -> String? {
    let fields = HTTPFields(lines.map { HTTPField("Repr-Digest", $0) })
    return DigestFields(fields, known: Self.known).representation?.description
  }

  @Test(
    arguments: [
      (["sha-256=:AQIDBA==:"], "sha-256:01020304"),
      (["sha-256=:AQIDBA:"], "sha-256:01020304"),
      (["  sha-256=:AQIDBA==:  "], "sha-256:01020304"),
      (["sha-512=:AQIDBAUG:, sha-256=:AQIDBA==:"], "sha-256:01020304"),
      (["sha-512=:AQIDBAUG:\t ,\tsha-256=:AQIDBA==:"], "sha-256:01020304"),
      (["sha-512=:AQIDBAUG:", "sha-256=:AQIDBA==:"], "sha-256:01020304"),
      (["sha-256=:AAAAAA==:, sha-256=:AQIDBA==:"], "sha-256:01020304"),
      (["sha-256=:AQIDBA==:;a;b=?0;c=\"x,y\\\"\""], "sha-256:01020304"),
      (["md5=:AA==:, crc32c=:AQ:, sha-256=:AQIDBA==:"], "sha-256:01020304"),
      (["a, b=?1, c=-12.125, d=\"x\", e=tok/e:n*, f=(1 \"2\";q=1  :AQ==:), g=@-5, *h=() ,i=%\"%c3%a9\""], nil),
      (["a=(), sha-512=:AQIDBAUG:"], "sha-512:010203040506"),
      (["md5=:AA==:"], nil),
      ([""], nil),
      ([], nil),
    ] as [([String], String?)])
  func `the preferred digest is parsed`(lines: [String], expected: String?) { #expect(read(lines) == expected) }

  @Test(arguments: [
    "sha-256=:AQIDBA==", "sha-256=:AQ ID:", "sha-256=:AQID-_==:", "sha-256=:A:", "sha-256=:AQIDBA===:",
    "sha-256=:A=IDBA==:", "sha-256=AQIDBA==", "sha-256=\"AQIDBA==\"", "sha-256", "sha-256=", "sha-256=:AQID:",
    "sha-256=:AQIDBAU=:", "sha-256=::", "sha-256=(:AQIDBA==:)", "SHA-256=:AQIDBA==:", "sha-256=:AQIDBA==:,",
    "sha-256=:AQIDBA==:, ,", ",sha-256=:AQIDBA==:", "sha-256=:AQIDBA==: md5=:AA==:", "sha-256 =:AQIDBA==:",
    "sha-256= :AQIDBA==:", "sha-256=:AQIDBA==:;", "sha-256=:AQIDBA==:;A", "sha-256=:AQIDBA==:;a=",
    "sha-256=:AQIDBA==:, x=1234567890123456", "sha-256=:AQIDBA==:, x=1.", "sha-256=:AQIDBA==:, x=1.2345",
    "sha-256=:AQIDBA==:, x=-", "sha-256=:AQIDBA==:, x=\"", "sha-256=:AQIDBA==:, x=\"\\n\"",
    "sha-256=:AQIDBA==:, x=\"\u{E9}\"", "sha-256=:AQIDBA==:, x=?2", "sha-256=:AQIDBA==:, x=(1",
    "sha-256=:AQIDBA==:, x=(1\"2\")", "sha-256=:AQIDBA==:, x=((1))", "sha-256=:AQIDBA==:, x=@1.5",
    "sha-256=:AQIDBA==:, x=%\"%C3%A9\"", "sha-256=:AQIDBA==:, x=%\"%ff\"", "sha-256=:AQIDBA==:, x=%\"%a",
    "sha-256=:AQIDBA==:, x=%x", "sha-256=:AQIDBA==:, x={}", "\u{0}", "=", ";", ":", "(", "é=:AQ==:",
  ])
  func `invalid field gives no digest`(line: String) { #expect(read([line]) == nil) }

  @Test func `one invalid digest invalidates the field`() {
    #expect(read(["sha-256=:AQIDBA==:, sha-512=:AQID:"]) == nil)
  }

  @Test func `every truncated field is handled`() {
    let whole = "a=(1 \"2\";q=1.5 :AQ==:);p, b=%\"%c3%a9\", c=@12, d=?0, e=tok, sha-256=:AQIDBA==:;x=\"\\\\\""
    #expect(read([whole]) == "sha-256:01020304")
    for length in 0..<whole.utf8.count {
      let reading = read([String(whole.prefix(length))])
      if length < whole.utf8.count - 7 { #expect(reading == nil) }
    }
  }

  @Test func `five thousand mutated fields are handled`() {
    let whole = Array("a=(1 \"2\";q=1.5 :AQ==:);p, b=%\"%c3%a9\", c=@12, d=?0, e=tok, sha-256=:AQIDBA==:;x=\"\\\"".utf8)
    let alphabet = Array("a1:=;,\"()?@%-.* \\\t\0\u{7F}é".utf8)
    var generator = RandomMutations(seed: 5)
    for _ in 0..<5_000 {
      var bytes = whole
      for _ in 0...generator.next(4) { bytes[generator.next(bytes.count)] = alphabet[generator.next(alphabet.count)] }
      let reading = read([String(decoding: bytes, as: UTF8.self)])
      if let reading { #expect(reading.hasPrefix("sha-256:") && reading.count == 16) }
    }
  }

  /// Random numbers that are the same in each run.
  private struct RandomMutations {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
  }

  @Test func `large field is parsed in bounded time`() {
    let members = (0..<20_000).map { "k\($0)=((" }.joined(separator: ",")
    #expect(read([members]) == nil)
    let long = "x=(" + String(repeating: "1 ", count: 300_000) + "), sha-256=:AQIDBA==:"
    #expect(read([long]) == "sha-256:01020304")
  }

  @Test func `Repr-Digest and Content-Digest are separate`() {
    let fields: HTTPFields = ["repr-digest": "sha-256=:AQIDBA==:", "Content-Digest": "sha-256=:AAAAAA==:"]
    let digests = DigestFields(fields, known: Self.known)
    #expect(digests.representation?.hex == "01020304")
    #expect(digests.content?.hex == "00000000")
    let none = DigestFields(["Content-MD5": "AQIDBA==", "Digest": "sha-256=AQIDBA=="], known: Self.known)
    #expect(none.representation == nil && none.content == nil)
  }

  @Test(arguments: [
    ("sha-256=:*:", "a byte sequence is not base64"),
    ("sha-256=:AQIDBA==:,", "the value of the field ends in a comma"),
    ("a=(", "a list has no closing “)”"),
    ("a=(1", "a list has no closing “)”"),
    ("a=(1;q", "a list has no closing “)”"),
    ("a=(1\"2\")", "neither a space nor “)” follows an item of a list"),
    ("a=(1,2)", "neither a space nor “)” follows an item of a list"),
    ("a=", "no value follows “=”"),
  ])
  func `reason describes the fault`(line: String, reason: String) {
    #expect(throws: StructuredField.ParseError(reason)) { try StructuredField.dictionary([line]) }
  }
}
