import Errand
import ErrandHTTP
import Foundation
import Testing

/// Whether each error code and each failure kind has a scene.
struct SecretCoverageTests {
  /// The codes without a scene, and the tests that cover them.
  private static let elsewhere: [APIError.Code: String] = [
    .decoding: "SecretTests, decoding failures show no secret",
    .queueFull: "SecretTests, full queue and cancel show no secret",
    .draining: "SecretSituationTests, call of a drained client shows no secret",
    .loggedOut: "SecretSituationTests, logout shows no secret",
    .repeated: "SecretSituationTests, repeated call shows no secret",
    .pageLoop: "SecretSituationTests, list without end shows no secret",
    .busy: "SecretSituationTests, busy target shows no secret",
    .diskFull: "SecretSituationTests, full disk shows no secret",
    .file: "SecretSocketTests, downloads show no secret",
    .fileExists: "SecretSocketTests, downloads show no secret",
    .checksumMismatch: "SecretSocketTests, downloads show no secret",
    .resumeMismatch: "SecretSituationTests, wrong range shows no secret",
    .interrupted: "SecretSituationTests, lost background download shows no secret",
    .step: "SecretSituationTests, error of a step shows no secret; SecretQuoteTests",
    .tooFew: "SecretSituationTests, too small batch shows no secret",
  ]

  /// The raw values of the declarations in a source file of the library.
  private func declared(in file: String) throws -> Set<String> {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
    let source = try String(contentsOf: root.appending(path: "Sources/\(file)"), encoding: .utf8)
    return Set(
      source.split(separator: "\n").filter { $0.contains("public static let ") }.compactMap { line in
        line.split(separator: "(rawValue: \"").dropFirst().first?.split(separator: "\"").first.map(String.init)
      })
  }

  @Test func `every code has a scene or a test`() throws {
    let codes = try declared(in: "ErrandCore/Failure/APIError+Codes.swift")
    let played = Set(SecretScene.all.map(\.code.rawValue))
    let excused = Set(Self.elsewhere.keys.map(\.rawValue))
    #expect(codes.count > 30 && codes.subtracting(played).subtracting(excused).isEmpty)
    #expect(excused.isSubset(of: codes))
  }

  @Test func `every kind has a scene`() throws {
    let kinds = try declared(in: "ErrandHTTP/Transport/TransportFailure.swift")
    #expect(kinds.count > 18 && kinds.subtracting(SecretScene.all.map(\.code.rawValue)).isEmpty)
  }
}
