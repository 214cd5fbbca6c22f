@testable import Errand
import Foundation
import Testing

struct SettingsFileTests {
  private func values(_ text: String) throws -> [String: String] {
    try SettingsFile.parse(Data(text.utf8), name: "app.env").mapValues(\.value)
  }

  private func faults(_ data: Data) -> [String] {
    do {
      _ = try SettingsFile.parse(data, name: "app.env")
      return []
    } catch {
      return error.faults
    }
  }

  @Test(
    arguments: [
      ("", [:]), ("\n\n  \n", [:]), ("# a comment\n", [:]), ("A=1", ["A": "1"]),
      ("A=1\r\nB=2\r\n", ["A": "1", "B": "2"]),
      ("A=", ["A": ""]), ("A_1=x=y", ["A_1": "x=y"]), ("A=\" # \"", ["A": " # "]), ("A=\"\"", ["A": ""]),
      ("A=$HOME ${X} `id` \\n", ["A": "$HOME ${X} `id` \\n"]), ("A=b#c", ["A": "b#c"]), ("A='b'", ["A": "'b'"]),
      ("A=ü\n", ["A": "ü"]),
    ] as [(String, [String: String])])
  func `lines are read as they are`(_ row: (text: String, values: [String: String])) throws {
    #expect(try values(row.text) == row.values)
  }

  @Test(arguments: [
    ("A", "not NAME=value"), ("=1", "not NAME=value"), ("A =1", "not NAME=value"), (" A=1", "not NAME=value"),
    ("export A=1", "not NAME=value"), ("a=1", "not NAME=value"), ("1A=1", "not NAME=value"),
    ("\u{FEFF}A=1", "not NAME=value"), ("A= 1", "double quotes"), ("A=1 ", "double quotes"),
    ("A=1 # one", "double quotes"), ("A=\"1", "double quote"), ("A=\"", "double quote"), ("A=\"1\"2\"", "double quote"),
    ("A=\"1\" ", "double quote"), ("A=1\t2", "control character"), ("A=1\u{7F}", "control character"),
  ])
  func `other lines are rejected with the cure`(_ row: (line: String, part: String)) {
    let faults = faults(Data("# first\n\(row.line)\n".utf8))
    #expect(faults.count == 1)
    #expect(faults.first?.hasPrefix("app.env:2: ") == true)
    #expect(faults.first?.contains(row.part) == true, "\(faults)")
  }

  @Test func `all faults are named`() {
    #expect(faults(Data("A\nB=2\nB=3\n".utf8)).map { $0.prefix(10) } == ["app.env:1:", "app.env:3:"])
    #expect(faults(Data("A=1\nA=2".utf8)) == ["app.env:2: A is already set in app.env:1; remove one of the lines."])
  }

  @Test func `values are not shown`() {
    for line in ["SECRET VALUE", "A=SECRET ", "A=\"SECRET", "A=SEC\tRET"] {
      #expect(!faults(Data(line.utf8)).joined().contains("SEC"))
    }
  }

  @Test func `bytes that are no UTF-8 and long files are rejected`() {
    #expect(faults(Data([0x41, 0x3D, 0xFF])) == ["app.env is not in UTF-8; convert it to UTF-8."])
    #expect(faults(Data(repeating: 0x0A, count: SettingsFile.limit)).isEmpty)
    #expect(faults(Data(repeating: 0x0A, count: SettingsFile.limit + 1)).first?.contains("65536") == true)
  }

  @Test func `random bytes never trap`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<3_000 {
      let alphabet = Array("A=\"# \r\n\t$é".utf8) + [0xFF]
      let bytes = (0..<Int.random(in: 0..<24, using: &random)).map { _ in
        alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
      }
      _ = faults(Data(bytes))
    }
  }

  @Test func `missing file is named`() {
    let error = #expect(throws: SettingsError.self) { try SettingsFile.bytes(of: "/nowhere/app.env") }
    #expect(error?.description.contains("/nowhere/app.env") == true)
  }
}
