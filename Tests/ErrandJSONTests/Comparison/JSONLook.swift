/// The closure as a value in `userInfo`.
struct JSONLook: Sendable {
  let look: JSONView.Look
}
