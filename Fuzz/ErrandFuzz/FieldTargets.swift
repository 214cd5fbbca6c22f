@testable import ErrandCore
@testable import ErrandHTTP
import ErrandTransfer
import Foundation

/// Values of fields that ErrandCore and ErrandTransfer read.
enum FieldTargets {
  static func contentRange(_ input: FuzzInput) {
    guard let range = ContentRange(input.text) else { return }
    switch range {
    case .part(let bytes, let total):
      check(bytes.lowerBound >= 0 && !bytes.isEmpty, "a part is not empty")
      check(total.map { bytes.upperBound <= $0 } ?? true, "a part lies in the whole")
      let text = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(total.map(String.init) ?? "*")"
      check(ContentRange(text) == range, "what was read can be written and read again")
    case .unsatisfied(let total): check(ContentRange("bytes */\(total)") == range, "a total is read again")
    }
  }

  /// The first line is `Retry-After`, the second one `Date`, the others more of the first.
  static func retryAfter(_ input: FuzzInput) {
    let lines = input.textLines
    var fields = HTTPFields()
    for (index, line) in lines.enumerated() {
      fields.append(HTTPField(index == 1 ? .date : .retryAfter, line))
    }
    for now in [0, 1_700_000_000_000, Int64.max, Int64.min] {
      guard let delay = RetryAfter.delay(in: fields, now: now) else { continue }
      check(delay >= .zero && delay <= .seconds(1 << 31), "a delay lies ahead, and not for ever")
    }
  }

  /// Each line is the value of a `Link` field. What an answer's link leads to is a URL.
  static func link(_ input: FuzzInput) {
    let field = LinkField(input.textLines)
    for link in field.links {
      check(!link.target.utf8.contains(0x3E), "a target ends at its bracket")
      check(link.relations.allSatisfy { !$0.isEmpty && !$0.contains(" ") }, "a relation is a word")
      for relation in link.relations { check(field.target(of: relation) != nil, "a link is found by its relation") }
    }
    guard let url = try? HTTPURL("https://h.example/a/b?c=d") else { return }
    let fields = HTTPFields(input.textLines.map { HTTPField("Link", $0) })
    let answer = HTTPResponse(head: ResponseHead(status: 200, fields: fields), url: url)
    check(answer.link("next").map { (try? HTTPURL($0)) != nil } ?? true, "a link is a URL")
  }

  static func date(_ input: FuzzInput) {
    for now in [0, 1_700_000_000_000, Int64.max, Int64.min] {
      guard let moment = HTTPDate.milliseconds(of: input.text, now: now) else { continue }
      let written = HTTPDate.text(milliseconds: moment)
      check(
        HTTPDate.milliseconds(of: written, now: now) == min(moment, 253_402_300_799_000),
        "a date is written and read again")
    }
  }

  static func digestFields(_ input: FuzzInput) {
    let known = [
      DigestAlgorithm(name: "sha-256", length: 32) { throw CancellationError() },
      DigestAlgorithm(name: "sha-512", length: 64) { throw CancellationError() },
    ]
    let fields = HTTPFields(input.textLines.map { HTTPField("Repr-Digest", $0) })
    guard let checksum = DigestFields(fields, known: known).representation else { return }
    let lengths = ["sha-256": 64, "sha-512": 128]
    check(lengths[checksum.algorithm.name] == checksum.hex.utf8.count, "a digest has the length of its algorithm")
  }

  /// Each line is a line of one field.
  static func structuredField(_ input: FuzzInput) {
    let lines = input.textLines
    if let members = try? StructuredField.list(lines) {
      for case .item(let item) in members { checkItem(item) }
      let again = try? StructuredField.list([lines.joined(separator: ", ")])
      check(again == members, "the lines of a field are one list")
    }
    if let members = try? StructuredField.dictionary(lines) {
      for (key, member) in members {
        check(!key.isEmpty && key == key.lowercased(), "a key is in lower case")
        if let item = member.item { checkItem(item) }
      }
    }
  }

  private static func checkItem(_ item: StructuredField.Item) {
    let keys = item.parameters.all.map(\.key)
    check(Set(keys).count == keys.count, "a key occurs once")
    switch item.value {
    case .integer(let number), .decimal(let number), .date(let number):
      check(abs(number) < 1_000_000_000_000_000, "a number has at most 15 digits")
    case .string(let text): check(text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "a string is printable ASCII")
    case .token(let text): check(!text.isEmpty, "a token is not empty")
    case .bytes, .boolean, .displayString: break
    }
  }

  /// Each line is the value of a field `WWW-Authenticate`.
  static func challenges(_ input: FuzzInput) {
    for challenge in AuthenticationChallenge.all(in: input.textLines) {
      check(ASCII.isToken(challenge.scheme), "a scheme is a token")
      check(challenge.scheme == challenge.scheme.lowercased(), "a scheme is in lower case")
      check(
        DigestChallenge(challenge)?.realm == challenge["realm"] || DigestChallenge(challenge) == nil, "a realm is kept")
    }
  }

  static func mediaType(_ input: FuzzInput) {
    guard let type = MediaType(input.text) else { return }
    check(type.essence.utf8.allSatisfy { $0 == 0x2F || ASCII.isToken($0) }, "an essence is two tokens")
    check(type.matches(type.essence) && type.matches("*/*"), "a type fits itself")
    check(MediaType(type.essence)?.essence == type.essence, "an essence is read again")
    for parameter in type.parameters { check(type[parameter.name] != nil, "each parameter is found") }
  }

  /// The first line is the rest of a URL, the others are `Set-Cookie`.
  static func cookies(_ input: FuzzInput) {
    let lines = input.textLines
    guard let first = lines.first, let url = try? HTTPURL("https://a.b.example" + first) else { return }
    for now in [0, 1_700_000_000_000, Int64.max, Int64.min] {
      var shelf = StoredCookies()
      for line in lines.dropFirst() {
        guard let cookie = try? SetCookie(line).cookie(from: url, now: now, suffixes: nil) else { continue }
        check(cookie.domain == url.host && cookie.isHostOnly, "without a list no hosts share a cookie")
        shelf.put(cookie, at: now)
      }
      let field = shelf.cookies(for: url, at: now).map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
      check(field.utf8.count <= 16_384, "a request carries no more than it may")
      check(field.utf8.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }, "no control character but a tab is sent")
    }
  }
}
