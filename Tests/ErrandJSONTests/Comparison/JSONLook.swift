/// The closure as it stands in `userInfo`.
struct JSONLook: Sendable {
  let look: JSONView.Look
}
