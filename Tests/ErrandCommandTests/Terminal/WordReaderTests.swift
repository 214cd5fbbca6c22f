import Testing

@testable import ErrandCommand

struct WordReaderTests {
  private func items(_ words: [String]) throws -> [WordReader.Item] {
    var reader = WordReader(words, flags: ["-q", "--quiet"], valued: ["-o", "--output"])
    var items: [WordReader.Item] = []
    while let item = try reader.next() { items.append(item) }
    return items
  }

  @Test(
    arguments: [
      ([], []), (["a", "b"], [.argument("a"), .argument("b")]), (["-q"], [.flag("-q")]),
      (["--quiet"], [.flag("--quiet")]),
      (["-o", "x"], [.option("-o", value: "x")]), (["-ox"], [.option("-o", value: "x")]),
      (["--output=x=y"], [.option("--output", value: "x=y")]), (["--output="], [.option("--output", value: "")]),
      (["-o", "-q"], [.option("-o", value: "-q")]), (["-"], [.argument("-")]),
      (["--output=\u{301}x"], [.option("--output", value: "\u{301}x")]),
      (["-o\u{301}"], [.option("-o", value: "\u{301}")]),
      (["--", "-q", "--"], [.argument("-q"), .argument("--")]), (["--"], []),
    ] as [([String], [WordReader.Item])])
  func `options and arguments are distinguished`(words: [String], expected: [WordReader.Item]) throws {
    #expect(try items(words) == expected)
  }

  @Test(
    arguments: [
      (["-o"], "-o needs a value"), (["--quiet=1"], "--quiet takes no value"), (["-qx"], "-q takes no value"),
      (["--frob"], "unknown option “--frob”; put arguments that start with - after --"),
    ])
  func `wrong options are named`(words: [String], sentence: String) {
    let error = #expect(throws: UsageError.self) { try items(words) }
    #expect(error?.description == sentence)
  }
}
