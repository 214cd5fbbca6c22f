package import ErrandCore

/// What an answer with the whole says of it.
package struct AnswerFacts: Sendable, Hashable {
  /// The version; nil where it cannot be resumed.
  package let validator: Validator?
  /// The length; nil where it is not said, or where it is that of the coded bytes.
  package let total: Int64?
  /// The content coding; nil for none.
  package let coding: String?

  package init(validator: Validator?, total: Int64?, coding: String?) {
    self.validator = validator
    self.total = total
    self.coding = coding
  }

  /// Reads a head.
  /// - Parameter now: The present in milliseconds since 1970.
  package init(of head: ResponseHead, now: Int64) {
    let coding = Self.coding(of: head.fields)
    // A proxy that says 203 has changed the body, and the validator may be that of the original.
    let isOriginal = head.status == 200 && coding == nil
    self.init(
      validator: isOriginal ? Validator(of: head.fields, now: now) : nil,
      total: coding == nil ? Self.length(of: head.fields) : nil, coding: coding)
  }

  /// The content codings as they stand, nil where there is none that changes bytes.
  static func coding(of fields: HTTPFields) -> String? {
    let codings = fields.values(of: .contentEncoding)
      .flatMap { $0.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } } }
      .filter { !$0.isEmpty && $0.lowercased() != "identity" }
    return codings.isEmpty ? nil : codings.joined(separator: ", ")
  }

  private static func length(of fields: HTTPFields) -> Int64? {
    let values = Set(fields.values(of: .contentLength))
    guard values.count == 1, !fields.contains("Transfer-Encoding") else { return nil }
    return values.first.flatMap { DecimalNumber.read($0.utf8) }
  }
}
