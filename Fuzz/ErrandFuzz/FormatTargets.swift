@testable import ErrandCore
@testable import ErrandHTTP
@testable import ErrandXML
import Foundation

/// Bodies as XML, as property lists and as forms.
enum FormatTargets {
  private struct Item: Decodable {
    let id: String?, n: Int?, d: Double?, b: Bool?, when: Date?, bytes: Data?, own: String?, inner: [Item]
    enum CodingKeys: String, CodingKey {
      case id = "@id", n, d, b, when, bytes, own = "#text", inner = "a"
    }
  }

  static func xml(_ input: FuzzInput) {
    let value: XMLValue
    do {
      value = try XMLValue(parsing: input.data)
    } catch {
      check(!error.reason.isEmpty, "a failure has words")
      check(error.line.map { $0 > 0 } ?? true, "a line is counted from 1")
      return
    }
    check(depth(of: value) <= 100, "no document is deeper than the limit")
    do { _ = try XMLFormat().decode(Item.self, from: value) } catch { _ = "\(error)" }
    do { _ = try XMLFormat().decode([String: [Decimal]].self, from: value) } catch { _ = "\(error)" }
    do { _ = try XMLFormat().decode([URL?].self, from: value) } catch { _ = "\(error)" }
  }

  private static func depth(of value: XMLValue) -> Int {
    1 + (value.children.map { depth(of: $0) }.max() ?? 0)
  }

  /// Any property list, however deep.
  private indirect enum Tree: Decodable {
    case leaf
    case list([Tree])
    case table([String: Tree])

    init(from decoder: any Decoder) throws {
      if var list = try? decoder.unkeyedContainer() {
        var members: [Tree] = []
        while !list.isAtEnd { members.append(try list.decode(Tree.self)) }
        self = .list(members)
      } else if let table = try? [String: Tree](from: decoder) {
        self = .table(table)
      } else {
        self = .leaf
      }
    }
  }

  static func propertyList(_ input: FuzzInput) {
    guard let url = try? HTTPURL("http://h/") else { return }
    let response = HTTPResponse(head: ResponseHead(status: 200), url: url)
    do {
      _ = try PropertyListFormat().decode(Tree.self, from: input.data, of: response)
    } catch {
      check(error is FormatFailure, "every failure is of one type")
    }
  }

  static func form(_ input: FuzzInput) {
    guard let form = try? FormValues(parsing: input.data) else { return }
    check(form.entries.count <= input.bytes.count, "every value has a byte")
    for entry in form.entries { check(form.all(entry.name).contains(entry.value), "every value is found by its name") }
  }

  static func netrc(_ input: FuzzInput) {
    do throws(APIError) {
      let logins = try Netrc(input.text)
      for host in ["a.example", "", input.text] { _ = logins.credential(for: host) }
    } catch {
      check(error.code == .file && error.message.hasPrefix("Line "), "a fault names its line")
    }
  }
}
