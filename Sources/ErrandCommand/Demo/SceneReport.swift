/// What a scene has to show for itself.
struct SceneReport: Sendable {
  /// Something that was to be so, and whether it is.
  struct Claim: Sendable {
    let sentence: String
    let holds: Bool
  }

  let title: String
  let declared: String
  /// What went over the wire, one block for each request.
  var wire: [[String]] = []
  /// What the program got.
  var cameBack: [String] = []
  /// What was checked.
  var claims: [Claim] = []

  /// Whether the scene went as declared: something was checked, and all of it holds.
  var wentAsDeclared: Bool { !claims.isEmpty && claims.allSatisfy(\.holds) }
}
