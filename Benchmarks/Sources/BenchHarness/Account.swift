/// The object of `/200b.json`: eight fields.
package struct Account: Codable, Sendable {
  package let id: Int
  package let name: String
  package let email: String
  package let age: Int
  package let score: Double
  package let active: Bool
  package let city: String
  package let note: String
}
