/// One element of `/10k.json`.
struct Person: Codable, Sendable {
  let id: Int
  let name: String
  let email: String
  let age: Int
  let score: Double
  let active: Bool
  let city: String
}
