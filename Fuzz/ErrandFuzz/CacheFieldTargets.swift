@testable import ErrandCache
import ErrandCore

/// Values of fields that the cache reads.
enum CacheFieldTargets {
  static func cacheControl(_ input: FuzzInput) {
    let lines = input.textLines
    let control = CacheControl(lines)
    let numbers = [
      control.maxAge, control.minFresh, control.maxStale, control.staleWhileRevalidate, control.staleIfError,
    ]
    check(numbers.allSatisfy { $0.map { $0 >= 0 } ?? true }, "no number is negative")
    check(!control.isMalformed || lines.contains { $0.utf8.contains(0x22) }, "only a quote is left open")
    if !control.isMalformed {
      check(CacheControl([lines.joined(separator: ",")]) == control, "lines are the same as one list")
    }
    let fields = HTTPFields(lines.map { HTTPField(.cacheControl, $0) })
    check(CacheControl(request: fields) == CacheControl(response: fields), "requests are read like responses")
  }

  static func fieldList(_ input: FuzzInput) {
    let members = FieldList.members(input.text)
    check(members.allSatisfy { !$0.isEmpty }, "no member is empty")
    check(members.reduce(0) { $0 + $1.utf8.count } <= input.text.utf8.count, "no byte is made up")
    let again = FieldList.members(members.joined(separator: ","))
    check(again == members, "a list is the same when it is written again")
  }

  static func entityTag(_ input: FuzzInput) {
    guard let tag = EntityTag(input.text) else { return }
    check((tag.isWeak ? "W/" : "") + tag.opaque == input.text, "a tag is kept as it came")
    check(tag.isWeaklyEqual(tag), "a tag equals itself")
  }

  /// The first line is `Vary`, the others are lines of the request, `name:value`.
  static func vary(_ input: FuzzInput) {
    let lines = input.textLines
    let response = HTTPFields([HTTPField("Vary", lines[0])])
    let request = HTTPFields(
      lines.dropFirst().map { line in
        let halves = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return HTTPField(HTTPFieldName(halves[0]), halves.count > 1 ? halves[1] : "", isSecret: line.hasPrefix("S"))
      })
    let salt: [UInt8] = [1, 2, 3]
    for isDeclared in [true, false] {
      let varying = Varying(
        response: response, request: request, changedFields: ["x-sign"], isDeclared: isDeclared, salt: salt)
      guard case .fields(let fields) = varying else { continue }
      check(Varying.matches(fields, request, salt: salt), "a request gets the response that was made for it")
      check(fields.allSatisfy { $0.name != "*" }, "an asterisk is no field")
      _ = Varying.variant(of: fields, method: .get, salt: salt)
    }
  }
}
