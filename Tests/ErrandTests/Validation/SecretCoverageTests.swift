import Errand
import Foundation
import Testing

/// Whether there is a scene for each way to fail.
struct SecretCoverageTests {
  /// The codes without a scene, and why.
  private static let elsewhere: [APIError.Code: String] = [
    .decoding: "SecretTests, decoding failures show no secret",
    .queueFull: "SecretTests, a full queue and a cancel show no secret",
    .admission: "an interceptor's own; the library makes none",
    .unsupported: "tells of the transport and of types alone; the transport's kind of that name has a scene",
    .loggedOut: "a fixed sentence, with the account's name",
    .repeated: "a fixed sentence, with the name of the request's type",
    .busy: "tells of the target file alone",
    .diskFull: "tells of the target file alone",
    .file: "SecretSocketTests, downloads show no secret",
    .fileExists: "SecretSocketTests, downloads show no secret",
    .checksumMismatch: "SecretSocketTests, downloads show no secret",
    .resumeMismatch: "tells of the file and of its versions",
    .step: "quotes what the app's own step throws, which is not masked",
    .tooFew: "two numbers",
  ]

  /// The raw values of what is declared, as they stand in the library's source.
  private func declared(in file: String) throws -> Set<String> {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
    let source = try String(contentsOf: root.appending(path: "Sources/ErrandCore/\(file)"), encoding: .utf8)
    return Set(
      source.split(separator: "\n").filter { $0.contains("public static let ") }.compactMap { line in
        line.split(separator: "(rawValue: \"").dropFirst().first?.split(separator: "\"").first.map(String.init)
      })
  }

  @Test func `every code has a scene or a reason`() throws {
    let codes = try declared(in: "Failure/APIError+Codes.swift")
    let played = Set(SecretScene.all.map(\.code.rawValue))
    let excused = Set(Self.elsewhere.keys.map(\.rawValue))
    #expect(codes.count > 30 && codes.subtracting(played).subtracting(excused).isEmpty)
    #expect(excused.isSubset(of: codes))
  }

  @Test(arguments: ["Transport/TransportFailure.swift", "Transport/TransportFailure+Trust.swift"])
  func `every kind has a scene`(file: String) throws {
    let kinds = try declared(in: file)
    #expect(kinds.count > 9 && kinds.subtracting(SecretScene.all.map(\.code.rawValue)).isEmpty)
  }
}
