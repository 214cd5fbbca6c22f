/// The object of `/200b.json`.
struct Account: Codable, Sendable {
  let id: Int
  let name: String
  let email: String
  let age: Int
  let score: Double
  let active: Bool
  let city: String
  let note: String
}
