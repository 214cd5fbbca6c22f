@testable import ErrandCore
@testable import ErrandHTTP
@testable import ErrandJSON
import Foundation

/// Bodies as texts and as JSON.
enum BodyTargets {
  private static let charsets: [String?] = [
    nil, "utf-8", "us-ascii", "utf-16", "utf-16le", "utf-32", "utf-32le", "iso-8859-1", "iso-8859-2", "windows-1250",
    "windows-1251", "windows-1252", "windows-1253", "windows-1254", "gb18030", "big5", "shift_jis", "euc-jp",
    "iso-2022-jp", "euc-kr", "no-such-charset",
  ]

  /// The first byte chooses the charset.
  static func text(_ input: FuzzInput) {
    guard let (choice, rest) = input.choice else { return }
    let charset = charsets[Int(choice) % charsets.count]
    guard let text = try? TextDecoding.text(rest.data, charset: charset) else { return }
    check(text.utf8.count <= rest.bytes.count * 6, "a text does not grow without end")
  }

  static func json(_ input: FuzzInput) {
    guard let value = try? JSONValue(parsing: input.data) else { return }
    guard let written = try? value.serialized(), let pretty = try? value.serialized(pretty: true) else {
      fatalError("property: what was read can be written")
    }
    guard let again = try? JSONValue(parsing: written), let other = try? JSONValue(parsing: pretty) else {
      fatalError("property: what was written can be read")
    }
    check(again == value && other == value, "a value stays the same")
    let copy = value.detached()
    check(copy == value && copy.hashValue == value.hashValue, "a value in its text is the value that was made of it")
    if isPlain(input), let foreign = try? JSONDecoder().decode(JSONValue.self, from: input.data) {
      check(foreign == value, "Foundation reads the same")
    }
  }

  /// Whether no key stands twice, as which the same letters in another composition count, too, and no fraction lies where
  /// Foundation finds a whole number that is not the nearest double.
  private static func isPlain(_ input: FuzzInput) -> Bool {
    guard input.bytes.allSatisfy({ $0 < 0x80 }), let document = try? JSONDocument(input.data) else { return false }
    var index = 0
    while index < document.end(of: 0) {
      let word = document.word(index)
      if word.kind == .objectWithKeyTable { return false }
      if word.kind == .decimal, let double = document.double(word), double.magnitude >= 0x1p53 { return false }
      index += word.isContainer ? 2 : 1
    }
    return true
  }

  static func path(_ input: FuzzInput) {
    guard let path = try? JSONPath(parsing: input.text) else { return }
    guard let again = try? JSONPath(parsing: path.description) else { fatalError("property: a path is read again") }
    check(again == path, "a path stays the same")
  }

  /// Whether bytes are JSON, even with a number that no value can hold: a shape passes one that it says nothing of.
  private static func isJSON(_ data: Data) -> Bool {
    do throws(JSONError) {
      _ = try JSONValue(parsing: data)
      return true
    } catch {
      if case .numberOutOfRange = error { return true }
      return false
    }
  }

  private static let shape: JSONShape = [
    "a": .string, "b": .optional([.integer]), "c": .optional(.nullable(["d": .number, "e": .optional(.bool)])),
    "f": .optional(.oneOf("x", 1)), "g": .optional(.array(of: .anyOf(.string, .null, ["h": .any]))),
  ]

  private struct Inner: Decodable { let d: Double, e: Bool? }
  private struct Outer: Decodable { let a: String, b: [Int]?, c: Inner?, g: [[String: Int]]? }

  static func shape(_ input: FuzzInput) {
    let data = input.data
    let fits: Bool
    do {
      try shape.check(data: data)
      fits = true
    } catch {
      fits = false
      check(!"\(error)".isEmpty, "a difference has words")
    }
    check(!fits || isJSON(data), "what has a shape is JSON")
    do { _ = try JSONDecoding.standard.decode(Outer.self, from: data) } catch { _ = "\(error)" }
    do { _ = try JSONDecoding.standard.decode(Int?.self, from: data, at: "c.d") } catch { _ = "\(error)" }
  }
}
