import Errand
import Foundation
import Testing

/// Whether there is a scene for each way to fail.
struct SecretCoverageTests {
  /// The codes without a scene, and where they are played.
  private static let elsewhere: [APIError.Code: String] = [
    .decoding: "SecretTests, decoding failures show no secret",
    .queueFull: "SecretTests, a full queue and a cancel show no secret",
    .loggedOut: "SecretSituationTests, a logout shows no secret",
    .repeated: "SecretSituationTests, a repeat shows no secret",
    .busy: "SecretSituationTests, a busy target shows no secret",
    .diskFull: "SecretSituationTests, a full disk shows no secret",
    .file: "SecretSocketTests, downloads show no secret",
    .fileExists: "SecretSocketTests, downloads show no secret",
    .checksumMismatch: "SecretSocketTests, downloads show no secret",
    .resumeMismatch: "SecretSituationTests, a wrong part shows no secret",
    .interrupted: "SecretSituationTests, a lost background download shows no secret",
    .step: "SecretSituationTests, a step's own error shows no secret; SecretQuoteTests",
    .tooFew: "SecretSituationTests, too small a batch shows no secret",
  ]

  /// The raw values of what is declared, as they stand in the library's source.
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
