/// One element of `/10k.json`: seven fields.
package struct Person: Codable, Sendable {
  package let id: Int
  package let name: String
  package let email: String
  package let age: Int
  package let score: Double
  package let active: Bool
  package let city: String

  /// Creates a person from its fields.
  package init(id: Int, name: String, email: String, age: Int, score: Double, active: Bool, city: String) {
    self.id = id
    self.name = name
    self.email = email
    self.age = age
    self.score = score
    self.active = active
    self.city = city
  }
}
